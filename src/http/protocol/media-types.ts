/** Reads the values of Content-Type and Accept (RFC 9110 §8.3, §12.5.1). */

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const parameter = `${token}=(?:${token}|"(?:[^"\\\\]|\\\\.)*")`;
// Blanks before a semicolon can match in one place only, so that matching takes linear time.
const mediaTypeShape = new RegExp(`^(${token}/${token})((?:[ \\t]*;(?:[ \\t]*${parameter})?)*)$`);

/** Longer than any real media type. */
const maxLength = 500;

/** A media type: `type/subtype`, and the charset if it has one. Both are in lower case. */
export interface MediaType {
  type: string;
  charset: string | undefined;
}

/** Reads a Content-Type value; `undefined` if it is not a media type. */
export function parseMediaType(value: string): MediaType | undefined {
  if (value.length > maxLength) return undefined;
  const match = mediaTypeShape.exec(value.trim());
  if (!match?.[1]) return undefined;
  const charset = /;[ \t]*charset=("?)([^";]*)\1[ \t]*(?:;|$)/i.exec(match[2] ?? "");
  return { type: match[1].toLowerCase(), charset: charset?.[2]?.trim().toLowerCase() };
}

/** Whether an Accept value allows JSON. An absent or empty one allows everything. */
export function acceptsJson(accept: string | undefined): boolean {
  return preferredType(accept, jsonOnly) !== undefined;
}

const jsonOnly = ["application/json"] as const;

/**
 * The media type that an Accept value prefers, and the first one if it prefers several; `undefined` if it excludes all of
 * them. An absent or empty value allows every type.
 */
export function preferredType<Type extends string>(
  accept: string | undefined,
  types: readonly Type[],
): Type | undefined {
  if (accept === undefined || accept === "*/*" || accept === types[0] || accept.trim() === "")
    return types[0];
  const ranges = weightedItems(accept);
  let best: { type: Type; quality: number } | undefined;
  for (const type of types) {
    const quality = qualityOf(type, ranges);
    if (quality > (best?.quality ?? 0)) best = { type, quality };
  }
  return best?.type;
}

/** The most specific range decides (RFC 9110 §12.5.1). JSON has many names, and the one with the highest quality decides. */
function qualityOf(type: string, ranges: readonly WeightedItem[]): number {
  if (type === "application/json") {
    return Math.max(0, ...ranges.filter(({ name }) => coversJson(name)).map(({ quality }) => quality));
  }
  const covering = [type, `${type.split("/")[0]}/*`, "*/*"];
  const found = covering.map((each) => ranges.find(({ name }) => name === each));
  return found.find((each) => each !== undefined)?.quality ?? 0;
}

/** Whether an Accept value names this media type (in lower case). A range that includes it does not count. */
export function namesType(accept: string | undefined, type: string): boolean {
  if (accept === undefined || !accept.toLowerCase().includes(type)) return false;
  return weightedItems(accept).some(({ name, quality }) => quality > 0 && name === type);
}

/** Whether an Accept value names `application/problem+json`. Only then, problems have this type. */
export function acceptsProblemJson(accept: string | undefined): boolean {
  return namesType(accept, "application/problem+json");
}

function coversJson(range: string): boolean {
  return (
    range === "*/*" ||
    range === "application/*" ||
    range === "application/json" ||
    range === "text/json" ||
    range.endsWith("+json")
  );
}

/** An item of a list such as Accept, in lower case, with its quality. */
interface WeightedItem {
  name: string;
  quality: number;
}

/** The items of a list with qualities, such as Accept. A malformed quality counts as 0. */
export function weightedItems(value: string): WeightedItem[] {
  return value.split(",").map((item) => {
    const [name = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
    const q = parameters.find((each) => each.startsWith("q="));
    return { name, quality: q === undefined ? 1 : Number(q.slice(2)) || 0 };
  });
}
