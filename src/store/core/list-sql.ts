/**
 * The SQL of lists that all stores share: how resources are found, filtered and sorted. The SQL of a filter is true for exactly the
 * resources that `matches` accepts. For other resources it is false or null, and `not` must treat null as false. Each kind of store
 * has its own `ListDialect`.
 */

import type { IdKind } from "../../collection/ids.ts";
import { formatPath, isIdPath, type Path } from "../../collection/paths.ts";
import type { Meaning } from "../../collection/types/declared-types.ts";
import {
  type AttributeSql,
  type Condition,
  type OrderingKind,
  rowOf,
  type Scalar,
} from "../../query/conditions.ts";
import {
  type Comparison,
  matchesAll,
  type Operand,
  type RelatedCondition,
  type StoreFilter,
} from "../../query/filter.ts";
import type { SearchTerms } from "../../query/search-words.ts";
import {
  type CursorValues,
  hasKey,
  hasRelatedKeys,
  isIdKey,
  rankOf,
  ranks,
  type SortValue,
  type StoreSortKey,
} from "../../query/sort.ts";
import { isStorable } from "../port/stored.ts";
import type { Dialect } from "../sql/dialect.ts";
import { accessPathOf, conjunctsOf, keysToId, type Range, type Scan, scanOf } from "./access-path.ts";
import { builtIndexes, type NumberedCollection } from "./catalogue.ts";
import { type GroupsQuery, type PageQuery, type RelatedCollections, relatedCollection } from "./related.ts";
import { searchFor } from "./search-index.ts";

/** The type of a parameter. */
export type ParameterType = "text" | "text[]" | "float8" | "bytea" | "bytea[]";

/** The operators of SQL. */
export const comparisons: Readonly<Record<OrderingKind, string>> = { gt: ">", gte: ">=", lt: "<", lte: "<=" };

/** One expression that a list is ordered by. */
export interface OrderTerm {
  sql: string;
  descending: boolean;
}

/** How the SQL of lists differs between the kinds of stores. All texts compare by code points. */
export interface ListDialect extends Dialect {
  /** Whether the database joins tables in the order of the statement. Otherwise it finds the best order itself. */
  readonly joinsInOrder: boolean;
  /** The end of an inner query that the database must not merge with the outer one. */
  readonly fence: string;
  quote(text: string): string;
  /** The number of rows in `limit` or `offset`. */
  rows(n: number, scope: Scope): string;
  /** The expression equals one of the values; there is at least one. */
  oneOf(sql: string, values: readonly Scalar[], scope: Scope): string;
  /** The JSON type of the attribute. Null if and only if it is absent. */
  type(path: Path): string;
  /** The JSON text of the attribute, as `JSON.stringify` made it. Null if it is absent. */
  json(path: Path): string;
  /** The string or the number. Null for all other values. */
  typed(path: Path, type: "string" | "number"): string;
  /** The key of what the attribute means (`comparedKeyOf`). Null if it means nothing. */
  key(path: Path, as: Meaning): string;
  /** The attribute is an array with an item that equals one of the values. */
  hasItem(path: Path, values: readonly Scalar[], scope: Scope): string;
  /** The attribute is an array with an item that has one of the keys. */
  hasKey(path: Path, keys: readonly string[], as: Meaning, scope: Scope): string;
  /** The text as `foldText` makes it. Null if it is null. */
  folded(text: string): string;
  /** The attribute is an array with a string whose folded text meets the condition. */
  hasFolded(path: Path, condition: (folded: string) => string): string;
  /** The attribute is an array with an object for which the SQL is true. There, the document is `{"item": …}` with the object. */
  hasObject(path: Path, where: string): string;
  /** The last characters of a text, or all of them if it has fewer. */
  suffix(text: string, length: number): string;
  /** The expressions that sort by the attribute: its rank (`ranks`), and then others. */
  sortTerms(path: Path, isNatural: boolean): readonly string[];
  /** The values of the other expressions. A value is null if it is equal for all resources with the same rank. */
  sortValues(value: string | number | null): readonly (string | number | null)[];
  /** The key of an id that a request contains. `undefined`: no resource of the collection can have it. */
  keyOfValue(kind: IdKind, value: string | number): string | number | bigint | undefined;
  compareId(kind: OrderingKind, value: string | number, scope: Scope): string;
  /** The id. Null if it is an integer. */
  textId(scope: Scope): string;
  /** The id of a key, and the key of an id, both as texts of SQL. */
  idSql(kind: IdKind, key: string): string;
  keySql(kind: IdKind, id: string): string;
  /** The resources of a collection with their keys in an index, and the column of these keys. */
  keyed(number: number, table: string): string;
  keyColumnOf(slot: number, table: string): string;
  /** The condition for the keys of an index, if its table has those of other indexes too. */
  ofSlot(slot: number, table: string): readonly string[];
  bytes(key: Buffer): Uint8Array | string;
  /** The SQL of a search. There is at least one word. */
  search(terms: SearchTerms, scope: Scope): SearchSql;
}

