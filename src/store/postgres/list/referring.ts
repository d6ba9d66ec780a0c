/** The statement that reads the resources that refer to each of several ids. */
import { formatPath } from "../../../collection/paths.ts";
import { indexFor, type ReferringRow } from "../../core/referring.ts";
import { maxPageBytes, type ReferringQuery } from "../../port/page.ts";
import type { Row, Statement } from "../connection/connections.ts";
import { toStored } from "../read/reads.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { referencesTable, resourcesTable } from "../tables/tables.ts";
import { filterSql } from "./conditions.ts";
import { quoteText, ranks, sortExpressions } from "./expressions.ts";
import { orderSql, orderTerms } from "./order.ts";
import { bind, scopeOf } from "./parameters.ts";

/** A query for a collection that is already known. */
export type GroupsQuery = Omit<ReferringQuery, "collection" | "client">;

/** Whether the statement reads little more than the resources of its result. */
export function isQuickReferring(collection: NumberedCollection, query: GroupsQuery): boolean {
  const { sort = [], filter } = query;
  return (sort.length === 0 && filter === undefined) || indexFor(query, collection) !== undefined;
}

/**
 * Reads up to `limit` + 1 resources for each id. The columns: the place of the id from 1, key, version, time, and the text,
 * which is null if it does not fit into the result.
 */
export function selectReferring(collection: NumberedCollection, query: GroupsQuery): Statement {
  const { ids, limit, filter, sort = [] } = query;
  const scope = scopeOf(collection);
  const targets = bind(scope, ids, "text[]");
  const terms = orderTerms(sort);
  const where = [linkSql(collection, query), ...(filter === undefined ? [] : [filterSql(filter, scope)])];
  const columns = terms.map(({ sql }, n) => `${sql} as term_${n}`).join(", ");
  const order = orderSql(terms.map(({ descending }, n) => ({ sql: `term_${n}`, descending })));
  const sql = `select place, key, version, updated_at,
      case when running <= ${maxPageBytes} or position = 1 then doc::text end as text, checksum
    from (select *, row_number() over listed as position,
        sum(case when n > ${limit} then 0 else size end) over (listed rows unbounded preceding) as running
      from (select parent.place, found.*, row_number() over (partition by parent.place order by ${order}) as n
        from unnest(${targets}) with ordinality as parent(target, place)
        cross join lateral (select resource.key, version, updated_at, doc, checksum, size, ${columns}
          from ${fromSql(collection, query)} where ${where.join(" and ")}
          order by ${orderSql(terms)} limit ${limit + 1}) as found) as candidate
      window listed as (order by place, n)) as measured
    order by place, n`;
  return { sql, values: scope.values };
}

/** The rows of the statement. */
export function* rowsOf(collection: NumberedCollection, rows: readonly Row[]): Generator<ReferringRow> {
  for (const [place, ...row] of rows)
    yield { place: Number(place) - 1, resource: row[3] === null ? undefined : toStored(collection, row) };
}

function fromSql(collection: NumberedCollection, query: GroupsQuery): string {
  const resources = `${resourcesTable(collection.number)} as resource`;
  if (indexFor(query, collection) !== undefined) return resources;
  return `${referencesTable(collection.number)} as link join ${resources} on resource.key = link.key`;
}

/** The condition that a resource refers to the id. An index contains the sort expressions of the reference. */
function linkSql(collection: NumberedCollection, query: GroupsQuery): string {
  const { path, type } = query.reference;
  if (indexFor(query, collection) === undefined)
    return `link.attribute = ${quoteText(formatPath(path))} and link.target = parent.target`;
  const { rank, number, text } = sortExpressions({ path });
  return type === "number"
    ? `${rank} = ${ranks.number} and ${number} = parent.target::float8 and ${text} = ''`
    : `${rank} = ${ranks.string} and ${number} = 0 and ${text} = parent.target`;
}
