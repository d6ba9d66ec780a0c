/**
 * The SQL for the figures of a list. An inner query reads the values of each resource, either from its JSON text or from
 * an index. The outer query groups them. The inner query has a limit, so that SQLite does not merge the two: the sorter of
 * the groups would then contain the JSON texts of the resources.
 */
import type { SQLInputValue } from "node:sqlite";
import type { Path } from "../../../collection/paths.ts";
import { type DateUnit, dateUnits } from "../../../query/figures.ts";
import { sortedCodePoints } from "../../../query/sort.ts";
import { type Attribute, type FigureSql, figureParts, oneColumn } from "../../core/figure-columns.ts";
import { coveringIndex, type FigureColumn, type FiguresOf, numberText } from "../../core/figures.ts";
import { either, every } from "../../core/filter-sql.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { computedColumn, extractSql, ranks, textSql, typeSql } from "./columns.ts";
import { dayPattern, instantSql } from "./instants.ts";
import { type SelectStatement, sourceOf } from "./select.ts";

/**
 * Sums are computed with numbers divided by this power of two. Otherwise a partial sum could exceed the range of numbers
 * although the sum does not. The division is exact for numbers that are not closer to 0 than 1e-280.
 */
const scale = 2 ** 64;

/** The statement for figures. */
export interface FiguresStatement extends SelectStatement {
  columns: readonly FigureColumn[];
}

/** The statement. Its rows are groups, at most one more than the limit. */
export function selectFigures(collection: NumberedCollection, query: FiguresOf): FiguresStatement {
  const index = coveringIndex(query, collection.indexes);
  const { columns, outputs, from, groupBy, orderBy } = figureParts(query, figureSql(index !== undefined));
  const { from: source, where, values } = sourceOf(collection, query, index);
  const sql = `select ${outputs.join(", ")} from ${from(`${source} where ${where} limit -1`)}
    ${groupBy} ${groupBy && orderBy} limit ? offset ?`;
  return { sql, values: [...values, query.limit + 1, query.offset] as SQLInputValue[], columns };
}

/** Reads attributes from the JSON text of a resource, or from an index that has their columns. */
function figureSql(isIndexed: boolean): FigureSql {
  return {
    text: ({ path, read }) => read("t", textSql(path)),
    instant: ({ path, read }) => read("d", instantOf(path, isIndexed)),
    date({ path, read }, unit) {
      const { rank, value } = computedColumn({ path });
      return dateSql(read("s", `case ${rank} when ${ranks.string} then ${value} end`), unit);
    },
    order: (text) => orderOf(`json_type(${text})`, `json_extract(${text}, '$')`),
    dateRank: ranks.date,
    ...(isIndexed && { key: indexedKeyColumn }),
    total(kind, { path, read }) {
      const number = read("n", numberSql(path, isIndexed));
      const sum = `total(${number} * ${1 / scale})`;
      const decode = (scaled: unknown) => (scaled === null ? "null" : numberText(Number(scaled) * scale));
      if (kind === "avg") return oneColumn(`${sum} / nullif(count(${number}), 0)`, decode);
      return oneColumn(sum, decode, [`iif(abs(${sum}) <= ${Number.MAX_VALUE / scale}, ${sum}, null)`]);
    },
    /** Booleans are 0 and 1, so they are apart from numbers. SQLite sorts numbers before strings. */
    kinds({ path, read }, unless) {
      const column = computedColumn({ path });
      const [type, value] = [read("r", column.rank), read("v", column.value)];
      const rank = unless === undefined ? type : `iif(${unless} is null, ${type}, null)`;
      return [
        [`case ${rank} when ${ranks.boolean} then ${value} end`, (truth) => String(Number(truth) === 1)],
        [`case when ${rank} in (${ranks.number}, ${ranks.string}) then ${value} end`, jsonOf],
      ];
    },
  };
}

function jsonOf(value: unknown): string {
  return JSON.stringify(typeof value === "bigint" ? Number(value) : value);
}

/** The key of the instant of a declared date; null if it is not a date. An index contains it. */
function instantOf(path: Path, isIndexed: boolean): string {
  if (!isIndexed) return instantSql(path, "date");
  const { rank, value } = computedColumn({ path, as: "date" });
  return `case ${rank} when ${ranks.date} then ${value} end`;
}

/**
 * A group key from an index. The index has the complete value of a number or a short string, which then is the key. For any
 * other value, the key is the JSON text as a blob.
 */
function indexedKeyColumn({ path, read }: Attribute, groupBy: (text: string) => string): FigureColumn {
  const { rank, value } = computedColumn({ path });
  const json = `cast(${textSql(path)} as blob)`;
  const found = `case ${rank} when ${ranks.number} then ${value}
      when ${ranks.string} then iif(length(${value}) < ${sortedCodePoints}, ${value}, ${json}) else ${json} end`;
  const key = groupBy(read("k", found));
  const text = `cast(${key} as text)`;
  const type = `case typeof(${key}) when 'blob' then json_type(${text}) else typeof(${key}) end`;
  const plain = `case typeof(${key}) when 'blob' then json_extract(${text}, '$') else ${key} end`;
  const decode = (found: unknown) =>
    found instanceof Uint8Array ? Buffer.from(found).toString() : jsonOf(found);
  return oneColumn(key, (found) => (found === null ? undefined : decode(found)), [
    ...orderOf(type, plain),
    key,
  ]);
}

/** The order of values, by the name of their JSON type. */
function orderOf(type: string, value: string): readonly [rank: string, value: string] {
  return [
    `case ${type} when 'true' then ${ranks.boolean} when 'false' then ${ranks.boolean}
      when 'integer' then ${ranks.number} when 'real' then ${ranks.number} when 'text' then ${ranks.string}
      when 'array' then ${ranks.container} when 'object' then ${ranks.container} else ${ranks.null} end`,
    `case ${type} when 'text' then substr(${value}, 1, ${sortedCodePoints}) when 'array' then null
      when 'object' then null else ${value} end`,
  ];
}

/** The beginning of a date; null for other texts. SQLite's own dates have many more forms. */
function dateSql(text: string, unit: DateUnit): string {
  const [day, fraction] = [`substr(${text}, 1, 10)`, `substr(${text}, 20, length(${text}) - 20)`];
  const isFraction = `${fraction} glob '.[0-9]*' and length(${fraction}) <= 10 and ${fraction} not glob '.*[^0-9]*'`;
  const isTime = every([
    `${text} glob '${dayPattern}T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]*Z'`,
    `substr(${text}, 12, 2) <= '23'`,
    either([`${fraction} = ''`, isFraction]),
  ]);
  const timed = `iif(${isTime}, ${text}, iif(${text} = ${day}, ${text} || 'T00:00', null))`;
  const isDay = `date(${day}) = ${day}`;
  return `iif(${isDay}, substr(${timed}, 1, ${dateUnits[unit]}), null)`;
}

/** The number in an attribute; null for other values. An index has the columns of the attribute. */
function numberSql(path: Path, isIndexed: boolean): string {
  const { rank, value } = computedColumn({ path });
  if (isIndexed) return `case ${rank} when ${ranks.number} then ${value} end`;
  const whole = extractSql(path);
  return `case ${typeSql(path)} when 'integer' then ${whole} when 'real' then ${whole} end`;
}