/** The parts of a statement that a search adds. */
export interface SearchSql {
  /** The `with` clause. */
  with: string;
  /** The `from` clause: resources that contain the words. */
  from: string;
  where: readonly string[];
  /** The best matches come first. */
  order: OrderTerm;
  /** Whether the conditions need the texts of resources. Otherwise the words alone decide. */
  readsTexts: boolean;
}

/** What the SQL of a statement depends on, and the values of its parameters so far. */
export interface Scope {
  readonly dialect: ListDialect;
  readonly collection: NumberedCollection;
  /** The name of the collection's table in the statement. */
  readonly table: string;
  /** The collections of related resources. */
  readonly related: RelatedCollections;
  /** Conditions that come before the others wherever the statement reads resources. */
  readonly first: readonly string[];
  readonly values: unknown[];
  /** The SQL of the value at a place from 1. */
  valueAt(place: number, type: ParameterType): string;
}

/** Adds a value, and returns its SQL. */
export function bind({ values, valueAt }: Scope, value: unknown, type: ParameterType): string {
  return valueAt(values.push(value), type);
}

/** The table of a collection's resources. */
export function resourcesOf({ tablePrefix }: Dialect, { number }: { number: number }): string {
  return `${tablePrefix}resources_${number}`;
}

/** The table of the ids that a collection's resources refer to. */
export function linksOf({ tablePrefix }: Dialect, { number }: { number: number }): string {
  return `${tablePrefix}refers_${number}`;
}

/** The condition for the resources of a range. */
export function rangeSql({ slot, low, high }: Range, scope: Scope): string {
  const { dialect, table } = scope;
  const key = dialect.keyColumnOf(slot, table);
  const [from, to] = [low, high].map((end) => bind(scope, dialect.bytes(end), "bytea"));
  return [...dialect.ofSlot(slot, table), `${key} > ${from}`, `${key} < ${to}`].join(" and ");
}

/** A filter as an SQL expression. */
function filterSql(filter: StoreFilter, scope: Scope): string {
  switch (filter.kind) {
    case "and":
      return every(filter.filters.map((each) => filterSql(each, scope)));
    case "or":
      return either(filter.filters.map((each) => filterSql(each, scope)));
    case "not":
      return `(${filterSql(filter.filter, scope)}) is not true`;
    case "related":
      return relatedSql(filter, scope);
    case "compares":
      return comparisonSql(filter, scope);
    default:
      return conditionSql(filter, scope);
  }
}

/** The condition that the id equals one of the values. */
function hasIdSql(values: readonly Scalar[], scope: Scope): string {
  const { dialect, collection, table } = scope;
  const keys = values.flatMap((value) =>
    typeof value === "string" || typeof value === "number"
      ? (dialect.keyOfValue(collection.idKind, value) ?? [])
      : [],
  );
  if (keys.length === 0) return "false";
  return dialect.oneOf(`${table}.${dialect.keyColumn}`, keys as Scalar[], scope);
}

