/**
 * The SQL for the figures of a list. An inner query reads the values of each resource, either from its JSON text or from
 * an index. The outer query groups them. The inner query has a limit, so that SQLite does not merge the two: the sorter of
 * the groups would then contain the JSON texts of the resources.
 */
import { type Index, nameOfKey, type SortKey } from "../../../collection/indexes.ts";
import type { Path } from "../../../collection/paths.ts";
import type { DeclaredMeaning } from "../../../collection/types/declared-types.ts";
import { ranks, sortedCodePoints } from "../../../query/sort.ts";
import { rangeIn } from "../../core/access-path.ts";
import type { NumberedCollection } from "../../core/catalogue.ts";
import {
  coveringIndex,
  type FigureColumn,
  type FigureSql,
  type FiguresOf,
  figureParts,
  numberText,
  oneColumn,
} from "../../core/figures.ts";
import { listSql, rangeSql, searchOf } from "../../core/list-sql.ts";
import { entriesTable, resourcesTable, valueColumns } from "../file/tables.ts";
import { exactTotalSql } from "./exact-totals.ts";
import { type SelectStatement, statementOf } from "./select.ts";
import { extractSql, interruptFunction, orderOf, scopeOf, sqliteLists } from "./sqlite-lists.ts";

/**
 * Sums are computed with numbers divided by this power of two. Otherwise a partial sum could exceed the range of numbers
 * although the sum does not. The division is exact for numbers that are not closer to 0 than 1e-280.
 */
const scale = 2 ** 64;

/** The statement for figures. */
export interface FiguresStatement extends SelectStatement {
  columns: readonly FigureColumn[];
}

/**
 * The statement. Its rows are groups, at most one more than the limit. It calls `interruptFunction` for one of 64 resources, because
 * the call takes as long as reading a value.
 */
export function selectFigures(collection: NumberedCollection, query: FiguresOf): FiguresStatement {
  const { number, slots } = collection;
  const interrupt = `iif(random() & 63, 1, ${interruptFunction}())`;
  const scope = scopeOf(collection, [interrupt], query.related);
  const covering = slots.find(
    ({ index }) =>
      index ===
      coveringEntries(
        query,
        slots.map((each) => each.index),
      ),
  );
  const values = covering === undefined ? textValues : entryValues(covering.index, number);
  const { columns, outputs, from, groupBy, orderBy } = figureParts(query, figureSql(values), scope);
  const source =
    covering === undefined
      ? listSql(query, searchOf(query, scope), scope)
      : {
          from: `${entriesTable(number)} as resource_entry`,
          where: `${interrupt} and ${rangeSql(rangeIn(covering, query.filter), scope)}`,
        };
  const rows = (n: number) => sqliteLists.rows(n, scope);
  const sql = `select ${outputs.join(", ")} from ${from(`from ${source.from} where ${source.where} limit -1`)}
    ${groupBy} ${groupBy && orderBy} limit ${rows(query.limit + 1)} offset ${rows(query.offset)}`;
  return { ...statementOf(sql, scope), columns };
}

/**
 * An index whose entries have all values of the figures. For a declared date, an entry has only the instant, and does not say whether it is a
 * day. For an exact number, it has nothing.
 */
function coveringEntries(query: FiguresOf, indexes: readonly Index[]): Index | undefined {
  const needsText = [...query.group, ...query.figures].some(
    (each) =>
      "as" in each &&
      each.as !== undefined &&
      !("unit" in each && each.unit !== undefined && each.zone === undefined),
  );
  return needsText ? undefined : coveringIndex(query, indexes);
}

/** The SQL of values of an attribute. */
interface Values {
  /** The rank and the value, as `orderOf` gives them. */
  ordered(path: Path): readonly [rank: string, value: string];
  /** The number; null for other values. */
  number(path: Path): string;
  /** The key of a declared date or exact number; null if it is neither. */
  meaning(path: Path, as: DeclaredMeaning): string;
  key?: NonNullable<FigureSql["key"]>;
}

/** The values in the JSON text of a resource. */
const textValues: Values = {
  ordered: (path) => orderOf(sqliteLists.type(path), extractSql(path)),
  number: (path) => sqliteLists.typed(path, "number"),
  meaning: (path, as) => sqliteLists.key(path, as),
};

/** The values in the entries of an index (`../writer/entry-tables.ts`). */
function entryValues(index: Index, number: number): Values {
  const nameOf = (key: Pick<SortKey, "path" | "as">) =>
    `resource_entry.${valueColumns[index.findIndex((each) => nameOfKey(each) === nameOfKey(key))]}`;
  return {
    ordered(path) {
      const name = nameOf({ path });
      const json = `cast(${name} as text)`;
      return [
        `case typeof(${name}) when 'text' then ${ranks.string} when 'null' then ${ranks.null} when 'blob' then
          case substr(${json}, 1, 1) when '"' then ${ranks.string} when 't' then ${ranks.true} else ${ranks.false} end
          else ${ranks.number} end`,
        `case typeof(${name}) when 'blob' then json_extract(${json}, '$') else ${name} end`,
      ];
    },
    number(path) {
      const name = nameOf({ path });
      return `iif(typeof(${name}) = 'real', ${name}, null)`;
    },
    meaning: (path, as) => nameOf({ path, as }),
    /** A number or a short string is the key. For any other value, the key is the JSON text as a blob. */
    key({ path, read }, groupBy) {
      const name = nameOf({ path });
      const json = sqliteLists.json(path);
      const whole = `(select cast(${json} as blob) from ${resourcesTable(number)} where key = resource_entry.row)`;
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

function figureSql({ ordered, number, meaning, key }: Values): FigureSql {
  return {
    text: ({ path, read }) => read("t", sqliteLists.json(path)),
    meaning: ({ path, read }, as) => read(as, meaning(path, as)),
    date({ path, read }) {
      const [rank, value] = ordered(path);
      return `holdfast_date(${read("s", `case ${rank} when ${ranks.string} then ${value} end`)})`;
    },
    unit: (moment, { unit, zone }) => `holdfast_unit(${moment}, '${unit}', '${zone ?? ""}')`,
    order: (text) => orderOf(`json_type(${text})`, `json_extract(${text}, '$')`),
    ...(key && { key }),
    total(kind, { path, read }) {
      const name = read("n", number(path));
      const sum = `total(${name} * ${1 / scale})`;
      const decode = (scaled: unknown) => (scaled === null ? "null" : numberText(Number(scaled) * scale));
      if (kind === "avg") return oneColumn(`${sum} / nullif(count(${name}), 0)`, decode);
      return oneColumn(sum, decode, [`iif(abs(${sum}) <= ${Number.MAX_VALUE / scale}, ${sum}, null)`]);
    },
    exactTotal: (kind, { path, read }) => exactTotalSql(kind, read("e", sqliteLists.typed(path, "string"))),
    /** Booleans are 0 and 1, so they are apart from numbers. SQLite sorts numbers before strings. */
    kinds({ path, read }) {
      const [type, plain] = ordered(path);
      const [rank, value] = [read("r", type), read("v", plain)];
      const of = (first: number, last: number) =>
        `case when ${rank} between ${first} and ${last} then ${value} end`;
      return [
        [of(ranks.false, ranks.true), (truth) => String(Number(truth) === 1)],
        [of(ranks.number, ranks.string), jsonOf],
      ];
    },
  };
}

function jsonOf(value: unknown): string {
  return JSON.stringify(typeof value === "bigint" ? Number(value) : value);
}
