/**
 * The SQL for the figures of a list. An inner query reads the values of each resource, either from its JSON text or from
 * an index. The outer query groups them. The inner query has a limit, so that SQLite does not merge the two: the sorter of
 * the groups would then contain the JSON texts of the resources.
 */
import type { SQLInputValue } from "node:sqlite";
import type { Index } from "../../../collection/indexes.ts";
import { formatPath, type Path } from "../../../collection/paths.ts";
import { type DateUnit, dateUnits, type Figure, type GroupKey } from "../../../query/figures.ts";
import { sortedCodePoints } from "../../../query/sort.ts";
import { attributesOf, type FigureColumn, type FiguresOf, numberText } from "../../core/figures.ts";
import { either, every } from "../../core/filter-sql.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { computedColumn, extractSql, quoteText, ranks, textSql, typeSql } from "./columns.ts";
import { instantSql } from "./instants.ts";
import { type SelectStatement, sourceOf } from "./select.ts";

/**
 * Sums are computed with numbers divided by this power of two. Otherwise a partial sum could exceed the range of numbers
 * although the sum does not. The division is exact for numbers that are not closer to 0 than 1e-280.
 */
const scale = 2 ** 64;

/** The SQL of one group key or figure. */
interface Column extends FigureColumn<unknown> {
  /** The columns that the inner query adds, with their names. */
  inner: readonly string[];
  /** The columns of `inner` to group by. */
  groupBy: readonly string[];
  /** The expressions that sort by it. Null comes first. */
  order: readonly string[];
}

/** The statement for figures. */
export interface FiguresStatement extends SelectStatement {
  columns: readonly Column[];
}

/** The statement. Its rows are groups, at most one more than the limit. */
export function selectFigures(collection: NumberedCollection, query: FiguresOf): FiguresStatement {
  const index = undefined as Index | undefined;
  const keys = query.group.map((key, n) => keyColumn(key, `k${n}`, index));
  const paths = attributesOf({ ...query, group: [] }).map(formatPath);
  const figures = query.figures.map((figure) =>
    figureColumn(
      figure,
      "path" in figure ? `f${paths.indexOf(formatPath(figure.path))}` : "",
      index !== undefined,
    ),
  );
  const columns = [...keys, ...figures];
  const { from, where, values } = sourceOf(collection, query);
  const inner = [...new Set(columns.flatMap((each) => each.inner))];
  const groupBy = keys.flatMap((each) => each.groupBy);
  const sorted = query.sort.flatMap(({ of, place, descending }) => {
    const column = (of === "group" ? keys : figures)[place] as Column;
    return column.order.map((sql) => `${sql}${descending ? " desc" : ""}`);
  });
  const order = [...sorted, ...keys.flatMap((each) => each.order)];
  const sql = `select ${columns.flatMap((each) => each.output).join(", ")}
    from (select ${inner.length === 0 ? "1" : inner.join(", ")} from ${from} where ${where} limit -1)
    ${groupBy.length === 0 ? "" : `group by ${groupBy.join(", ")} order by ${order.join(", ")}`}
    limit ? offset ?`;
  return { sql, values: [...values, query.limit + 1, query.offset] as SQLInputValue[], columns };
}

function keyColumn({ path, unit, as }: GroupKey, name: string, index: Index | undefined): Column {
  if (as !== undefined) return instantColumn(path, unit, name, index !== undefined);
  if (unit !== undefined) return dateColumn(path, unit, name);
  if (index !== undefined) return indexedKeyColumn(path, name);
  return {
    inner: [`${textSql(path)} as ${name}`],
    groupBy: [name],
    output: [name],
    order: [...orderOf(`json_type(${name})`, `json_extract(${name}, '$')`), name],
    decode: ([text]) => (text === null ? undefined : String(text)),
  };
}

/** The key of the instant of a declared date; null if it is not a date. An index contains it. */
function instantOf(path: Path, isIndexed: boolean): string {
  if (!isIndexed) return instantSql(path, "date");
  const { rank, value } = computedColumn({ path, as: "date" });
  return `case ${rank} when ${ranks.date} then ${value} end`;
}

