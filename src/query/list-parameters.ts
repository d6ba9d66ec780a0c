/**
 * The parameters of a list: their names, the reading of a query string into names and values, and the page that they select.
 * Different kinds of clients use different parameters for this page.
 */

import { declaresAttribute } from "../collection/attributes.ts";
import type { Collection } from "../collection/collection.ts";
import { isBadString } from "../json/values.ts";
import {
  hasForeignForm,
  hintFor,
  type OtherParameters,
  plainName,
  type RelationsAdviser,
} from "./foreign-syntax.ts";
import { readLimit } from "./page-limit.ts";
import { inQuery, Violations } from "./violations.ts";

/** Parameters of other servers that the service accepts. Each means the same as a parameter of the service. */
const aliases = {
  paging: ["range", "_start", "_end", "_page", "_limit", "_per_page"],
  sort: ["_sort", "_order"],
  embed: ["_embed", "_expand"],
} as const;

/** The parameters that select a page. */
export const pagingParameters = ["limit", "cursor", "offset", ...aliases.paging] as const;

/** Every parameter of a list, except filters by attribute. */
export const listParameters = [
  ...pagingParameters,
  "sort",
  ...aliases.sort,
  ...(["filter", "q", "at", "timezone", "fields", "embed"] as const),
  ...aliases.embed,
  ...(["envelope", "count", "bom", "delimiter"] as const),
  ...(["aggregate", "group", "distinct"] as const),
] as const;

/** The parameters that have the same meaning as another one, for clients of other servers. */
export const aliasParameters: ReadonlySet<ListParameter> = new Set(Object.values(aliases).flat());

/** The parameters that name the relations to embed. */
export const embedParameters = ["embed", ...aliases.embed] as const;

/** The name of a parameter of lists. */
export type ListParameter = (typeof listParameters)[number];

/** Names that are reserved for future parameters, so they cannot be filters. */
const reserved = "version expand include dryRun".split(" ");

/** Parameters of events. In a list, they would look like filters. */
const ofEvents: readonly string[] = ["since", "wait"];

/** The parameters in a query string. */
export interface Parameters {
  /** The parameters of `listParameters`. */
  known: ReadonlyMap<ListParameter, string>;
  /** All other parameters: filters by attribute, with all their values. */
  filters: ReadonlyMap<string, readonly string[]>;
  /** Finds values of other parameters for examples, even of refused parameters. */
  others: OtherParameters;
}

/** What the names of a query string can mean in a collection. */
interface NameContext {
  /** The collection as the caller sees it. */
  collection?: Pick<Collection, "idKind" | "schema" | "timestamps" | "visibility">;
  adviseRelations?: RelationsAdviser | undefined;
}

/** Reads a query string. Adds violations for invalid encoding, reserved names and repeated parameters. */
export function readParameters(
  query: string,
  violations: Violations,
  { collection, adviseRelations }: NameContext = {},
): Parameters {
  const known = new Map<ListParameter, string>();
  const filters = new Map<string, string[]>();
  const repeated = new Set<string>();
  for (const [name, value] of pairsOf(query, violations)) {
    if (!isListParameter(name) || isAttribute(name, collection))
      filters.set(name, [...(filters.get(name) ?? []), value]);
    else if (!known.has(name)) known.set(name, value);
    else if (isEmbedAlias(name)) known.set(name, `${known.get(name)},${value}`);
    else repeated.add(name);
  }
  for (const name of repeated) violations.add(inQuery(name), "repeatedParameter", "must be given only once");
  const others = othersIn(known, new Map(filters));
  for (const [name, texts] of filters) {
    if (!isReserved(name, texts)) continue;
    const hint = () => hintFor(name, texts, { others, adviseRelations });
    violations.add(inQuery(name), "unknownParameter", () => reservedDetail(name, hint(), violations));
    filters.delete(name);
  }
  return { known, filters, others };
}

/** One table of plain names for all hints of a request. The first hint creates it. */
function othersIn(known: Parameters["known"], filters: Parameters["filters"]): OtherParameters {
  let all: Map<string, string> | undefined;
  return (...names) => {
    all ??= new Map(
      [...[...filters].map(([name, texts]) => [name, texts.join(",")] as const), ...known].map(
        ([name, text]) => [plainName(name), text],
      ),
    );
    return names.map((name) => all?.get(name)).find((text) => text !== undefined);
  };
}

/** Refuses every query parameter, for methods and paths without parameters. Throws INVALID_PARAMETER. */
export function requireNoParameters(query: string): void {
  if (query === "") return;
  const violations = new Violations();
  for (const name of new Set(new URLSearchParams(query).keys()))
    violations.add(
      inQuery(name),
      "unknownParameter",
      `is not understood: this request takes no query parameters${name === "_dependent" ? dependents : ""}`,
    );
  violations.throwIfAny();
}

/** Whether a collection declares an attribute with the name of an alias of `embed`. Then the name is not this alias. */
function isAttribute(name: ListParameter, collection: NameContext["collection"]): boolean {
  if (collection === undefined || !isEmbedAlias(name)) return false;
  return declaresAttribute(collection, name);
}

