/** Names attributes, nested ones too: `author.name`. */

/**
 * The way to an attribute: names of members, from the resource inwards through objects only. `["id"]` is the resource's
 * id, a number in a collection of integers and else a string.
 */
export type Path = readonly [string, ...string[]];

/** Reads a path as it is written, with dots between the names; `undefined` where a name is empty. */
export function parsePath(text: string): Path | undefined {
  const [first = "", ...rest] = text.split(".");
  return first === "" || rest.includes("") ? undefined : [first, ...rest];
}

/** Writes a path as it is read. */
export function formatPath(path: Path): string {
  return path.join(".");
}

/** Whether a path leads to the resource's id. */
export function isIdPath(path: Path): boolean {
  return path.length === 1 && path[0] === "id";
}