function conditionSql(condition: Condition, scope: Scope): string {
  return rowOf(condition).sql(condition, attributeSql(condition, scope));
}

/** The SQL about the attribute of a condition. */
function attributeSql(condition: Condition, scope: Scope): AttributeSql {
  const { dialect } = scope;
  const { path } = condition;
  const as = "as" in condition ? condition.as : undefined;
  const isId = isIdPath(path);
  const text = () => (isId ? dialect.textId(scope) : dialect.typed(path, "string"));
  const isOneOf = (sql: string, values: readonly string[]) => {
    const known = values.filter(isStorable);
    return known.length === 0 ? "false" : dialect.oneOf(sql, known, scope);
  };
  const affix = (sql: string, part: string, cut: (length: number) => string) => {
    if (part === "") return `${sql} is not null`;
    return isStorable(part) ? `${cut([...part].length)} = ${bind(scope, part, "text")}` : "false";
  };
  return {
    lowered: () => `lower(${text()})`,
    folded: () => dialect.folded(text()),
    equals(values) {
      if (values.length === 0) return "false";
      if (as !== undefined) return dialect.oneOf(dialect.key(path, as), values.map(String), scope);
      // Equal values have equal JSON texts, because `JSON.stringify` wrote all of them.
      return isId ? hasIdSql(values, scope) : dialect.oneOf(dialect.json(path), values.map(toJson), scope);
    },
    compares(kind, value) {
      if (as !== undefined) return compareSql(dialect.key(path, as), kind, String(value), scope);
      if (isId) return dialect.compareId(kind, value, scope);
      return compareSql(
        dialect.typed(path, typeof value === "number" ? "number" : "string"),
        kind,
        value,
        scope,
      );
    },
    exists: (isExpected) =>
      isId ? String(isExpected) : `${dialect.type(path)} is ${isExpected ? "not " : ""}null`,
    hasItem(values) {
      if (isId || values.length === 0) return "false";
      return as === undefined
        ? dialect.hasItem(path, values, scope)
        : dialect.hasKey(path, values.map(String), as, scope);
    },
    hasFoldedItem: (texts) => (isId ? "false" : dialect.hasFolded(path, (folded) => isOneOf(folded, texts))),
    hasObject: (filter) => (isId ? "false" : dialect.hasObject(path, filterSql(filter, scope))),
    isOneOf,
    contains: (sql, part) =>
      isStorable(part) ? `${dialect.position(sql, bind(scope, part, "text"))} > 0` : "false",
    startsWith: (sql, part) => affix(sql, part, (length) => `substr(${sql}, 1, ${length})`),
    endsWith: (sql, part) => affix(sql, part, (length) => dialect.suffix(sql, length)),
    either,
  };
}

/**
 * Compares an expression with a value. No text of a store contains a null character. A text with one sorts directly after the part
 * before it. `toKey`: the key of this part.
 */
export function compareSql(
  sql: string,
  kind: OrderingKind,
  value: string | number,
  scope: Scope,
  toKey = (text: string) => text,
): string {
  if (typeof value === "number") return `${sql} ${comparisons[kind]} ${bind(scope, value, "float8")}`;
  const [start = "", rest] = value.split("\0", 2);
  const known = rest === undefined ? kind : kind.startsWith("g") ? "gt" : "lte";
  return `${sql} ${comparisons[known]} ${bind(scope, toKey(start), "text")}`;
}

/** Resources in a statement. */
export interface Found {
  from: string;
  where: string;
}

/** How the resources of a list are found, and the conditions for them. */
interface Finding {
  scan?: Scan | undefined;
  search?: SearchSql | undefined;
  filter?: StoreFilter | undefined;
  more?: readonly string[];
}

