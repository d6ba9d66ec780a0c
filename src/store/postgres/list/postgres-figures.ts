/**
 * The statement for the figures of a list, and the head of the collection from the same snapshot. An inner query reads each
 * attribute once. It has an offset, so that the database does not merge it with the query that groups.
 */
import { averageScale, isExactSql } from "../../../collection/exact-numbers.ts";
import { type TimeZone, timeZone } from "../../../collection/time-zones.ts";
import { dateSql } from "../../../collection/types/date.ts";
import { dateUnits } from "../../../query/figures.ts";
import { sortedCodePoints } from "../../../query/sort.ts";
import {
  type Attribute,
  type FigureColumn,
  type FigureSql,
  type FiguresOf,
  figureParts,
  groupsIn,
  numberText,
  oneColumn,
  type UnitKey,
} from "../../core/figures.ts";
import { bind, type Scope, searchOf } from "../../core/list-sql.ts";
import { wordsIncomplete } from "../../core/search-index.ts";
import { toPlace } from "../../port/log-place.ts";
import { type Figures, maxPageBytes } from "../../port/page.ts";
import type { Row, Statement } from "../connection/connections.ts";
import { type NumberedCollection, requireDeclared } from "../tables/declared-catalogue.ts";
import { areWordsComplete, declaredSql, sourceSql } from "./page-statements.ts";
import { meaningSql, orderOf, scopeOf, valueSql } from "./postgres-lists.ts";

/** The statement for figures. */
export interface FiguresStatement extends Statement {
  columns: readonly FigureColumn[];
}

/** The columns of the head: sequence, number of the declaration, whether the search words are complete, and whether a group follows. */
const headColumns = 4;

/** The statement. Its rows are groups, at most one more than the limit. Without groups, it has one row without a group. */
export function selectFigures(collection: NumberedCollection, query: FiguresOf): FiguresStatement {
  const { number } = collection;
  const { limit, offset, related } = query;
  const scope = scopeOf(collection, related);
  const search = searchOf(query, scope);
  const { columns, outputs, from, groupBy, orderBy } = figureParts(query, figureSql, scope);
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
      ${areWordsComplete}, page.place, ${outs.map((out) => `page.${out}`).join(", ")}
    from holdfast_heads as head
      left join (select * from (${page}) as page where bytes_before <= ${maxPageBytes} or place <= ${offset + 2}) as page on true
    where head.number = ${number} order by page.place`;
  return { sql, values: scope.values, columns };
}

/** The figures from the rows of the statement. Throws Redeclared, and UNAVAILABLE while the search words are incomplete. */
export function toFigures(
  collection: NumberedCollection,
  { limit, words }: FiguresOf,
  columns: readonly FigureColumn[],
  rows: readonly Row[],
): Figures {
  const [sequence, declared, isComplete] = rows[0] ?? [];
  requireDeclared(collection, declared);
  if (words !== undefined && isComplete !== "t") throw wordsIncomplete();
  const found = rows.filter((row) => row[headColumns - 1] !== null).map((row) => row.slice(headColumns));
  return { ...groupsIn(found, columns, limit), sequence: toPlace(Number(sequence)) };
}

const text = (json: string) => `(${json} #>> '{}')`;
const typeIs = (json: string, type: string) => `case json_typeof(${json}) when '${type}'`;

const json = ({ path, read }: Attribute) => read("", valueSql(path));

/** So many years more have the same weekdays, and at least four digits. The database has no year 0. */
const moreYears = 2_000;

function unitSql(moment: string, { unit, zone }: UnitKey, scope: Scope): string {
  const length = dateUnits[unit];
  const time = `((substr(moment, 1, 4)::integer + ${moreYears})::text || substr(moment, 5))::timestamp`;
  const local = zone === undefined ? time : `${time} + ${offsetSql(timeZone(zone) as TimeZone, scope)}`;
  const start = unit === "week" ? `date_trunc('week', ${local})` : local;
  const year = `extract(year from start)::integer - ${moreYears}`;
  const text = `lpad((${year})::text, 4, '0') || to_char(start, '-MM-DD"T"HH24:MI')`;
  return `((select case when ${year} between 0 and 9999 then left(${text}, ${length}) end
    from (select ${start} as start from (select ${moment} as moment offset 0) as given offset 0) as started) collate "C")`;
}

/** The offset of a zone at `moment`. A day has none. */
function offsetSql({ changes, offsets }: TimeZone, scope: Scope): string {
  const texts = changes.map((seconds) => new Date(seconds * 1_000).toISOString().slice(0, 19));
  const place =
    texts.length === 0 ? "1" : `width_bucket(moment collate "C", ${bind(scope, texts, "text[]")}) + 1`;
  const seconds = `(${bind(scope, offsets.map(String), "text[]")})[${place}]::integer`;
  return `case when length(moment) = ${dateUnits.day} then interval '0' else ${seconds} * interval '1 second' end`;
}

/** Reads each attribute once, as `json`. */
const figureSql: FigureSql = {
  text: (of) => `(${json(of)}::text collate "C")`,
  meaning: ({ path, read }, as) => `(${read(as, meaningSql(path, as))} collate "C")`,
  date(of) {
    const value = json(of);
    return `((${typeIs(value, "string")} then ${dateSql(text(value))} end) collate "C")`;
  },
  unit: unitSql,
  order: (key) => orderOf(`json_typeof((${key})::json)`, text(`(${key})::json`)),
  total(kind, of) {
    const value = json(of);
    const numbers = `${typeIs(value, "number")} then ${value}::text::numeric end`;
    const [sum, count] = [`coalesce(sum(${numbers}), 0)`, `count(${numbers})`];
    const isNear = `abs(${sum}) <= ${range}`;
    if (kind === "sum") return oneColumn(sum, asNumber, [`(case when ${isNear} then ${float(sum)} end)`]);
    const average = `case when ${isNear} then ${quotient(float(sum), count)} else (${sum} / ${count})::float8 end`;
    return oneColumn(`(case when ${count} > 0 then ${average} end)`, asNumber);
  },
  exactTotal(kind, of) {
    const value = text(json(of));
    const numbers = `case when ${typeIs(json(of), "string")} then ${isExactSql(value)} end then ${value}::numeric end`;
    const [sum, count] = [`coalesce(sum(${numbers}), 0)`, `count(${numbers})`];
    if (kind === "sum") return { text: `${sum}::text`, order: sum };
    // Rounds halves away from zero. The division of PostgreSQL is not exact for numbers with many digits.
    const unit = `1${"0".repeat(averageScale)}::numeric`;
    const rounded = `sign(${sum}) * div(abs(${sum}) * 2 * ${unit} + ${count}, 2 * ${count}) * 0.${"0".repeat(averageScale - 1)}1`;
    const average = `(case when ${count} > 0 then ${rounded} end)`;
    return { text: `trim_scale(${average})::text`, order: average };
  },
  kinds(of) {
    const value = json(of);
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
