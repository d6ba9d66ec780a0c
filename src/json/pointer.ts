/** Reads and writes JSON Pointers (RFC 6901). */

/** The segments of a pointer; `undefined` if the text is not a pointer. */
export function parsePointer(text: string): string[] | undefined {
  if (text === "") return [];
  if (!text.startsWith("/") || /~(?![01])/.test(text)) return undefined;
  const segments = text.slice(1).split("/");
  if (!text.includes("~")) return segments;
  // ~1 before ~0 (RFC 6901 §4). In the other order, ~01 would become a slash.
  return segments.map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Writes segments as a pointer in a URI fragment (RFC 6901 §6), such as `#/author/first%20name`. */
export function toFragment(segments: readonly (string | number)[]): string {
  return encodeFragment(formatPointer(segments));
}

/** The dotted path for a pointer in a URI fragment: `author.name` for `#/author/name`, empty for `#`. */
export function dottedPath(fragment: string): string {
  return parseFragment(fragment).join(".");
}

/** The segments of a pointer in a URI fragment. */
export function parseFragment(fragment: string): string[] {
  return parsePointer(decodeURIComponent(fragment.slice(1))) ?? [];
}

/** A pointer in a URI fragment as the subject of a sentence: `"author.name"` for `#/author/name`, `whole` for `#`. */
export function subjectAt(fragment: string, whole: string): string {
  const path = dottedPath(fragment);
  return path === "" ? whole : JSON.stringify(path);
}

/** Writes segments as a pointer, such as `/author/first name`. */
export function formatPointer(segments: readonly (string | number)[]): string {
  return segments.map((segment) => `/${escapeSegment(String(segment))}`).join("");
}

/** A pointer as a URI fragment. Percent-encodes every character that RFC 3986 §3.5 does not allow there. */
export function encodeFragment(pointer: string): string {
  return `#${encodeURI(pointer.toWellFormed()).replace(/[#[\]]/g, encodeURIComponent)}`;
}

function escapeSegment(segment: string): string {
  return segment.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The names that the paths of a patch can have for each operation that it could have. */
export const namesPerOperation = 20;

/** Counts the names in pointers or dotted names. */
export function countNames(texts: readonly string[], separator: "/" | "."): number {
  let count = 0;
  for (const text of texts) {
    count++;
    for (let at = text.indexOf(separator, 1); at !== -1; at = text.indexOf(separator, at + 1)) count++;
  }
  return count;
}