/** The resources of a scan, of a search, or of the collection, that match. */
export function foundSql({ scan, search, filter, more = [] }: Finding, scope: Scope): Found {
  const { dialect, collection, table, first } = scope;
  const rest = scan === undefined ? filter : scan.filter;
  const terms = [
    ...first,
    ...(search?.where ?? []),
    ...(scan === undefined ? [] : [rangeSql(scan.range, scope)]),
    ...(rest === undefined ? [] : [filterSql(rest, scope)]),
    ...more,
  ];
  const resources =
    scan === undefined
      ? `${resourcesOf(dialect, collection)} as ${table}`
      : dialect.keyed(collection.number, table);
  return { from: search?.from ?? resources, where: terms.length === 0 ? "true" : terms.join(" and ") };
}

/** All resources of a list. */
export function listSql(
  { filter, words }: Pick<PageQuery, "filter" | "words">,
  search: SearchSql | undefined,
  scope: Scope,
): Found {
  return foundSql({ scan: scanOf({ filter, words }, scope.collection.slots), search, filter }, scope);
}

/** The scan whose range has exactly the resources of the list after its position, in its order. `undefined` without one. */
export function exactScan(query: PageQuery, { collection }: Scope): Scan | undefined {
  const scan = scanOf(query, collection.slots);
  return scan?.isOrdered === true && scan.filter === undefined ? scan : undefined;
}

/** The search of a query. `undefined` without one. */
export function searchOf({ words = [] }: Pick<PageQuery, "words">, scope: Scope): SearchSql | undefined {
  return words.length === 0 ? undefined : scope.dialect.search(searchFor(words), scope);
}

/** The condition that each literal of a search occurs in a searched text. */
export function literalsSql({ literals }: SearchTerms, scope: Scope): string {
  const { dialect, collection } = scope;
  const holds = (literal: string) => {
    if (!isStorable(literal)) return "false";
    const bound = bind(scope, literal, "text");
    const has = (folded: string) => `${dialect.position(folded, bound)} > 0`;
    return either(
      collection.search.flatMap((path) => [
        has(dialect.folded(dialect.typed(path, "string"))),
        dialect.hasFolded(path, has),
      ]),
    );
  };
  return every(literals.map(holds));
}

/** The resources of a list after its position, and their order. */
export function orderedSql(
  query: PageQuery,
  search: SearchSql | undefined,
  scope: Scope,
): Found & { terms: readonly OrderTerm[] } {
  const { after, sort = [], filter } = query;
  const scan = scanOf(query, scope.collection.slots);
  if (scan?.isOrdered) return { ...foundSql({ scan, search }, scope), terms: [keyTerm(scan, scope)] };
  const order = orderTerms(sort, scope);
  const more = after === undefined ? [] : [afterSql(after, sort, order, scope)];
  if (hasRelatedKeys(sort)) {
    const found = withRelatedTexts(foundSql({ scan, search, filter }, scope), sort, scope);
    return { ...found, where: every(more), terms: order };
  }
  const terms = search !== undefined && sort.length === 0 ? [search.order, ...order] : order;
  return { ...foundSql({ scan, search, filter, more }, scope), terms };
}

/**
 * The resources with the texts of the related resources that sort them, so that each text is read once. A text is null if there is no
 * related resource that the condition of the key accepts.
 */
function withRelatedTexts({ from, where }: Found, sort: readonly StoreSortKey[], scope: Scope): Found {
  const texts = relatedTexts(sort).flatMap((through, n) =>
    through === undefined ? [] : `${relatedValue(through, "related.doc", scope)} as doc_${n}`,
  );
  const { dialect, table } = scope;
  const inner = `select ${[`${table}.*`, ...texts].join(", ")} from ${from} where ${where} ${dialect.fence}`;
  return { from: `(${inner}) as ${table}`, where: "true" };
}

/** The related resources whose texts sort a list, by the first of their keys. Several attributes of one resource share its text. */
function relatedTexts(sort: readonly StoreSortKey[]): readonly (RelatedCondition | undefined)[] {
  return keysToId(sort).map(({ through }, n) => (textOf(sort, through) === n ? through : undefined));
}

/** The place of the first key with the text of the same related resource. */
function textOf(sort: readonly StoreSortKey[], through: RelatedCondition | undefined): number {
  const name = JSON.stringify(through);
  return sort.findIndex((each) => JSON.stringify(each.through) === name);
}

