/**
 * The SQL for the figures of a list. An inner query reads the values of each resource, either from its JSON text or from
 * an index. The outer query groups them. The inner query has a limit, so that SQLite does not merge the two: the sorter of
 * the groups would then contain the JSON texts of the resources.
 */
import type { SQLInputValue } from "node:sqlite";
import { type Index, nameOfKey, type SortKey } from "../../../collection/indexes.ts";
import type { Path } from "../../../collection/paths.ts";
import { type DateUnit, dateUnits } from "../../../query/figures.ts";
import { sortedCodePoints } from "../../../query/sort.ts";
import {
  coveringIndex,
  type FigureColumn,
  type FigureSql,
  type FiguresOf,
  figureParts,
  numberText,
  oneColumn,
} from "../../core/figures.ts";
import { either, every } from "../../core/filter-sql.ts";
import type { Slot } from "../../core/ranges.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { resourcesTable, valueColumns } from "../file/tables.ts";
import { type Column, computedColumn, extractSql, ranks, textSql, typeSql } from "./conditions.ts";
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
  const index = coveringEntries(query, collection.slots);
  const values = index === undefined ? textValues : entryValues(index, collection.number);
  const { columns, outputs, from, groupBy, orderBy } = figureParts(query, figureSql(values));
  const { from: source, where, values: found } = sourceOf(collection, query, index);
  const sql = `select ${outputs.join(", ")} from ${from(`from ${source} where ${where} limit -1`)}
    ${groupBy} ${groupBy && orderBy} limit +? offset +?`;
  return { sql, values: [...found, query.limit + 1, query.offset] as SQLInputValue[], columns };
}

/** An index whose entries have all values of the figures. For a declared date, an entry has only the instant. */
function coveringEntries(query: FiguresOf, slots: readonly Slot[]): Index | undefined {
  const isText = (each: { as?: "date" | undefined; unit?: DateUnit | undefined }) =>
    each.as !== undefined && each.unit === undefined;
  if (query.group.some(isText) || query.figures.some((each) => "path" in each && isText(each)))
    return undefined;
  return coveringIndex(
    query,
    slots.map(({ index }) => index),
  );
}

/** The SQL of values of an attribute. */
interface Values {
  column(path: Path): Column;
  /** The number; null for other values. */
  number(path: Path): string;
  /** The key of the instant of a declared date; null if it is not a date. */
  instant(path: Path): string;
  key?: NonNullable<FigureSql["key"]>;
}

/** The values in the JSON text of a resource. */
const textValues: Values = {
  column: (path) => computedColumn({ path }),
  number(path) {
    const whole = extractSql(path);
    return `case ${typeSql(path)} when 'integer' then ${whole} when 'real' then ${whole} end`;
  },
  instant: (path) => instantSql(path, "date"),
};

/** The values in the entries of an index (`../writer/entry-tables.ts`). */
function entryValues(index: Index, number: number): Values {
  const nameOf = (key: Pick<SortKey, "path" | "as">) =>
    `entry.${valueColumns[index.findIndex((each) => nameOfKey(each) === nameOfKey(key))]}`;
  return {
    column(path) {
      const name = nameOf({ path });
      const json = `cast(${name} as text)`;
      return {
        rank: `case typeof(${name}) when 'blob' then iif(substr(${json}, 1, 1) = '"', ${ranks.string}, ${ranks.boolean})
          when 'text' then ${ranks.string} when 'null' then ${ranks.null} else ${ranks.number} end`,
        value: `case typeof(${name}) when 'blob' then json_extract(${json}, '$') else ${name} end`,
      };
    },
    number(path) {
      const name = nameOf({ path });
      return `iif(typeof(${name}) = 'real', ${name}, null)`;
    },
    instant: (path) => nameOf({ path, as: "date" }),
    /** A number or a short string is the key. For any other value, the key is the JSON text as a blob. */
    key({ path, read }, groupBy) {
      const name = nameOf({ path });
      const whole = `(select cast(${textSql(path)} as blob) from ${resourcesTable(number)} where key = entry.row)`;
      const isCut = `typeof(${name}) = 'blob' and octet_length(${name}) >= ${sortedCodePoints}`;
      const key = groupBy(read("k", `iif(${name} is null or ${isCut}, ${whole}, ${name})`));
      const text = `cast(${key} as text)`;
      const type = `case typeof(${key}) when 'blob' then json_type(${text}) else typeof(${key}) end`;
      const plain = `case typeof(${key}) when 'blob' then json_extract(${text}, '$') else ${key} end`;
      const decode = (found: unknown) =>
        found instanceof Uint8Array ? Buffer.from(found).toString() : jsonOf(found);
      return oneColumn(key, (found) => (found === null ? undefined : decode(found)), [
        ...orderOf(type, plain),
        key,
      ]);
    },
  };
}

function figureSql(values: Values): FigureSql {
  return {
    text: ({ path, read }) => read("t", textSql(path)),
    instant: ({ path, read }) => read("d", values.instant(path)),
    date({ path, read }, unit) {
      const { rank, value } = values.column(path);
      return dateSql(read("s", `case ${rank} when ${ranks.string} then ${value} end`), unit);
    },
    order: (text) => orderOf(`json_type(${text})`, `json_extract(${text}, '$')`),
    dateRank: ranks.date,
    ...(values.key && { key: values.key }),
    total(kind, { path, read }) {
      const number = read("n", values.number(path));
      const sum = `total(${number} * ${1 / scale})`;
      const decode = (scaled: unknown) => (scaled === null ? "null" : numberText(Number(scaled) * scale));
      if (kind === "avg") return oneColumn(`${sum} / nullif(count(${number}), 0)`, decode);
      return oneColumn(sum, decode, [`iif(abs(${sum}) <= ${Number.MAX_VALUE / scale}, ${sum}, null)`]);
    },
    /** Booleans are 0 and 1, so they are apart from numbers. SQLite sorts numbers before strings. */
    kinds({ path, read }, unless) {
      const column = values.column(path);
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