/** A declared date as a group key. The key of an instant begins with its day and time in UTC. */
function instantColumn(path: Path, unit: DateUnit | undefined, name: string, isIndexed: boolean): Column {
  const instant = instantOf(path, isIndexed);
  if (unit !== undefined)
    return {
      inner: [`${instant} as ${name}d`],
      groupBy: [beginningOf(`${name}d`, unit)],
      output: [beginningOf(`${name}d`, unit)],
      order: [beginningOf(`${name}d`, unit)],
      decode: ([text]) => JSON.stringify(text),
    };
  const [key, text] = [`${name}d`, `${name}t`];
  const other = `iif(${key} is null, ${text}, null)`;
  const [rank, value] = orderOf(`json_type(${other})`, `json_extract(${other}, '$')`);
  return {
    inner: [`${instant} as ${key}`, `${textSql(path)} as ${text}`],
    groupBy: [key, other],
    output: [`min(${text})`],
    order: [`iif(${key} is null, ${rank}, ${ranks.date})`, `coalesce(${key}, ${value})`, other],
    decode: ([found]) => (found === null ? undefined : String(found)),
  };
}

/** The beginning of an instant; null for a year that no text can have. */
function beginningOf(key: string, unit: DateUnit): string {
  return `iif(${key} glob '[0-9]*', substr(${key}, 1, ${dateUnits[unit]}), null)`;
}

/**
 * A group key from an index. The index has the complete value of a number or a short string, which then is the key. For any
 * other value, the key is the JSON text as a blob.
 */
