/** Reads the preferences `return` and `respond-async` of the Prefer header (RFC 7240). The service ignores all others. */
import type { IncomingHttpHeaders } from "node:http";

/** The body of the response to a write: none, or the resource. */
export type PreferredReturn = "minimal" | "representation";

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const quoted = `"(?:[\\t !#-\\[\\]-~\\x80-\\xff]|\\\\[\\t -~\\x80-\\xff])*"`;
const pair = (name: string, value: string) => `${name}(?:[ \\t]*=(?:[ \\t]*${value})?)?`;
const parameter = `[ \\t]*;(?:[ \\t]*${pair(token, `(?:${token}|${quoted})`)})?`;
const preference = `${pair(`(${token})`, `(${token}|${quoted})`)}(?:${parameter})*`;
// In these expressions, blanks never match in two adjacent places: that would take quadratic time.
const member = new RegExp(`[ \\t]*(?:${preference}[ \\t]*)?(?:,|$)`, "y");

/**
 * The `return` preference of RFC 7240 §4.2; `undefined` if there is none, if there are both, or if the header is malformed.
 * A preference is never an error, because a server can ignore it.
 */
export function preferredReturn({ prefer }: IncomingHttpHeaders): PreferredReturn | undefined {
  if (prefer === undefined) return undefined;
  const values = valuesOf(String(prefer), "return").map((value) => unquote(value).toLowerCase());
  if (values.includes("minimal") && values.includes("representation")) return undefined;
  const [first] = values; // if there are several, the first one counts
  return first === "minimal" || first === "representation" ? first : undefined;
}

/** Whether the client prefers a response before the work is done (RFC 7240 §4.1). */
export function prefersAsync({ prefer }: IncomingHttpHeaders): boolean {
  return prefer !== undefined && valuesOf(String(prefer), "respond-async").includes("");
}

/** The values of all preferences with this name, as they were sent; none if the header is malformed. */
function valuesOf(prefer: string, wanted: string): string[] {
  const values: string[] = [];
  member.lastIndex = 0;
  while (member.lastIndex < prefer.length) {
    const match = member.exec(prefer);
    if (match === null) return [];
    const [, name = "", value = ""] = match;
    if (name.toLowerCase() === wanted) values.push(value);
  }
  return values;
}

function unquote(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, "$1") : value;
}