/**
 * An expression about the resource that a reference names, with the table `related`. It is null if the condition accepts no resource.
 * Without a schema, a reference can have several ids: the first one counts.
 */
export function relatedValue({ relation, filter }: RelatedCondition, sql: string, scope: Scope): string {
  const { dialect, collection, table } = scope;
  const other = relatedCollection(scope.related, relation.collection);
  if (other === undefined) return `(select ${sql} from (select cast(null as json) as doc) as related)`;
  const { from, where } = foundSql(
    { filter, more: [attributeOfLink(relation.path, dialect), `link.key = ${table}.key`] },
    { ...scope, collection: other, table: "related", first: [] },
  );
  const join = `${dialect.joinsInOrder ? "cross " : ""}join`;
  return `(select ${sql} from ${linksOf(dialect, collection)} as link
    ${join} ${from} on related.${dialect.keyColumn} = ${dialect.keySql(other.idKind, "link.target")}
    where ${where} order by link.target limit 1)`;
}

function attributeOfLink(path: Path, dialect: ListDialect, link = "link"): string {
  return `${link}.attribute = ${dialect.quote(formatPath(path))}`;
}

/** The position of a resource, from its id and from the values of the terms before that of the id. */
export function positionOf(
  { sort = [] }: Pick<PageQuery, "sort">,
  values: readonly unknown[],
  id: string | number,
): CursorValues {
  const keys = keysToId(sort).slice(0, -1);
  const each = values.length / keys.length;
  return [...keys.map((_, n) => sortValueIn(values.slice(n * each, (n + 1) * each))), id];
}

/** The sort value that the values of the terms of a key mean: the rank first, a text last, and a number directly after the rank. */
function sortValueIn([rank, ...others]: readonly unknown[]): SortValue {
  switch (Number(rank)) {
    case ranks.null:
    case ranks.movedNull:
      return null;
    case ranks.false:
    case ranks.true:
      return Number(rank) === ranks.true;
    case ranks.number:
      return Number(others[0]);
    case ranks.string:
      return String(others.at(-1));
    case ranks.declared:
      return [String(others.at(-1))];
    default:
      return [];
  }
}

/** The order of the keys of a scan. */
export function keyTerm({ range, isBackward }: Scan, { dialect, table }: Scope): OrderTerm {
  return { sql: dialect.keyColumnOf(range.slot, table), descending: isBackward };
}

/** The resources that refer to the id `parent.value`, by the table of references, and their order. */
export function referringSql(
  { reference, filter, sort = [] }: GroupsQuery,
  scope: Scope,
): Found & { terms: readonly OrderTerm[] } {
  const { dialect, collection, table } = scope;
  const join = `${dialect.joinsInOrder ? "cross " : ""}join`;
  const { where } = foundSql({ filter, more: [linkSql(reference, scope)] }, scope);
  return {
    from: `${linksOf(dialect, collection)} as link
      ${join} ${resourcesOf(dialect, collection)} as ${table} on ${table}.key = link.key`,
    where,
    terms: orderTerms(sort, scope),
  };
}

/** The condition for the references to the id `parent.value`. */
export function linkSql({ path }: GroupsQuery["reference"], { dialect }: Scope): string {
  return `${attributeOfLink(path, dialect)} and link.target = parent.value`;
}

/**
 * A condition about related resources. The table of references connects both. If the database does not decide where to start, and ids
 * or an index find the related resources that match, the statement starts from them.
 */
