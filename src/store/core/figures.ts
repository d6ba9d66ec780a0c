/** The figures of a list: their query, the columns of their statement, and their values as a store returns them. */

import { type Index, nameOfKey } from "../../collection/indexes.ts";
import { formatPath, type Path } from "../../collection/paths.ts";
import { type DeclaredMeaning, declaredTypes } from "../../collection/types/declared-types.ts";
import { Problem } from "../../errors.ts";
import {
  type DateUnit,
  dateUnits,
  type Figure,
  type FigureContents,
  type FigureSortKey,
  type GroupKey,
} from "../../query/figures.ts";
import { hasRelatedKeys, ranks } from "../../query/sort.ts";
import { logStart } from "../port/log-place.ts";
import { type Figures, type FiguresQuery, type GroupRow, maxPageBytes } from "../port/page.ts";
import { conjunctsOf, indexWith, isEquality, isRange } from "./access-path.ts";
import { builtIndexes, type NumberedCollection } from "./catalogue.ts";
import { relatedValue, type Scope } from "./list-sql.ts";
import type { RelatedPart } from "./related.ts";

/** A query for the figures of a given collection. */
export type FiguresOf = Omit<FiguresQuery, "collection" | "client"> & RelatedPart;

/** The figures of a collection that does not exist. */
export function emptyFigures({ figures, group }: FigureContents): Figures {
  const row = figures.map((each) => {
    if (each.kind === "sum" && each.as !== undefined)
      return JSON.stringify(declaredTypes[each.as].arithmetic?.zero);
    return each.kind === "count" || each.kind === "sum" ? "0" : "null";
  });
  return { groups: group.length === 0 ? [row] : [], more: false, sequence: logStart };
}

