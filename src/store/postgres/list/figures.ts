/**
 * The statement for the figures of a list, and the head of the collection from the same snapshot. An inner query reads each
 * attribute once. It has an offset, so that the database does not merge it with the query that groups.
 */
import { formatPath } from "../../../collection/paths.ts";
import { type DateUnit, dateUnits, type Figure, type GroupKey } from "../../../query/figures.ts";
import { sortedCodePoints } from "../../../query/sort.ts";
import { wordsVersion } from "../../../query/words.ts";
import { attributesOf, type FigureColumn, type FiguresOf, groupsIn, numberText } from "../../core/figures.ts";
import { type Figures, maxPageBytes } from "../../port/page.ts";
import type { Row, Statement } from "../connection/connections.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { ranks, valueSql } from "./expressions.ts";
import { instantSql } from "./instants.ts";
import { declaredSql, sourceSql } from "./page.ts";
import { scopeOf } from "./parameters.ts";
import { searchSql } from "./search.ts";

/** The SQL of one group key or figure. `output` has expressions of type text. */
interface Column extends FigureColumn<string | null> {
  /** The expressions that sort by it. Null comes first. */
  order: readonly string[];
}

/** The statement for figures. */
export interface FiguresStatement extends Statement {
  columns: readonly Column[];
  /** The number of the declaration that the statement fits. */
  declared: number;
}

/** The columns of the head: sequence, number of the declaration, whether the search words are complete, and whether a group follows. */
const headColumns = 4;

/** The statement. Its rows are groups, at most one more than the limit. Without groups, it has one row without a group. */
export function selectFigures(collection: NumberedCollection, query: FiguresOf): FiguresStatement {
  const { number } = collection;
  const { words = [], limit, offset, related } = query;
  const scope = scopeOf(collection, related);
  const search = words.length === 0 ? undefined : searchSql(number, words, scope);
  const source = sourceSql(query, search, scope);
  const paths = attributesOf(query);
  const names = paths.map(formatPath);
  const nameOf = (each: Figure | GroupKey) =>
    "path" in each ? `a${names.indexOf(formatPath(each.path))}` : "";
  const dated = [...query.group, ...query.figures].flatMap((each) =>
    "path" in each && each.as ? [each] : [],
  );
  const instants = [...new Map(dated.map((each) => [`d${nameOf(each)}`, each.path]))];
  const keys = query.group.map((key, n) => keyColumn(key, nameOf(key), `k${n}`));
  const figures = query.figures.map((figure) => figureColumn(figure, nameOf(figure)));
  const columns = [...keys.map(({ column }) => column), ...figures];
  const attributes = [
    ...paths.map((path, n) => `${valueSql(path)} as a${n}`),
    ...instants.map(([name, path]) => `${instantSql(path, "date")} as ${name}`),
  ];
  const grouping = keys.map((_, n) => `k${n}`).join(", ");
  const keyed = ["*", ...keys.map(({ sql }, n) => `${sql} as k${n}`)].join(", ");
  const order = [
    ...query.sort.flatMap(({ of, place, descending }) => {
      const column = (of === "group" ? columns : figures)[place] as Column;
      return column.order.map((sql) => orderSql(sql, descending));
    }),
    ...keys.flatMap(({ column }) => column.order.map((sql) => orderSql(sql, false))),
  ].join(", ");
  const outputs = columns.flatMap(({ output }) => output);
  const grouped = `select ${outputs.map((sql, n) => `${sql} as out_${n}`).join(", ")},
      row_number() over (${order === "" ? "" : `order by ${order}`}) as place
    from (select ${keyed} from (
        select ${attributes.length === 0 ? "1" : attributes.join(", ")} ${source} offset 0
      ) as resource) as resource
    ${grouping === "" ? "" : `group by ${grouping}`} order by place limit ${limit + 1} offset ${offset}`;
  const outs = outputs.map((_, n) => `out_${n}`);
  // Includes the first group that does not fit, so that `groupsIn` sees it. That also counts the figures, which are short.
  const bytes = ["0", ...keys.map((_, n) => `coalesce(octet_length(out_${n}), 0)`)].join(" + ");
  const page = `select *, sum(${bytes}) over (order by place) - (${bytes}) as bytes_before from (${grouped}) as grouped`;
  const sql = `${search?.with ?? ""}
    select head.sequence, ${declaredSql(scope)},
      head.gathered_to is null and head.words_version = '${wordsVersion}', page.place, ${outs.map((out) => `page.${out}`).join(", ")}
    from holdfast_heads as head
      left join (select * from (${page}) as page where bytes_before <= ${maxPageBytes} or place <= ${offset + 2}) as page on true
    where head.number = ${number} order by page.place`;
  return { sql, values: scope.values, columns, declared: collection.declared };
}