function relatedSql({ relation, filter }: RelatedCondition, scope: Scope): string {
  const { dialect, collection, table, related } = scope;
  const { joinsInOrder, keyColumn, idSql, keySql } = dialect;
  const other = relatedCollection(related, relation.collection);
  if (other === undefined) return "false";
  const isReference = relation.kind === "reference";
  const isAny = matchesAll(filter);
  const [link, name] = namesInside(scope);
  const links = `${linksOf(dialect, isReference ? collection : other)} as ${link}`;
  const path = isAny ? undefined : accessPathOf({ filter }, builtIndexes(other));
  const scan = path === "index" ? scanOf({ filter }, other.slots) : undefined;
  const inner = { ...scope, collection: other, table: name };
  const attribute = attributeOfLink(relation.path, dialect, link);
  const foundWith = (...more: string[]) =>
    foundSql({ scan, filter: isAny ? undefined : filter, more: [attribute, ...more] }, inner);
  if (joinsInOrder && (path !== undefined || startsFromRelated(filter, scope))) {
    const { from, where } = foundWith();
    const [ids, own, join] = isReference
      ? [`${link}.key`, "key", `${link}.target = ${idSql(other.idKind, `${name}.${keyColumn}`)}`]
      : [keySql(collection.idKind, `${link}.target`), keyColumn, `${link}.key = ${name}.key`];
    return `${table}.${own} in (select ${ids} from ${from} cross join ${links} on ${join} where ${where})`;
  }
  const [own, join] = isReference
    ? [`${link}.key = ${table}.key`, `${name}.${keyColumn} = ${keySql(other.idKind, `${link}.target`)}`]
    : [`${link}.target = ${idSql(collection.idKind, `${table}.${keyColumn}`)}`, `${name}.key = ${link}.key`];
  const { from, where } = foundWith(own);
  const joined = isAny && !isReference ? "" : `${joinsInOrder ? "cross " : ""}join ${from} on ${join}`;
  return `exists (select 1 from ${links} ${joined} where ${where})`;
}

/** A comparison of two attributes. It is null if one of them is missing, or if they have different types. */
function comparisonSql({ operator, left, right, as }: Comparison, scope: Scope): string {
  const { dialect } = scope;
  const sign = { ...comparisons, eq: "=", ne: "<>" }[operator];
  const compared = (expression: (path: Path) => string) =>
    [left, right].map((each) => operandSql(each, expression, scope)).join(` ${sign} `);
  if (as !== undefined) return `(${compared((path) => dialect.key(path, as))})`;
  const parts = (["number", "string"] as const).map((type) => compared((path) => dialect.typed(path, type)));
  const boolean = (json: string) => `(case when ${json} in ('true', 'false') then ${json} end)`;
  if (operator === "eq" || operator === "ne") parts.push(compared((path) => boolean(dialect.json(path))));
  return either(parts);
}

/** The value of an attribute: of the resource, or of the one that its references lead to. Null if the attribute has no value. */
function operandSql(
  { path, through = [] }: Operand,
  expression: (path: Path) => string,
  scope: Scope,
): string {
  const { dialect, collection, table, related } = scope;
  const [first, ...others] = through;
  if (first === undefined) return expression(path);
  const other = relatedCollection(related, first.relation.collection);
  if (other === undefined) return "null";
  const [link, name] = namesInside(scope);
  const inner = { ...scope, collection: other, table: name };
  const value = operandSql({ path, through: others }, expression, inner);
  const more = [attributeOfLink(first.relation.path, dialect, link), `${link}.key = ${table}.key`];
  const { from, where } = foundSql(
    { filter: matchesAll(first.filter) ? undefined : first.filter, more },
    inner,
  );
  return `(select ${value} from ${linksOf(dialect, collection)} as ${link} ${dialect.joinsInOrder ? "cross " : ""}join ${from}
    on ${name}.${dialect.keyColumn} = ${dialect.keySql(other.idKind, `${link}.target`)} where ${where})`;
}

/** The names of the tables of links and of resources in an inner query, which only uses its own tables and those of the outer one. */
function namesInside({ table }: Scope): readonly [link: string, resources: string] {
  return table === "related" ? ["inner_link", "inner_related"] : ["link", "related"];
}

