/** What a client would rather have, where both are right (RFC 7240). */
import type { IncomingHttpHeaders } from "node:http";

/** What the answer to a write shall carry: nothing but its header section, or the resource as it now is. */
export type PreferredReturn = "minimal" | "representation";

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const quoted = `"(?:[\\t !#-\\[\\]-~\\x80-\\xff]|\\\\[\\t -~\\x80-\\xff])*"`;
const pair = (name: string, value: string) => `${name}(?:[ \\t]*=(?:[ \\t]*${value})?)?`;
const parameter = `[ \\t]*;(?:[ \\t]*${pair(token, `(?:${token}|${quoted})`)})?`;
const preference = `${pair(`(${token})`, `(${token}|${quoted})`)}(?:${parameter})*`;
// No two runs of blanks may stand side by side in any of these: a long field would take time by its square.
const member = new RegExp(`[ \\t]*(?:${preference}[ \\t]*)?(?:,|$)`, "y");

/**
 * The `return` preference of RFC 7240 §4.2. `undefined` where there is none, where both are asked for, and where the
 * field is not well-formed: nothing depends on a preference, so none is ever a fault.
 */
export function preferredReturn({ prefer }: IncomingHttpHeaders): PreferredReturn | undefined {
  if (prefer === undefined) return undefined;
  const values = returnsOf(String(prefer));
  if (values.includes("minimal") && values.includes("representation")) return undefined;
  const [first] = values; // only the first of several counts
  return first === "minimal" || first === "representation" ? first : undefined;
}

/** The values of each `return`, in lower case; none where the field is not well-formed. */
function returnsOf(prefer: string): string[] {
  const values: string[] = [];
  member.lastIndex = 0;
  while (member.lastIndex < prefer.length) {
    const match = member.exec(prefer);
    if (match === null) return [];
    const [, name = "", value = ""] = match;
    if (name.toLowerCase() === "return") values.push(unquote(value).toLowerCase());
  }
  return values;
}

function unquote(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, "$1") : value;
}