/** Figures, or the fact that the declaration of the collection has changed since the catalogue was read. */
export type FiguresResult = { figures: Figures } | "redeclared" | "words incomplete";

/** The figures from the rows of the statement. */
export function toFigures(
  rows: readonly Row[],
  { columns, declared: expected }: FiguresStatement,
  { limit, words }: FiguresOf,
): FiguresResult {
  const [first] = rows;
  if (first === undefined) return "redeclared";
  const [sequence, declared, areWordsComplete] = first;
  if (Number(declared) !== expected) return "redeclared";
  if (words !== undefined && areWordsComplete !== "t") return "words incomplete";
  const found = rows.filter((row) => row[headColumns - 1] !== null).map((row) => row.slice(headColumns));
  return { figures: { ...groupsIn(found, columns, limit), sequence: Number(sequence) } };
}

function orderSql(sql: string, descending: boolean): string {
  return `${sql} ${descending ? "desc nulls last" : "asc nulls first"}`;
}

const text = (json: string) => `(${json} #>> '{}')`;
const typeIs = (json: string, type: string) => `case json_typeof(${json}) when '${type}'`;

/** `sql` is the expression of the key, and `key` the name of its column. */
function keyColumn({ unit, as }: GroupKey, json: string, key: string): { sql: string; column: Column } {
  if (as !== undefined) return instantColumn(unit, json, key);
  if (unit !== undefined) {
    const sql = `((${typeIs(json, "string")} then ${dateSql(text(json), unit)} end) collate "C")`;
    return { sql, column: { output: [key], order: [key], decode: ([found]) => JSON.stringify(found) } };
  }
  const sql = `(${json}::text collate "C")`;
  const order = keyOrder(`${key}::json`, key);
  return { sql, column: { output: [key], order, decode: ([found]) => found ?? undefined } };
}

/** A declared date as a group key: the mark `@` and the key of its instant. Any other value has its JSON text. */
function instantColumn(
  unit: DateUnit | undefined,
  json: string,
  key: string,
): { sql: string; column: Column } {
  const instant = `d${json}`;
  if (unit !== undefined) {
    const sql = `((case when ${instant} ~ '^[0-9]' then left(${instant}, ${dateUnits[unit]}) end) collate "C")`;
    return { sql, column: { output: [key], order: [key], decode: ([found]) => JSON.stringify(found) } };
  }
  const isInstant = `left(${key}, 1) = '@'`;
  const [rank, ...others] = keyOrder(`(case when ${isInstant} then null else ${key} end)::json`, key);
  return {
    sql: `(case when ${instant} is null then ${json}::text else '@' || ${instant} end collate "C")`,
    column: {
      output: [`min(${json}::text collate "C")`],
      order: [`(case when ${isInstant} then ${ranks.date} else ${rank} end)`, ...others],
      decode: ([found]) => found ?? undefined,
    },
  };
}

/** The order of groups by values whose JSON text is `key`. */
function keyOrder(value: string, key: string): readonly string[] {
  return [
    `(case json_typeof(${value}) when 'boolean' then case ${key} when 'true' then ${ranks.true} else ${ranks.false} end
      when 'number' then ${ranks.number} when 'string' then ${ranks.string} when 'array' then ${ranks.container}
      when 'object' then ${ranks.container} else ${ranks.null} end)`,
    `(${typeIs(value, "number")} then ${key}::float8 end)`,
    `(${typeIs(value, "string")} then left(${text(value)}, ${sortedCodePoints}) end collate "C")`,
    key,
  ];
}

const shape =
  "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?Z)?$";

/** The beginning of a date; null for other texts. A cast would fail for them. */
function dateSql(value: string, unit: DateUnit): string {
  const [year, month, day] = [
    `substr(${value}, 1, 4)::integer`,
    `substr(${value}, 6, 2)`,
    `substr(${value}, 9, 2)`,
  ];
  const isLeap = `(${year} % 4 = 0 and (${year} % 100 <> 0 or ${year} % 400 = 0))`;
  const days = `case ${month} when '02' then case when ${isLeap} then '29' else '28' end
    when '04' then '30' when '06' then '30' when '09' then '30' when '11' then '30' else '31' end`;
  const whole = `case length(${value}) when 10 then ${value} || 'T00:00' else ${value} end`;
  return `case when length(${value}) <= 30 and ${value} ~ '${shape}'
    then case when ${day} <= ${days} then left(${whole}, ${dateUnits[unit]}) end end`;
}

