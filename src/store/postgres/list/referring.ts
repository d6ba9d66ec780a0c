/** The statement that reads the resources that refer to each of several ids. */
import { formatPath } from "../../../collection/paths.ts";
import { type GroupsQuery, type ReferringRow, referringScans, toGroups } from "../../core/related.ts";
import { maxPageBytes, type ReferringGroups } from "../../port/page.ts";
import type { Row, Statement } from "../connection/connections.ts";
import { toStored } from "../read/reads.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { keySql, keyText } from "../tables/indexes.ts";
import { referencesTable, resourcesTable } from "../tables/tables.ts";
import { bind, filterSql, orderSql, orderTerms, quoteText, type SqlScope, scopeOf } from "./conditions.ts";

/** Whether the statement reads little more than the resources of its result. */
export function isQuickReferring(collection: NumberedCollection, query: GroupsQuery): boolean {
  const { sort = [], filter } = query;
  return (sort.length === 0 && filter === undefined) || referringScans(query, collection) !== undefined;
}

/**
 * Reads up to `limit` + 1 resources for each id. The columns: the number of the declaration, the place of the id from 1, key,
 * version, time, and the text, which is null if it does not fit into the result. Without resources, it has one row.
 */
export function selectReferring(collection: NumberedCollection, query: GroupsQuery): Statement {
  const { number } = collection;
  const { limit } = query;
  const scope = scopeOf(collection);
  const { parents, from, where, terms, end } = groupsOf(collection, query, scope);
  const columns = terms.map(({ sql }, n) => `${sql} as term_${n}`).join(", ");
  const order = orderSql(terms.map(({ descending }, n) => ({ sql: `term_${n}`, descending })));
  const page = `select place, key, version, updated_at, n,
      case when running <= ${maxPageBytes} or position = 1 then doc::text end as text, checksum
    from (select *, row_number() over listed as position,
        sum(case when n > ${limit} then 0 else size end) over (listed rows unbounded preceding) as running
      from (select parent.place, found.*, row_number() over (partition by parent.place order by ${order}) as n
        from ${parents}
        cross join lateral (select resource.key, version, updated_at, doc, checksum, size, ${columns}
          from ${from} where ${where.join(" and ")}
          order by ${orderSql(terms)} limit ${limit + 1}) as found where ${end}) as candidate
      window listed as (order by place, n)) as measured`;
  const sql = `select head.declared, page.place, page.key, page.version, page.updated_at, page.text, page.checksum
    from holdfast_heads as head left join (${page}) as page on true
    where head.number = ${number} order by page.place, page.n`;
  return { sql, values: scope.values };
}

/** The ids, and the resources that refer to each of them: by a range of an index, or by the table of references. */
function groupsOf(collection: NumberedCollection, query: GroupsQuery, scope: SqlScope) {
  const { ids, filter, sort = [], reference } = query;
  const resources = `${resourcesTable(collection.number)} as resource`;
  const scans = referringScans(query, collection);
  if (scans !== undefined) {
    const [{ range, isBackward }] = scans;
    const lows = scans.map((each) => keyText(each.range.low));
    const highs = scans.map((each) => keyText(each.range.high));
    const key = `resource.${keySql(range.slot)}`;
    return {
      parents: `unnest(${bind(scope, lows, "bytea[]")}, ${bind(scope, highs, "bytea[]")})
        with ordinality as parent (low, high, place)`,
      from: resources,
      where: [isBackward ? `${key} < parent.high` : `${key} > parent.low`],
      terms: [{ sql: key, descending: isBackward }],
      end: isBackward ? "term_0 > parent.low" : "term_0 < parent.high", // as in a page of a range
    };
  }
  const attribute = quoteText(formatPath(reference.path));
  return {
    parents: `unnest(${bind(scope, ids, "text[]")}) with ordinality as parent (target, place)`,
    from: `${referencesTable(collection.number)} as link join ${resources} on resource.key = link.key`,
    where: [
      `link.attribute = ${attribute} and link.target = parent.target`,
      ...(filter === undefined ? [] : [filterSql(filter, scope)]),
    ],
    terms: orderTerms(sort),
    end: "true",
  };
}

/** The groups from the rows of the statement. */
export function toReferring(
  collection: NumberedCollection,
  { ids, limit }: GroupsQuery,
  rows: readonly Row[],
): ReferringGroups | "redeclared" {
  if (Number(rows[0]?.[0]) !== collection.declared) return "redeclared";
  return toGroups(rowsOf(collection, rows), ids.length, limit);
}

function* rowsOf(collection: NumberedCollection, rows: readonly Row[]): Generator<ReferringRow> {
  for (const [, place, ...row] of rows.filter(([, place]) => place !== null))
    yield { place: Number(place) - 1, resource: row[3] === null ? undefined : toStored(collection, row) };
}