/** Whether a condition inside of a filter is about related resources that ids or an index find. */
function startsFromRelated(filter: StoreFilter, { related }: Scope): boolean {
  return conjunctsOf(filter).some((each) => {
    if (each.kind !== "related" || matchesAll(each.filter)) return false;
    const other = relatedCollection(related, each.relation.collection);
    return other !== undefined && accessPathOf({ filter: each.filter }, builtIndexes(other)) !== undefined;
  });
}

/** The expressions that a list is ordered by. The key of the id is the last one. Sort keys after the id change nothing. */
function orderTerms(sort: readonly StoreSortKey[], { dialect, table }: Scope): readonly OrderTerm[] {
  return keysToId(sort).flatMap((key) => {
    const { path, as, descending, movesNulls, through } = key;
    const expressions = isIdKey(key)
      ? [`${table}.${dialect.keyColumn}`]
      : dialect.sortTerms(path, as === "natural");
    return expressions
      .map((sql, n) =>
        as === undefined || as === "natural" ? sql : keyedTerm(sql, n, dialect.key(path, as), expressions),
      )
      .map((sql, n) =>
        n === 0 && movesNulls === true ? `coalesce(nullif(${sql}, ${ranks.null}), ${ranks.movedNull})` : sql,
      )
      .map((sql) =>
        through === undefined
          ? sql
          : `(select ${sql} from (select doc_${textOf(sort, through)} as doc) as one)`,
      )
      .map((sql) => ({ sql, descending }));
  });
}

/** An expression that also sorts declared dates and exact numbers: their rank is the last one, and their key is in the last expression. */
function keyedTerm(sql: string, n: number, key: string, { length }: readonly string[]): string {
  if (n === length - 1) return `coalesce(${key}, ${sql})`;
  return `(case when ${key} is null then ${sql} else ${n === 0 ? ranks.declared : 0} end)`;
}

/** The `order by` of terms, or of columns that contain them. */
export function orderSql(terms: readonly OrderTerm[]): string {
  return terms.map(({ sql, descending }) => `${sql}${descending ? " desc" : ""}`).join(", ");
}

/** The condition that a resource comes after a position. */
function afterSql(
  position: CursorValues,
  sort: readonly StoreSortKey[],
  terms: readonly OrderTerm[],
  scope: Scope,
): string {
  const bounds = keysToId(sort).flatMap((key, n) => boundsOf(position[n] ?? null, key, scope));
  const known = terms
    .map((term, n) => ({ ...term, bound: bounds[n] }))
    .filter(({ bound }) => bound !== undefined);
  const beyond = known.map(({ sql, descending, bound }, n) =>
    every([
      ...known.slice(0, n).map((each) => `${each.sql} = ${each.bound}`),
      `${sql} ${descending ? "<" : ">"} ${bound}`,
    ]),
  );
  return either(beyond);
}

/** The values at a position. `undefined`: the expression has one value for all resources with the same rank. */
function boundsOf(value: SortValue, key: StoreSortKey, scope: Scope): readonly (string | undefined)[] {
  const { dialect, collection } = scope;
  if (isIdKey(key)) {
    const isKey = typeof value === "string" || typeof value === "number";
    return [bind(scope, (isKey ? dialect.keyOfValue(collection.idKind, value) : undefined) ?? "", "text")];
  }
  const ranked = rankOf(value);
  const rank = ranks[ranked === "null" && key.movesNulls === true ? "movedNull" : ranked];
  const plain = hasKey(value)
    ? value[0]
    : typeof value === "object" || typeof value === "boolean"
      ? null
      : value;
  const others = dialect
    .sortValues(plain)
    .map((each) =>
      each === null ? undefined : bind(scope, each, typeof each === "number" ? "float8" : "text"),
    );
  return [String(rank), ...others];
}

/** An expression that is true if all parts are true. */
export function every(parts: readonly string[]): string {
  return parts.length === 0 ? "true" : `(${parts.join(" and ")})`;
}

/** An expression that is true if one of the parts is true. */
export function either(parts: readonly string[]): string {
  return parts.length === 0 ? "false" : `(${parts.join(" or ")})`;
}

function toJson(value: Scalar): string {
  return JSON.stringify(value);
}
