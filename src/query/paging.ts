/** The spellings of a page: each family of parameters that clients use, and what they all come to. */
import { shortJson } from "../collection/messages.ts";
import { type Faults, inQuery } from "./faults.ts";
import { type ListParameter, pagingParameters } from "./parameters.ts";

/** A page as it was asked for; what is `undefined` was not said. */
export type PageDraft =
  | { kind: "cursor"; limit: number | undefined; cursor: string | undefined }
  | { kind: "offset"; limit: number | undefined; offset: number; name: string }
  | { kind: "page"; limit: number | undefined; page: number };

/** Parameters that can be given together. */
const families: readonly (readonly ListParameter[])[] = [
  ["limit", "cursor"],
  ["limit", "offset"],
  ["_start", "_end"],
  ["_start", "_limit"],
  ["_page", "_limit"],
  ["_page", "_per_page"],
  ["range"],
];

/** Reads the page that a query string asks for; what is wrong goes to the faults. */
export function readPaging(known: ReadonlyMap<ListParameter, string>, faults: Faults): PageDraft {
  const given = pagingParameters.filter((name) => known.has(name));
  requireOneFamily(given, faults);
  const number = (name: ListParameter, least: number) => readNumber(name, known.get(name), { least, faults });
  const range = known.get("range");
  if (range !== undefined) return readRange(range, faults);
  if (known.has("_end")) return readStartEnd(number("_start", 0) ?? 0, number("_end", 0) ?? 0, faults);
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

function requireOneFamily(given: readonly ListParameter[], faults: Faults): void {
  if (given.length === 0 || families.some((family) => given.every((name) => family.includes(name)))) return;
  for (const [n, name] of given.entries()) {
    const other = given.slice(0, n).find((each) => !goTogether(each, name));
    if (other === undefined) continue;
    const detail = `cannot be used together with "${other}". ${whatGoesTogether}`;
    faults.add(inQuery(name), "paging", detail);
    return;
  }
}

function goTogether(a: ListParameter, b: ListParameter): boolean {
  return families.some((family) => family.includes(a) && family.includes(b));
}

const whatGoesTogether = `Use one of these combinations: ${families
  .map((family) => family.map((name) => `"${name}"`).join(" and "))
  .join(", or ")}`;

function readNumber(
  name: ListParameter,
  text: string | undefined,
  { least, faults }: { least: number; faults: Faults },
): number | undefined {
  if (text === undefined) return undefined;
  const number = /^[0-9]+$/.test(text) ? Number(text) : -1;
  if (number >= least) return number;
  const detail = `must be a whole number of at least ${least}, not ${shortJson(text)}`;
  faults.add(inQuery(name), least === 1 && name !== "_page" ? "limit" : "offset", detail);
  return undefined;
}

/** `_end` is not in the page any more. */
function readStartEnd(start: number, end: number, faults: Faults): PageDraft {
  if (end <= start) faults.add(inQuery("_end"), "limit", 'must be greater than "_start"');
  return { kind: "offset", limit: end - start, offset: start, name: "_start" };
}

/** Both ends are in the page. */
function readRange(text: string, faults: Faults): PageDraft {
  const [, first = "", last = ""] = /^\s*\[\s*([0-9]+)\s*,\s*([0-9]+)\s*\]\s*$/.exec(text) ?? [];
  const [from, to] = [Number(first), Number(last)];
  if (first === "" || to < from) {
    const detail = `must be the first and the last position, such as [0,24], not ${shortJson(text)}`;
    faults.add(inQuery("range"), "paging", detail);
  }
  return { kind: "offset", limit: to - from + 1, offset: from, name: "range" };
}
