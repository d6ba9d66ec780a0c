/** The parameters of a list by name, and what is wrong with those that are not. */
import type { Violation } from "../errors.ts";
import { isBadString } from "../json/values.ts";
import { type Faults, inQuery, refuse } from "./faults.ts";
import { hintFor, isForeignShape } from "./hints.ts";
import { type Others, plainName } from "./parameter-guesses.ts";

/** Parameters of other servers that have the same meaning as ours. */
const aliases = {
  paging: ["range", "_start", "_end", "_page", "_limit", "_per_page"],
  sort: ["_sort", "_order"],
} as const;

/** The parameters that select a page. */
export const pagingParameters = ["limit", "cursor", "offset", ...aliases.paging] as const;

/** Every parameter of a list, except filters by attribute. */
export const listParameters = [
  ...pagingParameters,
  "sort",
  ...aliases.sort,
  ...(["filter", "q", "fields", "envelope", "count"] as const),
] as const;

/** The parameters that have the same meaning as another one, for clients of other servers. */
export const aliasParameters: ReadonlySet<ListParameter> = new Set([...aliases.paging, ...aliases.sort]);

/** The name of a parameter of lists. */
export type ListParameter = (typeof listParameters)[number];

/** Words that will mean something one day; nothing may rest on their being filters until then. */
const reserved = "version at since wait embed expand include aggregate group distinct dryRun".split(" ");

/** The query string of a list, sorted out. */
export interface Parameters {
  /** Parameters of the table, each given once. */
  known: ReadonlyMap<ListParameter, string>;
  /** All others: filters by attribute, with every value that each was given. */
  filters: ReadonlyMap<string, readonly string[]>;
  /** Finds values of other parameters, refused ones among them: examples are made of them. */
  others: Others;
}

/** Reads a query string. What cannot be decoded, is reserved, or is there twice goes to `faults`. */
export function readParameters(query: string, faults: Faults): Parameters {
  const known = new Map<ListParameter, string>();
  const filters = new Map<string, string[]>();
  const repeated = new Set<string>();
  for (const [name, value] of pairsOf(query, faults)) {
    if (!isListParameter(name)) filters.set(name, [...(filters.get(name) ?? []), value]);
    else if (known.has(name)) repeated.add(name);
    else known.set(name, value);
  }
  for (const name of repeated) faults.add(inQuery(name), "repeatedParameter", "must be given only once");
  const others = othersIn(known, new Map(filters));
  for (const [name, texts] of filters) {
    if (!isReserved(name, texts)) continue;
    const hint = () => hintFor(name, texts, others);
    faults.add(inQuery(name), "unknownParameter", () => reservedDetail(name, hint(), faults));
    filters.delete(name);
  }
  return { known, filters, others };
}

/** One table of plain names for all hints of a request, made when the first of them asks. */
function othersIn(known: Parameters["known"], filters: Parameters["filters"]): Others {
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

/** Refuses every query parameter: for methods and paths that take none. Throws INVALID_PARAMETER. */
export function requireNoParameters(query: string): void {
  if (query === "") return;
  const violations = [...new Set(new URLSearchParams(query).keys())].map(
    (name): Violation => ({
      in: "query",
      name,
      code: "unknownParameter",
      detail: `"${name}" is not understood: this request takes no query parameters`,
    }),
  );
  refuse(violations);
}

function isListParameter(name: string): name is ListParameter {
  return (listParameters as readonly string[]).includes(name);
}

/** Whether every collection refuses a name: hardly any attribute has it, or it is reserved for the future. */
function isReserved(name: string, texts: readonly string[]): boolean {
  if (reserved.includes(name)) return true;
  return !name.includes(":") && (name.startsWith("_") || isForeignShape(name, texts));
}

function reservedDetail(name: string, hint: string, faults: Faults): string {
  const advice = hint === "" ? "" : `${hint}.`;
  if (reserved.includes(name)) return `is reserved for future use.${advice}${asAttribute(name)}`;
  const suggestion = advice || faults.suggest(name, () => listParameters);
  return `is not understood.${suggestion}${asAttribute(name)}`;
}

function asAttribute(name: string): string {
  return ` To filter by an attribute with this name, write "${name}:eq"`;
}

function* pairsOf(query: string, faults: Faults): Generator<[name: string, value: string]> {
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const cut = pair.includes("=") ? pair.indexOf("=") : pair.length;
    const name = decode(pair.slice(0, cut));
    const value = decode(pair.slice(cut + 1));
    if (name !== undefined && value !== undefined) yield [name, value];
    else faults.add(inQuery(name ?? pair.slice(0, cut)), "encoding", encodingDetail);
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
