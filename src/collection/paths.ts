/** Paths of attributes, such as `title` and `author.name`. */

/**
 * The path of an attribute: names of members, from the resource inwards, through objects but not into arrays. `["id"]` is
 * the id of the resource. It is a number in a collection with integer ids, and a string in any other.
 */
export type Path = readonly [string, ...string[]];

/**
 * The first name of a path inside an item of an array. Conditions about an item compare a resource whose only attribute is the item.
 */
export const itemName = "item";

/** Reads a path with dots between the names; `undefined` if a name is empty. */
export function parsePath(text: string): Path | undefined {
  const [first = "", ...rest] = text.split(".");
  return first === "" || rest.includes("") ? undefined : [first, ...rest];
}

/** Writes a path with dots between the names. */
export function formatPath(path: Path): string {
  return path.join(".");
}

/** Whether a path names the id of the resource. */
export function isIdPath(path: Path): boolean {
  return path.length === 1 && path[0] === "id";
}

/** The value of an attribute; `undefined` if it does not exist. */
export function valueAt(resource: Record<string, unknown>, path: readonly string[]): unknown {
  let value: unknown = resource;
  for (const name of path) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    if (!Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** Finds two overlapping paths: the first contains the second, or equals it. `undefined` if no two paths overlap. */
export function findOverlap(paths: readonly Path[]): { outer: Path; inner: Path } | undefined {
  // In this order, a path comes directly before those inside it, because no character comes before the null character.
  const sorted = paths
    .map((path) => ({ path, text: `${path.join("\0")}\0` }))
    .sort((a, b) => (a.text < b.text ? -1 : 1));
  for (const [n, { path, text }] of sorted.entries()) {
    const next = sorted[n + 1];
    if (next?.text.startsWith(text) === true) return { outer: path, inner: next.path };
  }
  return undefined;
}