/** Clients repeat these names for several relations. */
function isEmbedAlias(name: ListParameter): boolean {
  return (aliases.embed as readonly ListParameter[]).includes(name);
}

/** What deletes related resources too. The parameter is that of json-server. */
const dependents = '. To delete related resources too, set "onDelete" of their reference to "cascade"';

function isListParameter(name: string): name is ListParameter {
  return (listParameters as readonly string[]).includes(name);
}

/** Whether every collection refuses a name, because it is reserved or very rare for an attribute. */
function isReserved(name: string, texts: readonly string[]): boolean {
  if (reserved.includes(name) || ofEvents.includes(name)) return true;
  return !name.includes(":") && (name.startsWith("_") || hasForeignForm(name, texts));
}

function reservedDetail(name: string, hint: string, violations: Violations): string {
  const advice = hint === "" ? "" : `${hint}.`;
  if (ofEvents.includes(name))
    return `is not a parameter of lists. To follow changes, add "/_events" to the path.${asAttribute(name)}`;
  if (reserved.includes(name)) return `is reserved for future use.${advice}${asAttribute(name)}`;
  const suggestion = advice || violations.suggest(name, () => listParameters);
  return `is not understood.${suggestion}${asAttribute(name)}`;
}

function asAttribute(name: string): string {
  return ` To filter by an attribute with this name, write "${name}:eq"`;
}

/** The decoded names and values in a query string. Adds a violation for each that cannot be decoded. */
export function* pairsOf(query: string, violations: Violations): Generator<[name: string, value: string]> {
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const cut = pair.includes("=") ? pair.indexOf("=") : pair.length;
    const name = decode(pair.slice(0, cut));
    const value = decode(pair.slice(cut + 1));
    if (name !== undefined && value !== undefined) yield [name, value];
    else violations.add(inQuery(name ?? pair.slice(0, cut)), "encoding", encodingDetail);
  }
}

const encodingDetail = 'must be percent-encoded UTF-8 without null characters. Write a percent sign as "%25"';

function decode(text: string): string | undefined {
  try {
    const decoded = decodeURIComponent(text.replaceAll("+", " "));
    return isBadString(decoded) ? undefined : decoded;
  } catch {
    return undefined;
  }
}

/** A page before its offset is checked. `undefined`: the client did not send it. */
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

/** Reads the page. `most`: the bound of its limit. Adds violations. */
export function readPaging(
  known: ReadonlyMap<ListParameter, string>,
  most: number,
  violations: Violations,
): PageDraft {
  const names = pagingParameters.filter((name) => known.has(name));
  requireCombination(names, violations);
  const number = (name: ListParameter, least: number) =>
    readNumber(name, known.get(name), { least, violations });
  const limitIn = (name: ListParameter, bounds = {}) => {
    const text = known.get(name);
    return text === undefined ? undefined : readLimit(text, inQuery(name), { most, ...bounds }, violations);
  };
  const range = known.get("range");
  if (range !== undefined) return readRange(range, most, violations);
  if (known.has("_end"))
    return readStartEnd(number("_start", 0) ?? 0, number("_end", 0) ?? 0, { most, violations });
  if (known.has("_start"))
    return { kind: "offset", limit: limitIn("_limit"), offset: number("_start", 0) ?? 0, name: "_start" };
  if (known.has("_page") || known.has("_limit") || known.has("_per_page")) {
    const limit = limitIn("_limit") ?? limitIn("_per_page");
    return { kind: "page", limit, page: number("_page", 1) ?? 1 };
  }
  const offset = number("offset", 0);
  const isContinued = known.has("cursor");
  // Without a resource, a page has only the total.
  const isTotalOnly = known.get("count") === "exact" && offset === undefined && !isContinued;
  const least = isTotalOnly ? 0 : 1;
  const limit = limitIn("limit", { least, isContinued, hintForZero: onlyTotal });
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
  violations.mustBe(inQuery(name), "offset", `a whole number of at least ${least}`, text);
  return undefined;
}

/** Says how to ask for the total alone. */
export const onlyTotal = ", or 0 together with count=exact and without an offset or a cursor";

/** The resource at `_end` is not on the page. */
function readStartEnd(
  start: number,
  end: number,
  { most, violations }: { most: number; violations: Violations },
): PageDraft {
  if (end <= start) violations.add(inQuery("_end"), "limit", 'must be greater than "_start"');
  else if (end - start > most) {
    const detail = `must be at most ${most} more than "_start", but is ${end - start} more`;
    violations.add(inQuery("_end"), "limit", detail);
  }
  return { kind: "offset", limit: end - start, offset: start, name: "_start" };
}

/**
 * The page contains both ends of the range. A range that is too long is lowered, as ranges of HTTP are: Content-Range says what the
 * page has.
 */
function readRange(text: string, most: number, violations: Violations): PageDraft {
  const [, first = "", last = ""] = /^\s*\[\s*([0-9]+)\s*,\s*([0-9]+)\s*\]\s*$/.exec(text) ?? [];
  const [from, to] = [Number(first), Number(last)];
  if (first === "" || to < from)
    violations.mustBe(inQuery("range"), "paging", "the first and the last position, such as [0,24]", text);
  return { kind: "offset", limit: Math.min(to - from + 1, most), offset: from, name: "range" };
}
