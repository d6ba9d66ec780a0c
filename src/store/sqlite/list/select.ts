/** The SQL statements for a list. */
import type { SQLInputValue } from "node:sqlite";
import { hasRelatedKeys } from "../../../query/sort.ts";
import { scanOf } from "../../core/access-path.ts";
import type { NumberedCollection } from "../../core/catalogue.ts";
import {
  bind,
  exactScan,
  foundSql,
  keyTerm,
  linkSql,
  orderedSql,
  orderSql,
  rangeSql,
  referringSql,
  type Scope,
  searchOf,
} from "../../core/list-sql.ts";
import { type GroupsQuery, type PageQuery, referringScans } from "../../core/related.ts";
import { entriesTable, referencesTable, resourcesTable } from "../file/tables.ts";
import { searchTable } from "./search.ts";
import { interruptFunction, scopeOf, sqliteLists } from "./sqlite-lists.ts";

/** A statement and its values. */
export interface SelectStatement {
  sql: string;
  values: readonly SQLInputValue[];
}

/** The statement with the values of a scope. */
export function statementOf(sql: string, { values }: Scope): SelectStatement {
  return { sql, values: values as SQLInputValue[] };
}

/** How statements read resources. */
export interface ReadOptions {
  /** Whether the statements call `interruptFunction` before anything else for each resource. */
  isInterruptible: boolean;
  /** If the text of a resource has more bytes, the statement returns null instead. */
  maxBytes?: number;
}

function scopeFor(
  collection: NumberedCollection,
  { isInterruptible }: ReadOptions,
  query: Pick<PageQuery, "related"> = {},
): Scope {
  // The function must come first. SQLite does not evaluate the terms after one that is false.
  return scopeOf(collection, isInterruptible ? [`${interruptFunction}()`] : [], query.related);
}

/**
 * The statement for a page. If related resources sort it, the columns after the checksum are the terms of the order (`positionOf`), and
 * then the key of the id.
 */
export function selectPage(
  collection: NumberedCollection,
  query: PageQuery,
  options: ReadOptions,
): SelectStatement {
  const { maxBytes } = options;
  const { limit, offset = 0 } = query;
  const scope = scopeFor(collection, options, query);
  const text =
    maxBytes === undefined
      ? "doc"
      : `iif(octet_length(doc) <= ${bind(scope, maxBytes, "float8")}, doc, null)`;
  const columns = `id, version, updated_at, ${text}, checksum`;
  const rows = () => `limit ${sqliteLists.rows(limit, scope)} offset ${sqliteLists.rows(offset, scope)}`;
  const exact = offset > 0 ? exactScan(query, scope) : undefined;
  if (exact !== undefined) {
    // The skipped resources are not read.
    const order = orderSql([keyTerm(exact, scope)]);
    const where = [...scope.first, rangeSql(exact.range, scope)].join(" and ");
    const sql = `select ${columns} from (select k, row from ${entriesTable(collection.number)} as resource_entry
        where ${where} order by ${order} ${rows()}) as resource_entry
      cross join ${resourcesTable(collection.number)} as resource on resource.key = resource_entry.row order by ${order}`;
    return statementOf(sql, scope);
  }
  const { from, where, terms } = orderedSql(query, searchOf(query, scope), scope);
  const isRelated = hasRelatedKeys(query.sort);
  const positions = isRelated ? terms.map(({ sql }, n) => `, ${sql} as term_${n}`).join("") : "";
  const order = isRelated ? terms.map((term, n) => ({ ...term, sql: `term_${n}` })) : terms;
  const sql = `select ${columns}${positions} from ${from} where ${where} order by ${orderSql(order)} ${rows()}`;
  return statementOf(sql, scope);
}

/** The statement that counts the list. It stops at `max` + 1 resources. Without `max`, it is interruptible. */
export function selectCount(
  collection: NumberedCollection,
  query: PageQuery,
  max: number | undefined,
): SelectStatement {
  const { filter, words } = query;
  const { number, slots } = collection;
  const scope = scopeFor(collection, { isInterruptible: max === undefined }, query);
  const scan = scanOf({ filter, words }, slots);
  const search = searchOf(query, scope);
  const { from, where } = foundSql({ scan, search, filter }, scope);
  // Where the resources themselves are not needed, they are not read.
  const counted =
    search !== undefined && filter === undefined && !search.readsTexts
      ? searchTable(number)
      : scan !== undefined && scan.filter === undefined
        ? `${entriesTable(number)} as resource_entry`
        : from;
  const rest = `from ${counted} where ${where}`;
  const sql =
    max === undefined
      ? `select count(*) ${rest}`
      : `select count(*) from (select 1 ${rest} limit ${max + 1})`;
  return statementOf(sql, scope);
}

/**
 * The statement that finds the keys of the resources that refer to each id: an array as JSON for each, with up to `limit` + 1
 * keys in their order. `isByIndex`: it reads no others.
 */
export function selectReferring(
  collection: NumberedCollection,
  query: GroupsQuery,
  options: ReadOptions,
): SelectStatement & { isByIndex: boolean } {
  const { ids, limit } = query;
  const scope = scopeFor(collection, options, query);
  const scans = referringScans(query, collection);
  const each = (keys: string, parents: readonly unknown[]) => ({
    isByIndex: scans !== undefined,
    ...statementOf(
      `select (select json_group_array(found) from (${keys} limit ${sqliteLists.rows(limit + 1, scope)}))
        from json_each(${bind(scope, JSON.stringify(parents), "text")}) as parent order by parent.key`,
      scope,
    ),
  });
  if (scans === undefined) {
    const { from, where, terms } = referringSql(query, scope);
    return each(`select resource.key as found from ${from} where ${where} order by ${orderSql(terms)}`, ids);
  }
  const where = [
    ...scope.first,
    ...sqliteLists.ofSlot(scans[0].range.slot, "resource"),
    "k > unhex(parent.value ->> 0) and k < unhex(parent.value ->> 1)",
  ].join(" and ");
  const bounds = scans.map(({ range: { low, high } }) => [low.toString("hex"), high.toString("hex")]);
  return each(
    `select row as found from ${entriesTable(collection.number)} as resource_entry where ${where}
      order by ${orderSql([keyTerm(scans[0], scope)])}`,
    bounds,
  );
}

/** The statement that says whether no id has more than `max` resources that refer to it: 1 or 0. */
export function selectHasFewReferring(
  collection: NumberedCollection,
  { reference, ids }: GroupsQuery,
  max: number,
): SelectStatement {
  const scope = scopeOf(collection, []);
  const sql = `select coalesce(max((select count(*) from (
        select 1 from ${referencesTable(collection.number)} as link where ${linkSql(reference, scope)}
        limit ${sqliteLists.rows(max + 1, scope)}))), 0) <= ${bind(scope, max, "float8")}
      from json_each(${bind(scope, JSON.stringify(ids), "text")}) as parent`;
  return statementOf(sql, scope);
}