function indexedKeyColumn(path: Path, name: string): Column {
  const { rank, value } = computedColumn({ path });
  const json = `cast(${textSql(path)} as blob)`;
  const text = `cast(${name} as text)`;
  const type = `case typeof(${name}) when 'blob' then json_type(${text}) else typeof(${name}) end`;
  const plain = `case typeof(${name}) when 'blob' then json_extract(${text}, '$') else ${name} end`;
  return {
    inner: [
      `case ${rank} when ${ranks.number} then ${value}
        when ${ranks.string} then iif(length(${value}) < ${sortedCodePoints}, ${value}, ${json}) else ${json} end as ${name}`,
    ],
    groupBy: [name],
    output: [name],
    order: [...orderOf(type, plain), name],
    decode([found]) {
      if (found === null) return undefined;
      if (found instanceof Uint8Array) return Buffer.from(found).toString();
      return JSON.stringify(typeof found === "bigint" ? Number(found) : found);
    },
  };
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

function dateColumn(path: Path, unit: DateUnit, name: string): Column {
  const { rank, value } = computedColumn({ path });
  return {
    inner: [`case ${rank} when ${ranks.string} then ${dateSql(value, unit)} end as ${name}`],
    groupBy: [name],
    output: [name],
    order: [name],
    decode: ([text]) => JSON.stringify(text),
  };
}

const digits = (count: number) => "[0-9]".repeat(count);
const dayPattern = `${digits(4)}-${digits(2)}-${digits(2)}`;
const timePattern = `T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]`;

/** The beginning of a date; null for other texts. SQLite's own dates have many more forms. */
function dateSql(value: string, unit: DateUnit): string {
  const day = `substr(${value}, 1, 10)`;
  const fraction = `substr(${value}, 21, length(${value}) - 21)`;
  const hasFraction = every([
    `${value} glob '${dayPattern}${timePattern}.*'`,
    `length(${value}) between 22 and 30`,
    `${fraction} not glob '*[^0-9]*'`,
  ]);
  const isTime = every([
    `${value} glob '${dayPattern}${timePattern}*Z'`,
    `substr(${value}, 12, 2) <= '23'`,
    either([`length(${value}) = 20`, hasFraction]),
  ]);
  const ofDay =
    dateUnits[unit] <= 10
      ? `substr(${value}, 1, ${dateUnits[unit]})`
      : `${day} || ${quoteText("T00:00".slice(0, dateUnits[unit] - 10))}`;
  return `case when ${value} glob '${dayPattern}' then iif(date(${value}) = ${value}, ${ofDay}, null)
    when ${isTime} then iif(date(${day}) = ${day}, substr(${value}, 1, ${dateUnits[unit]}), null) end`;
}

function figureColumn(figure: Figure, name: string, isIndexed: boolean): Column {
  if (figure.kind === "count") return ungrouped([], ["count(*)"], ["count(*)"], ([count]) => String(count));
  const { path } = figure;
  const number = `${name}n`;
  const numbers = [`${numberSql(path, isIndexed)} as ${number}`];
  const sum = `total(${number} * ${1 / scale})`;
  switch (figure.kind) {
    case "sum": {
      const sorted = `iif(abs(${sum}) <= ${Number.MAX_VALUE / scale}, ${sum}, null)`;
      return ungrouped(numbers, [sum], [sorted], ([scaled]) => numberText(Number(scaled) * scale));
    }
    case "avg": {
      const average = `${sum} / nullif(count(${number}), 0)`;
      return ungrouped(numbers, [average], [average], ([scaled]) =>
        scaled === null ? "null" : numberText(Number(scaled) * scale),
      );
    }
    case "min":
    case "max":
      return figure.as === undefined
        ? extremeColumn(figure.kind, path, name)
        : extremeInstant(figure.kind, path, name, isIndexed);
  }
}

/** The number in an attribute; null for other values. An index has the columns of the attribute. */
function numberSql(path: Path, isIndexed: boolean): string {
  const { rank, value } = computedColumn({ path });
  if (isIndexed) return `case ${rank} when ${ranks.number} then ${value} end`;
  const whole = extractSql(path);
  return `case ${typeSql(path)} when 'integer' then ${whole} when 'real' then ${whole} end`;
}

/** Booleans are 0 and 1, so they are apart from numbers. SQLite sorts numbers before strings. */
function extremeColumn(
  kind: "min" | "max",
  path: Path,
  name: string,
  { rank, value } = computedColumn({ path }),
): Column {
  const [r, v] = [`${name}r`, `${name}v`];
  const boolean = `${kind}(case ${r} when ${ranks.boolean} then ${v} end)`;
  const other = `${kind}(case when ${r} in (${ranks.number}, ${ranks.string}) then ${v} end)`;
  const isBoolean = kind === "min" ? `${boolean} is not null` : `${other} is null`;
  return ungrouped(
    [`${rank} as ${r}`, `${value} as ${v}`],
    [boolean, other],
    [
      `case when coalesce(${boolean}, ${other}) is null then 0 when ${isBoolean} then 1 else 2 end`,
      `iif(${isBoolean}, ${boolean}, ${other})`,
    ],
    ([truth, found]) => {
      if (truth !== null && (kind === "min" || found === null)) return String(Number(truth) === 1);
      return JSON.stringify(typeof found === "bigint" ? Number(found) : found);
    },
  );
}

/** The first or last instant of a declared date. It sorts after all values that are not dates, and keeps its JSON text. */
function extremeInstant(kind: "min" | "max", path: Path, name: string, isIndexed: boolean): Column {
  const { rank, value } = computedColumn({ path });
  const [key, text] = [`${name}d`, `${name}t`];
  const instant = instantOf(path, isIndexed);
  const others = extremeColumn(kind, path, `${name}o`, {
    rank: `iif(${instant} is null, ${rank}, null)`,
    value,
  });
  const found = `${kind}(${key} || ' ' || ${text})`;
  const isInstant =
    kind === "max" ? `${found} is not null` : `(${found} is not null and ${others.order[0]} = 0)`;
  return ungrouped(
    [`${instant} as ${key}`, `${textSql(path)} as ${text}`, ...others.inner],
    [`iif(${isInstant}, ${found}, null)`, ...others.output],
    [`iif(${isInstant}, 3, ${others.order[0]})`, `iif(${isInstant}, ${found}, ${others.order[1]})`],
    ([extreme, ...rest]) => {
      if (extreme === null) return others.decode(rest);
      return String(extreme).slice(String(extreme).indexOf(" ") + 1);
    },
  );
}

function ungrouped(
  inner: readonly string[],
  output: readonly string[],
  order: readonly string[],
  decode: Column["decode"],
): Column {
  return { inner, groupBy: [], output, order, decode };
}
