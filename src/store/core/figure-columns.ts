/**
 * The columns of a statement for figures: group keys and figures, their sort expressions, and the functions that make their JSON
 * texts. The inner query reads the attributes of each resource. The middle one makes the group keys. The outer one groups.
 */
import { formatPath, type Path } from "../../collection/paths.ts";
import { type DateUnit, dateUnits, type Figure, type GroupKey } from "../../query/figures.ts";
import { attributesOf, type FigureColumn, type FiguresOf } from "./figures.ts";

/** An attribute. `read` adds a column to the inner query and returns its name. The same name always has the same SQL. */
export interface Attribute {
  path: Path;
  read(name: string, sql: string): string;
}

/** The values of one kind in an attribute. Null for other values. `decode` returns the JSON text of a value. */
export type ValueKind = readonly [sql: string, decode: (value: unknown) => string];

/** How the SQL of a store reads attributes. All texts sort by code points. */
export interface FigureSql {
  /** The JSON text. Null if the attribute is absent. */
  text(of: Attribute): string;
  /** The key of the instant of a declared date. Null if the value is not a date. */
  instant(of: Attribute): string;
  /** The beginning of a date in a string. Null for other values. */
  date(of: Attribute, unit: DateUnit): string;
  /** The expressions that sort by the value of a JSON text. The first one is the rank of its type. */
  order(text: string): readonly string[];
  /** The rank of declared dates. */
  dateRank: number;
  /** Makes the group key in another way than from the JSON text. @default the JSON text */
  key?(of: Attribute, groupBy: (text: string) => string): FigureColumn;
  /** The sum or the average of the numbers. */
  total(kind: "sum" | "avg", of: Attribute): FigureColumn;
  /** The kinds of values that have a minimum and a maximum, in their order. Null for resources in which `unless` is not null. */
  kinds(of: Attribute, unless?: string): readonly ValueKind[];
}

/** The parts of the statement for figures. A clause is empty if there is nothing to group or to sort by. */
export function figureParts(query: FiguresOf, sql: FigureSql) {
  const inner = new Map<string, string>();
  const keyTexts: string[] = [];
  const groupBy = (text: string) => `k${keyTexts.push(text) - 1}`;
  const names = attributesOf(query).map(formatPath);
  const attributeOf = ({ path }: { path: Path }): Attribute => ({
    path,
    read(name, text) {
      const whole = `a${names.indexOf(formatPath(path))}${name}`;
      inner.set(whole, text);
      return whole;
    },
  });
  const keys = query.group.map((key) => keyColumn(sql, key, attributeOf(key), groupBy));
  const figures = query.figures.map((figure) =>
    figure.kind === "count" ? oneColumn("count(*)", String) : figureColumn(sql, figure, attributeOf(figure)),
  );
  const orderBy = ({ order }: FigureColumn, descending = false) =>
    order.map((each) => `${each} ${descending ? "desc nulls last" : "asc nulls first"}`);
  const order = [
    ...query.sort.flatMap(({ of, place, descending }) =>
      orderBy((of === "group" ? keys : figures)[place] as FigureColumn, descending),
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

function keyColumn(sql: FigureSql, key: GroupKey, of: Attribute, groupBy: GroupBy): FigureColumn {
  if (key.as !== undefined) return instantColumn(sql, key.unit, of, groupBy);
  if (key.unit !== undefined) return oneColumn(groupBy(sql.date(of, key.unit)), JSON.stringify);
  if (sql.key !== undefined) return sql.key(of, groupBy);
  const text = groupBy(sql.text(of));
  return oneColumn(text, decodeText, [...sql.order(text), text]);
}

/** A declared date as a group key: the mark `@` and the key of its instant. Any other value has its JSON text. */
function instantColumn(
  sql: FigureSql,
  unit: DateUnit | undefined,
  of: Attribute,
  groupBy: GroupBy,
): FigureColumn {
  const instant = sql.instant(of);
  if (unit !== undefined) {
    // The key begins with the day and time in UTC, or with a mark for a year that no text can have.
    const isUsual = `${instant} not like '-%' and ${instant} not like '~%'`;
    const beginning = `substr(${instant}, 1, ${dateUnits[unit]})`;
    return oneColumn(groupBy(`(case when ${isUsual} then ${beginning} end)`), JSON.stringify);
  }
  const text = sql.text(of);
  const key = groupBy(`(case when ${instant} is null then ${text} else '@' || ${instant} end)`);
  const isInstant = `substr(${key}, 1, 1) = '@'`;
  const [rank, ...others] = sql.order(`(case when ${isInstant} then null else ${key} end)`);
  const order = [`(case when ${isInstant} then ${sql.dateRank} else ${rank} end)`, ...others, key];
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
  if (figure.kind === "sum" || figure.kind === "avg") return sql.total(figure.kind, of);
  return figure.as === undefined ? extremeColumn(sql, figure.kind, of) : extremeInstant(sql, figure.kind, of);
}

type Extreme = "min" | "max";

/** The minimum is of the first kind of value that occurs, and the maximum of the last kind. */
function extremeColumn(sql: FigureSql, extreme: Extreme, of: Attribute, unless?: string): FigureColumn {
  const kinds = sql.kinds(of, unless);
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

/** The first or last instant of a declared date. It sorts after all values that are not dates, and keeps its JSON text. */
function extremeInstant(sql: FigureSql, extreme: Extreme, of: Attribute): FigureColumn {
  const instant = sql.instant(of);
  const others = extremeColumn(sql, extreme, of, instant);
  const found = `${extreme}(${instant} || ' ' || ${sql.text(of)})`;
  const [rank = "", ...rest] = others.order;
  const isInstant = `${found} is not null${extreme === "max" ? "" : ` and ${rank} = 0`}`;
  const dated = (then: string, other: string) => `(case when ${isInstant} then ${then} else ${other} end)`;
  return {
    output: [dated(found, "null"), ...others.output],
    order: [dated("9", rank), dated(found, "null"), ...rest.map((each) => dated("null", each))],
    decode([extreme, ...values]) {
      return extreme === null
        ? others.decode(values)
        : String(extreme).slice(String(extreme).indexOf(" ") + 1);
    },
  };
}
