/** Reads the page that a query string selects. Different kinds of clients use different parameters for this. */
import { shortJson } from "../collection/messages.ts";
import { type ListParameter, pagingParameters } from "./parameters.ts";
import { inQuery, type Violations } from "./violations.ts";

/** A page before its limit and offset are checked. `undefined`: the client did not send it. */
export type PageDraft =
  | { kind: "cursor"; limit: number | undefined; cursor: string | undefined }
  | { kind: "offset"; limit: number | undefined; offset: number; name: string }
  | { kind: "page"; limit: number | undefined; page: number };

/** The combinations of parameters that a request can use. */
const combinations: readonly (readonly ListParameter[])[] = [
  ["limit", "cursor"],
  ["limit", "offset"],
  ["_start", "_end"],
  ["_start", "_limit"],
  ["_page", "_limit"],
  ["_page", "_per_page"],
  ["range"],
];

/** Reads the page. Adds violations. */
export function readPaging(known: ReadonlyMap<ListParameter, string>, violations: Violations): PageDraft {
  const names = pagingParameters.filter((name) => known.has(name));
  requireCombination(names, violations);
  const number = (name: ListParameter, least: number) =>
    readNumber(name, known.get(name), { least, violations });
  const range = known.get("range");
  if (range !== undefined) return readRange(range, violations);
  if (known.has("_end")) return readStartEnd(number("_start", 0) ?? 0, number("_end", 0) ?? 0, violations);
  if (known.has("_start"))
    return { kind: "offset", limit: number("_limit", 1), offset: number("_start", 0) ?? 0, name: "_start" };
  if (known.has("_page") || known.has("_limit") || known.has("_per_page")) {
    const limit = number("_limit", 1) ?? number("_per_page", 1);
    return { kind: "page", limit, page: number("_page", 1) ?? 1 };
  }
  const limit = number("limit", 1);
  const offset = number("offset", 0);
  if (offset !== undefined) return { kind: "offset", limit, offset, name: "offset" };
  return { kind: "cursor", limit, cursor: known.get("cursor") };
}

function requireCombination(names: readonly ListParameter[], violations: Violations): void {
  if (
    names.length === 0 ||
    combinations.some((combination) => names.every((name) => combination.includes(name)))
  )
    return;
  for (const [n, name] of names.entries()) {
    const other = names.slice(0, n).find((each) => !canBeCombined(each, name));
    if (other === undefined) continue;
    const detail = `cannot be used together with "${other}". ${combinationsAdvice}`;
    violations.add(inQuery(name), "paging", detail);
    return;
  }
}

function canBeCombined(a: ListParameter, b: ListParameter): boolean {
  return combinations.some((combination) => combination.includes(a) && combination.includes(b));
}

const combinationsAdvice = `Use one of these combinations: ${combinations
  .map((combination) => combination.map((name) => `"${name}"`).join(" and "))
  .join(", or ")}`;

function readNumber(
  name: ListParameter,
  text: string | undefined,
  { least, violations }: { least: number; violations: Violations },
): number | undefined {
  if (text === undefined) return undefined;
  const number = /^[0-9]+$/.test(text) ? Number(text) : -1;
  if (number >= least) return number;
  const detail = `must be a whole number of at least ${least}, not ${shortJson(text)}`;
  violations.add(inQuery(name), least === 1 && name !== "_page" ? "limit" : "offset", detail);
  return undefined;
}

/** The resource at `_end` is not on the page. */
function readStartEnd(start: number, end: number, violations: Violations): PageDraft {
  if (end <= start) violations.add(inQuery("_end"), "limit", 'must be greater than "_start"');
  return { kind: "offset", limit: end - start, offset: start, name: "_start" };
}

/** The page contains both ends of the range. */
function readRange(text: string, violations: Violations): PageDraft {
  const [, first = "", last = ""] = /^\s*\[\s*([0-9]+)\s*,\s*([0-9]+)\s*\]\s*$/.exec(text) ?? [];
  const [from, to] = [Number(first), Number(last)];
  if (first === "" || to < from) {
    const detail = `must be the first and the last position, such as [0,24], not ${shortJson(text)}`;
    violations.add(inQuery("range"), "paging", detail);
  }
  return { kind: "offset", limit: to - from + 1, offset: from, name: "range" };
}
