/**
 * The statement for the figures of a list, and the head of the collection from the same snapshot. An inner query reads each
 * attribute once. It has an offset, so that the database does not merge it with the query that groups.
 */
import { type DateUnit, dateUnits } from "../../../query/figures.ts";
import { sortedCodePoints } from "../../../query/sort.ts";
import { wordsVersion } from "../../../query/words.ts";
import {
  type Attribute,
  type FigureColumn,
  type FigureSql,
  type FiguresOf,
  figureParts,
  groupsIn,
  numberText,
  oneColumn,
} from "../../core/figures.ts";
import { type Figures, maxPageBytes } from "../../port/page.ts";
import type { Row, Statement } from "../connection/connections.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { ranks, scopeOf, valueSql } from "./conditions.ts";
import { instantSql } from "./instants.ts";
import { declaredSql, searchSql, sourceSql } from "./page.ts";

/** The statement for figures. */
export interface FiguresStatement extends Statement {
  columns: readonly FigureColumn[];
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
  const { columns, outputs, from, groupBy, orderBy } = figureParts(query, figureSql);
  const grouped = `select ${outputs.map((sql, n) => `${sql} as out_${n}`).join(", ")},
      row_number() over (${orderBy}) as place
    from ${from(`${sourceSql(query, search, scope)} offset 0`)}
    ${groupBy} order by place limit ${limit + 1} offset ${offset}`;
  const outs = outputs.map((_, n) => `out_${n}`);
  // Includes the first group that does not fit, so that `groupsIn` sees it. That also counts the figures, which are short.
  const bytes = ["0", ...query.group.map((_, n) => `coalesce(octet_length(out_${n}), 0)`)].join(" + ");
  const page = `select *, sum(${bytes}) over (order by place) - (${bytes}) as bytes_before from (${grouped}) as grouped`;
  const sql = `${search?.with ?? ""}
    select head.sequence, ${declaredSql(scope)},
      head.words_version = '${wordsVersion}', page.place, ${outs.map((out) => `page.${out}`).join(", ")}
    from holdfast_heads as head
      left join (select * from (${page}) as page where bytes_before <= ${maxPageBytes} or place <= ${offset + 2}) as page on true
    where head.number = ${number} order by page.place`;
  return { sql, values: scope.values, columns, declared: collection.declared };
}

/** Figures, or the fact that the declaration of the collection has changed since the catalogue was read. */
export type FiguresResult = Figures | "redeclared" | "words incomplete";

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
  return { ...groupsIn(found, columns, limit), sequence: Number(sequence) };
}

const text = (json: string) => `(${json} #>> '{}')`;
const typeIs = (json: string, type: string) => `case json_typeof(${json}) when '${type}'`;

const json = ({ path, read }: Attribute) => read("", valueSql(path));

/** Reads each attribute once, as `json`. */
const figureSql: FigureSql = {
  text: (of) => `(${json(of)}::text collate "C")`,
  instant: ({ path, read }) => `(${read("d", instantSql(path, "date"))} collate "C")`,
  date(of, unit) {
    const value = json(of);
    return `((${typeIs(value, "string")} then ${dateSql(text(value), unit)} end) collate "C")`;
  },
  order: keyOrder,
  dateRank: ranks.date,
  total(kind, of) {
    const value = json(of);
    const numbers = `${typeIs(value, "number")} then ${value}::text::numeric end`;
    const [sum, count] = [`coalesce(sum(${numbers}), 0)`, `count(${numbers})`];
    const isNear = `abs(${sum}) <= ${range}`;
    if (kind === "sum") return oneColumn(sum, asNumber, [`(case when ${isNear} then ${float(sum)} end)`]);
    const average = `case when ${isNear} then ${quotient(float(sum), count)} else (${sum} / ${count})::float8 end`;
    return oneColumn(`(case when ${count} > 0 then ${average} end)`, asNumber);
  },
  kinds(of, unless) {
    const value = unless === undefined ? json(of) : `(case when ${unless} is null then ${json(of)} end)`;
    const string = `left(${text(value)}, ${sortedCodePoints})`;
    return [
      [
        `${typeIs(value, "boolean")} then (${value}::text = 'true')::integer end`,
        (truth) => String(truth === "1"),
      ],
      [`${typeIs(value, "number")} then ${value}::text::float8 end`, asNumber],
      [`${typeIs(value, "string")} then ${string} end collate "C"`, JSON.stringify],
    ];
  },
};

/** The order of values by their JSON texts. */
function keyOrder(key: string): readonly string[] {
  const value = `(${key})::json`;
  return [
    `(case json_typeof(${value}) when 'boolean' then case ${key} when 'true' then ${ranks.true} else ${ranks.false} end
      when 'number' then ${ranks.number} when 'string' then ${ranks.string} when 'array' then ${ranks.container}
      when 'object' then ${ranks.container} else ${ranks.null} end)`,
    `(${typeIs(value, "number")} then ${key}::float8 end)`,
    `(${typeIs(value, "string")} then left(${text(value)}, ${sortedCodePoints}) end collate "C")`,
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

function asNumber(value: unknown): string {
  return value === null ? "null" : numberText(Number(value));
}
