/** The query for the figures of a list, and their values as a store returns them. */

import { type Index, nameOfKey } from "../../collection/indexes.ts";
import { formatPath, type Path } from "../../collection/paths.ts";
import { Problem } from "../../errors.ts";
import type { FigureContents } from "../../query/figures.ts";
import type { Figures, FiguresQuery, GroupRow } from "../port/page.ts";
import { maxPageBytes } from "../port/page.ts";
import { conjunctsOf, isEquality, isRange, repeatedAttribute } from "./conjuncts.ts";
import type { RelatedPart } from "./related.ts";

/** A query for the figures of a given collection. */
export type FiguresOf = Omit<FiguresQuery, "collection" | "client"> & RelatedPart;

/** The figures of a collection that does not exist. */
export function emptyFigures({ figures, group }: FigureContents): Figures {
  const row = figures.map(({ kind }) => (kind === "count" || kind === "sum" ? "0" : "null"));
  return { groups: group.length === 0 ? [row] : [], more: false, sequence: 0 };
}

/** The SQL of one group key or figure. `decode` makes its JSON text from the values of `output`. */
export interface FigureColumn {
  output: readonly string[];
  /** The expressions that sort by it. Null comes first. */
  order: readonly string[];
  decode: (values: readonly unknown[]) => string | undefined;
}

/** The groups in rows: at most `limit` of them, and at most `maxPageBytes` of text, but at least one. */
export function groupsIn(
  rows: Iterable<readonly unknown[]>,
  columns: readonly FigureColumn[],
  limit: number,
): Pick<Figures, "groups" | "more"> {
  const groups: GroupRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    let from = 0;
    const group = columns.map(({ output, decode }) => {
      const values = row.slice(from, from + output.length);
      from += output.length;
      return decode(values);
    });
    bytes += group.reduce((sum, text) => sum + (text === undefined ? 0 : Buffer.byteLength(text)), 0);
    const more = groups.length === limit || (groups.length > 0 && bytes > maxPageBytes);
    if (more) return { groups, more };
    groups.push(group);
  }
  return { groups, more: false };
}

/** The JSON text of a number that a store has computed. It is null if the number exceeds the range of numbers. */
export function numberText(value: number): string {
  return Number.isFinite(value) ? JSON.stringify(value === 0 ? 0 : value) : "null";
}

/** The attributes of the groups and figures, each once. */
export function attributesOf({ figures, group }: FigureContents): readonly Path[] {
  const paths = [...group, ...figures].flatMap((each) => ("path" in each ? [each.path] : []));
  return [...new Map(paths.map((path) => [formatPath(path), path])).values()];
}

/** The keys that an index must have to cover the groups and figures. */
function neededKeys({ figures, group }: FigureContents): readonly string[] {
  return [...group, ...figures].flatMap((each) => ("path" in each ? nameOfKey(each) : []));
}

/**
 * An index that has every attribute of the query, and whose scan gives exactly the resources of the filter. A store that
 * can read values from the index does not have to read the resources.
 */
export function coveringIndex(query: FiguresOf, indexes: readonly Index[]): Index | undefined {
  const { filter, words } = query;
  if (words !== undefined) return undefined;
  const conditions = conjunctsOf(filter);
  if (repeatedAttribute(conditions) !== undefined) return undefined;
  const equal = conditions.filter(isEquality).map(nameOfKey);
  const ranged = new Set(conditions.filter(isRange).map(nameOfKey));
  if (!conditions.every((each) => isEquality(each) || isRange(each)) || ranged.size > 1) return undefined;
  const needed = neededKeys(query);
  if (needed.length === 0 && conditions.length === 0) return undefined;
  return indexes.find((index) => {
    const names = index.map(nameOfKey);
    const head = names.slice(0, equal.length);
    if (head.length < equal.length || !head.every((name) => equal.includes(name))) return false;
    if (ranged.size === 1 && !ranged.has(names[equal.length] ?? "")) return false;
    return needed.every((name) => names.includes(name));
  });
}

/** What would make the figures faster, in one or two sentences for the error message. */
function figuresAdvice(query: FiguresOf, indexes: readonly Index[]): string {
  if (query.words !== undefined) return "Search for fewer or longer words, or add a filter.";
  const narrow = "Add a filter that fewer resources match.";
  if (coveringIndex(query, indexes) !== undefined) return narrow;
  const conditions = conjunctsOf(query.filter);
  const first = [...conditions.filter(isEquality), ...conditions.filter(isRange)].map(({ path }) => path);
  const keys = [...new Set([...first, ...attributesOf(query)].map(formatPath))].filter((key) => key !== "id");
  const isUseful = conditions.every((each) => isEquality(each) || isRange(each));
  if (!isUseful || keys.length === 0 || keys.length > maxIndexKeys) return narrow;
  return `An index with all attributes of the request would make it faster: add "indexes": [${JSON.stringify(keys)}] to the collection's configuration. Or add a filter that fewer resources match.`;
}

/** The problem of figures that take longer than the option `queryMs` allows. */
export function figuresTooExpensive(query: FiguresOf, indexes: readonly Index[], maxMs: number): Problem {
  return new Problem(
    "QUERY_TOO_EXPENSIVE",
    `The figures take longer than the limit of ${maxMs} ms. ${figuresAdvice(query, indexes)}`,
  );
}

/** The most keys of an index. */
const maxIndexKeys = 5;