/** The range of numbers. The database refuses to convert a number outside it. */
const range = `${Number.MAX_VALUE}::numeric`;

/** Half of the least number above 0, rounded up. The database refuses to convert a number that is nearer to 0. */
const leastConverted = "2.4703282292062328e-324::numeric";

/** As a number of the database, which is 0 if no other number is as near. `sql` must be within the range. */
function float(sql: string): string {
  return `(case when abs(${sql}) < ${leastConverted} then 0::float8 else ${sql}::float8 end)`;
}

/** The quotient. It is 0 where the database refuses to divide: where no other number is as near to it. */
function quotient(sql: string, count: string): string {
  const isNearest = `abs(${sql}) <= ${count} * '${Number.MIN_VALUE}'::float8 - abs(${sql})`;
  return `(case when ${isNearest} then 0::float8 else ${sql} / ${count} end)`;
}

function figureColumn(figure: Figure, json: string): Column {
  if (figure.kind === "count") return { output: ["count(*)::text"], order: ["count(*)"], decode: asNumber };
  const numbers = `${typeIs(json, "number")} then ${json}::text::numeric end`;
  const sum = `coalesce(sum(${numbers}), 0)`;
  const count = `count(${numbers})`;
  switch (figure.kind) {
    case "sum":
      return {
        output: [`${sum}::text`],
        order: [`(case when abs(${sum}) <= ${range} then ${float(sum)} end)`],
        decode: asNumber,
      };
    case "avg": {
      const small = quotient(float(sum), count);
      const large = `(${sum} / ${count})::float8`;
      const average = `(case when ${count} > 0 then case when abs(${sum}) <= ${range} then ${small} else ${large} end end)`;
      return { output: [`${average}::text`], order: [average], decode: asNumber };
    }
    case "min":
    case "max":
      return figure.as === undefined
        ? extremeColumn(figure.kind, json)
        : extremeInstant(figure.kind, json, `d${json}`);
  }
}

function extremeColumn(kind: "min" | "max", json: string): Column {
  const truth = `${kind}(${typeIs(json, "boolean")} then (${json}::text = 'true')::integer end)`;
  const number = `${kind}(${typeIs(json, "number")} then ${json}::text::float8 end)`;
  const string = `${kind}(${typeIs(json, "string")} then left(${text(json)}, ${sortedCodePoints}) end collate "C")`;
  const all = [truth, number, string];
  const found = all.map((sql, n) => `when ${sql} is not null then ${n + 1}`);
  const rank = `(case ${(kind === "min" ? found : found.reverse()).join(" ")} else 0 end)`;
  return {
    output: all.map((sql) => `${sql}::text`),
    order: [rank, ...all.map((sql, n) => `(case ${rank} when ${n + 1} then ${sql} end)`)],
    decode([boolean = null, numeric = null, words = null]) {
      const texts = [
        boolean === null ? undefined : String(boolean === "1"),
        numeric === null ? undefined : numberText(Number(numeric)),
        words === null ? undefined : JSON.stringify(words),
      ];
      return (kind === "min" ? texts : texts.reverse()).find((each) => each !== undefined) ?? "null";
    },
  };
}

/** The first or last instant of a declared date. It sorts after all values that are not dates, and keeps its JSON text. */
function extremeInstant(kind: "min" | "max", json: string, instant: string): Column {
  const others = extremeColumn(kind, `(case when ${instant} is null then ${json} end)`);
  const found = `${kind}(${instant} || ' ' || ${json}::text collate "C")`;
  const [rank = "", ...rest] = others.order;
  const isInstant = kind === "max" ? `${found} is not null` : `${found} is not null and ${rank} = 0`;
  return {
    output: [`(case when ${isInstant} then ${found} end)`, ...others.output],
    order: [
      `(case when ${isInstant} then 4 else ${rank} end)`,
      `(case when ${isInstant} then ${found} end)`,
      ...rest.map((sql) => `(case when ${isInstant} then null else ${sql} end)`),
    ],
    decode: ([extreme, ...other]) =>
      extreme === null || extreme === undefined
        ? others.decode(other)
        : extreme.slice(extreme.indexOf(" ") + 1),
  };
}

function asNumber([value]: readonly (string | null)[]): string {
  return value === null || value === undefined ? "null" : numberText(Number(value));
}