/** The SQL of one group key or figure. `decode` makes its JSON text from the values of `output`. */
export interface FigureColumn {
  output: readonly string[];
  /** The expressions that sort by it. Null comes first. The first one of several is a rank (`ranks`). */
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

/** The attributes of the groups and figures by `attributeName`, each once. */
function attributesOf({ figures, group }: FigureContents): ReadonlyMap<string, Path> {
  const all = [...group, ...figures].flatMap((each) => ("path" in each ? [each] : []));
  return new Map(all.map((each) => [attributeName(each), each.path]));
}

/** A text that differs for different attributes. */
function attributeName({ path, through }: Pick<GroupKey, "path" | "through">): string {
  return JSON.stringify([path, through]);
}

/**
 * An index that has every attribute of the query, and whose scan gives exactly the resources of the filter. A store that
 * can read values from the index does not have to read the resources.
 */
export function coveringIndex(query: FiguresOf, indexes: readonly Index[]): Index | undefined {
  const { filter, words, group, figures } = query;
  const names = [...group, ...figures].flatMap((each) => ("path" in each ? nameOfKey(each) : []));
  if (
    words !== undefined ||
    hasRelatedKeys(group) ||
    (names.length === 0 && conjunctsOf(filter).length === 0)
  )
    return undefined;
  return indexWith(names, filter, indexes);
}

/** What would make the figures faster, in one or two sentences for the error message. */
function figuresAdvice(query: FiguresOf, indexes: readonly Index[]): string {
  if (query.words !== undefined) return "Search for fewer or longer words, or add a filter.";
  const narrow = "Add a filter that fewer resources match.";
  if (coveringIndex(query, indexes) !== undefined || hasRelatedKeys(query.group)) return narrow;
  const conditions = conjunctsOf(query.filter);
  const first = [...conditions.filter(isEquality), ...conditions.filter(isRange)].map(({ path }) => path);
  const keys = [...new Set([...first, ...attributesOf(query).values()].map(formatPath))].filter(
    (key) => key !== "id",
  );
  const isUseful = conditions.every((each) => isEquality(each) || isRange(each));
  if (!isUseful || keys.length === 0 || keys.length > maxIndexKeys) return narrow;
  return `An index with all attributes of the request would make it faster: add "indexes": [${JSON.stringify(keys)}] to the collection's configuration. Or add a filter that fewer resources match.`;
}

/** The problem of figures that take longer than the option `queryMs` allows. */
export function figuresTooExpensive(
  query: FiguresOf,
  collection: NumberedCollection,
  maxMs: number,
): Problem {
  const { indexes } = collection;
  const built = builtIndexes(collection);
  const isBeingBuilt =
    coveringIndex(query, indexes) !== undefined && coveringIndex(query, built) === undefined;
  const advice = isBeingBuilt
    ? "The service is still building the index for them. Try again later."
    : figuresAdvice(query, indexes);
  return new Problem(
    "QUERY_TOO_EXPENSIVE",
    `The figures take longer than the limit of ${maxMs} ms. ${advice}`,
  );
}

/** The most keys of an index. */
const maxIndexKeys = 5;

/** An attribute. `read` adds a column to the inner query and returns its name. The same name always has the same SQL. */
export interface Attribute {
  path: Path;
  read(name: string, sql: string): string;
}

/** The values of one kind in an attribute. Null for other values. `decode` returns the JSON text of a value. */
export type ValueKind = readonly [sql: string, decode: (value: unknown) => string];

/** A unit of dates, and the name of its time zone. */
export type UnitKey = { unit: DateUnit } & Pick<GroupKey, "zone">;

/** How the SQL of a store reads attributes. All texts sort by code points. */
export interface FigureSql {
  /** The JSON text. Null if the attribute is absent. */
  text(of: Attribute): string;
  /** The key of a declared date or exact number (`comparedKeyOf`). Null if the value is neither. */
  meaning(of: Attribute, as: DeclaredMeaning): string;
  /** The date in a string, with its time. Null for other values. */
  date(of: Attribute): string;
  /** The text of a unit (`unitText`). Null if the moment is null. */
  unit(moment: string, key: UnitKey, scope: Scope): string;
  /** The expressions that sort by the value of a JSON text. The first one is the rank of its type. */
  order(text: string): readonly string[];
  /** Makes the group key in another way than from the JSON text. @default the JSON text */
  key?(of: Attribute, groupBy: (text: string) => string): FigureColumn;
  /** The sum or the average of the numbers. */
  total(kind: "sum" | "avg", of: Attribute): FigureColumn;
  /** The same of exact numbers: the text, or null without an average. */
  exactTotal(kind: "sum" | "avg", of: Attribute): { text: string; order: string };
  /** The kinds of values that have a minimum and a maximum, in their order. */
  kinds(of: Attribute): readonly ValueKind[];
}

/** The parts of the statement for figures. A clause is empty if there is nothing to group or to sort by. `scope` is that of `from`. */
export function figureParts(query: FiguresOf, sql: FigureSql, scope: Scope) {
  const inner = new Map<string, string>();
  const keyTexts: string[] = [];
  const groupBy = (text: string) => `k${keyTexts.push(text) - 1}`;
  const names = [...attributesOf(query).keys()];
  const attributeOf = (of: Pick<GroupKey, "path" | "through">): Attribute => ({
    path: of.path,
    read(name, text) {
      const whole = `a${names.indexOf(attributeName(of))}${name}`;
      if (!inner.has(whole))
        inner.set(whole, of.through === undefined ? text : relatedValue(of.through, text, scope));
      return whole;
    },
  });
  const keys = query.group.map((key) => keyColumn(sql, key, attributeOf(key), { groupBy, scope }));
  const figures = query.figures.map((figure) =>
    figure.kind === "count" ? oneColumn("count(*)", String) : figureColumn(sql, figure, attributeOf(figure)),
  );
  const orderBy = (column: FigureColumn, { descending, movesNulls }: KeyDirection = { descending: false }) =>
    [
      ...(movesNulls === true ? [`(case when ${isNullSql(column)} then 1 else 0 end)`] : []),
      ...column.order,
    ].map((each) => `${each} ${descending ? "desc nulls last" : "asc nulls first"}`);
  const order = [
    ...query.sort.flatMap(({ of, place, ...direction }) =>
      orderBy((of === "group" ? keys : figures)[place] as FigureColumn, direction),
    ),
    ...keys.flatMap((key) => orderBy(key)),
  ];
  const columns = [...keys, ...figures];
  const read = inner.size === 0 ? "1" : [...inner].map(([name, text]) => `${text} as ${name}`).join(", ");
  const keyed = ["*", ...keyTexts.map((text, n) => `${text} as k${n}`)].join(", ");
  return {
    columns,
    outputs: columns.flatMap(({ output }) => output),
    /** `source` is the rest of the inner query, from the word `from` on. */
    from: (source: string) => `(select ${keyed} from (select ${read} ${source}) as resource) as resource`,
    groupBy: keys.length === 0 ? "" : `group by ${keys.map((_, n) => `k${n}`).join(", ")}`,
    orderBy: order.length === 0 ? "" : `order by ${order.join(", ")}`,
  };
}

type KeyDirection = Pick<FigureSortKey, "descending" | "movesNulls">;

function isNullSql({ order: [first, ...others] }: FigureColumn): string {
  return others.length === 0 ? `${first} is null` : `${first} = ${ranks.null}`;
}

/** A column with one expression. */
export function oneColumn(
  sql: string,
  decode: (value: unknown) => string | undefined,
  order: readonly string[] = [sql],
): FigureColumn {
  return { output: [sql], order, decode: ([value]) => decode(value) };
}

/** Groups by an expression, and returns its name. */
type GroupBy = (text: string) => string;

/** Whether the text of a unit is the beginning of the time in UTC. */
function isBeginning({ unit, zone }: UnitKey): boolean {
  return unit !== "week" && zone === undefined;
}

function unitColumn(sql: FigureSql, key: GroupKey & UnitKey, of: Attribute, scope: Scope): string {
  const length = dateUnits[key.unit];
  if (key.as === undefined) {
    const date = sql.date(of);
    if (isBeginning(key)) return `substr(${date}, 1, ${length})`;
    // Only a day has no seconds.
    const moment = `(case when length(${date}) = ${dateUnits.minute} then substr(${date}, 1, ${dateUnits.day}) else substr(${date}, 1, 19) end)`;
    return sql.unit(moment, key, scope);
  }
  const instant = sql.meaning(of, key.as);
  // The key begins with the day and time in UTC, or with a mark for a year that no text can have.
  const isUsual = `${instant} not like '-%' and ${instant} not like '~%'`;
  if (isBeginning(key)) return `(case when ${isUsual} then substr(${instant}, 1, ${length}) end)`;
  const time = `substr(${instant}, 1, 19)`;
  if (key.zone === undefined) return sql.unit(`(case when ${isUsual} then ${time} end)`, key, scope);
  const text = sql.text(of);
  const isDay = `length(${text}) = 12 and substr(${text}, 1, 1) = '"'`;
  return sql.unit(
    `(case when ${isUsual} then case when ${isDay} then substr(${text}, 2, ${dateUnits.day}) else ${time} end end)`,
    key,
    scope,
  );
}

function keyColumn(
  sql: FigureSql,
  key: GroupKey,
  of: Attribute,
  { groupBy, scope }: { groupBy: GroupBy; scope: Scope },
): FigureColumn {
  const { as, unit } = key;
  if (unit !== undefined)
    return oneColumn(groupBy(unitColumn(sql, { ...key, unit }, of, scope)), JSON.stringify);
  if (as !== undefined) return meaningColumn(sql, as, of, groupBy);
  if (sql.key !== undefined) return sql.key(of, groupBy);
  const text = groupBy(sql.text(of));
  return oneColumn(text, decodeText, [...sql.order(text), text]);
}

/** A declared date or exact number as a group key: the mark `@` and its key. Any other value has its JSON text. */
function meaningColumn(sql: FigureSql, as: DeclaredMeaning, of: Attribute, groupBy: GroupBy): FigureColumn {
  const instant = sql.meaning(of, as);
  const text = sql.text(of);
  const key = groupBy(`(case when ${instant} is null then ${text} else '@' || ${instant} end)`);
  const isInstant = `substr(${key}, 1, 1) = '@'`;
  const [rank, ...others] = sql.order(`(case when ${isInstant} then null else ${key} end)`);
  const order = [`(case when ${isInstant} then ${ranks.declared} else ${rank} end)`, ...others, key];
  return oneColumn(`min(${text})`, decodeText, order);
}

function decodeText(text: unknown): string | undefined {
  return text === null ? undefined : String(text);
}

function figureColumn(
  sql: FigureSql,
  figure: Exclude<Figure, { kind: "count" }>,
  of: Attribute,
): FigureColumn {
  if (figure.kind === "sum" || figure.kind === "avg") {
    if (figure.as === undefined) return sql.total(figure.kind, of);
    const { text, order } = sql.exactTotal(figure.kind, of);
    return oneColumn(text, (found) => (found === null ? "null" : JSON.stringify(found)), [order]);
  }
  return figure.as === undefined
    ? extremeColumn(figure.kind, sql.kinds(of))
    : extremeMeaning(sql, figure.kind, of, figure.as);
}

type Extreme = "min" | "max";

/** The minimum is of the first kind of value that occurs, and the maximum of the last kind. */
function extremeColumn(extreme: Extreme, kinds: readonly ValueKind[]): FigureColumn {
  const inOrder = <T>(all: readonly T[]) => (extreme === "min" ? all : all.toReversed());
  const output = kinds.map(([values]) => `${extreme}(${values})`);
  const found = inOrder(output.map((each, n) => `when ${each} is not null then ${n + 1}`));
  const rank = `(case ${found.join(" ")} else 0 end)`;
  return {
    output,
    order: [rank, ...output.map((each, n) => `(case ${rank} when ${n + 1} then ${each} end)`)],
    decode(values) {
      const texts = kinds.map(([, decode], n) => (values[n] === null ? undefined : decode(values[n])));
      return inOrder(texts).find((text) => text !== undefined) ?? "null";
    },
  };
}

/** The first or last declared date or exact number. It sorts after all other values, and keeps its JSON text. */
function extremeMeaning(sql: FigureSql, extreme: Extreme, of: Attribute, as: DeclaredMeaning): FigureColumn {
  const key = sql.meaning(of, as);
  const other = (values: string) => `case when ${key} is null then ${values} end`;
  const others = extremeColumn(
    extreme,
    sql.kinds(of).map(([values, decode]) => [other(values), decode]),
  );
  const found = `${extreme}(${key} || ' ' || ${sql.text(of)})`;
  const [rank = "", ...rest] = others.order;
  const isKnown = `${found} is not null${extreme === "max" ? "" : ` and ${rank} = 0`}`;
  const known = (then: string, other: string) => `(case when ${isKnown} then ${then} else ${other} end)`;
  const sorted = `${extreme}(${key})`;
  return {
    output: [known(found, "null"), ...others.output],
    order: [known("9", rank), known(sorted, "null"), ...rest.map((each) => known("null", each))],
    decode([extreme, ...values]) {
      return extreme === null
        ? others.decode(values)
        : String(extreme).slice(String(extreme).indexOf(" ") + 1);
    },
  };
}
