/** Reads Content-Type and Accept (RFC 9110 §8.3, §12.5.1). */

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const parameter = `${token}=(?:${token}|"(?:[^"\\\\]|\\\\.)*")`;
// Blanks before a semicolon have one place to match, so that no value takes more than linear time.
const mediaTypeShape = new RegExp(`^(${token}/${token})((?:[ \\t]*;(?:[ \\t]*${parameter})?)*)$`);

/** Longer than any media type that somebody means. */
const maxLength = 500;

/** A media type: `type/subtype` in lower case, and its charset in lower case where it names one. */
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

/** Whether JSON can satisfy an Accept value. An absent or empty one takes anything. */
export function acceptsJson(accept: string | undefined): boolean {
  return preferredType(accept, jsonOnly) !== undefined;
}

const jsonOnly = ["application/json"] as const;

/**
 * The media type that an Accept value likes best, the first of those that it likes alike; `undefined` if it rules all of
 * them out. An absent or empty value likes every type.
 */
export function preferredType<Type extends string>(
  accept: string | undefined,
  types: readonly Type[],
): Type | undefined {
  if (accept === undefined || accept === "*/*" || accept === types[0] || accept.trim() === "")
    return types[0];
  const ranges = acceptRanges(accept);
  let best: { type: Type; quality: number } | undefined;
  for (const type of types) {
    const quality = qualityOf(type, ranges);
    if (quality > (best?.quality ?? 0)) best = { type, quality };
  }
  return best?.type;
}

/** The most specific range decides (RFC 9110 §12.5.1). JSON has many names, of which the kindest does. */
function qualityOf(type: string, ranges: readonly AcceptRange[]): number {
  if (type === "application/json") {
    return Math.max(0, ...ranges.filter(({ range }) => coversJson(range)).map(({ quality }) => quality));
  }
  const covering = [type, `${type.split("/")[0]}/*`, "*/*"];
  const found = covering.map((each) => ranges.find(({ range }) => range === each));
  return found.find((each) => each !== undefined)?.quality ?? 0;
}

/** Whether an Accept value names this media type (in lower case). A range that includes it does not count. */
export function namesType(accept: string | undefined, type: string): boolean {
  if (accept === undefined || !accept.toLowerCase().includes(type)) return false;
  return acceptRanges(accept).some(({ range, quality }) => quality > 0 && range === type);
}

/** Whether an Accept value names `application/problem+json`, which problems are then sent as. */
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

interface AcceptRange {
  range: string;
  quality: number;
}

function acceptRanges(accept: string): AcceptRange[] {
  return accept.split(",").map((item) => {
    const [range = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
    const q = parameters.find((each) => each.startsWith("q="));
    return { range, quality: q === undefined ? 1 : Number(q.slice(2)) || 0 };
  });
}
