/** SQL for the catalogue, the heads of collections and the format. The tables themselves are in `tables.ts`. */
import { integers } from "../connection/arrays.ts";
import type { Statement } from "../connection/connections.ts";

/** The columns of a resource, in the order that `toStored` reads. */
export const resourceColumns = "key, version, updated_at, doc::text, checksum";

/** Locks heads in the order of their numbers. Returns number, sequence, number of the declaration, and count. */
export function lockHeads(numbers: readonly number[]): Statement {
  return {
    sql: `select number, sequence, declared, count from holdfast_heads
      where number = any($1::integer[]) order by number for update`,
    values: [integers(numbers)],
  };
}

/** Up to which sequence the change log of the collection `number` can lack changes. */
const gapsUpTo = "coalesce((select value from holdfast_meta where name = 'gaps_' || number::text), 0)";

/** How far the logs of all collections go. */
export const selectLogHeads: Statement = { sql: `select number, sequence, ${gapsUpTo} from holdfast_heads` };

/** The number of resources in each collection. */
export const selectCounts: Statement = { sql: "select number, count from holdfast_heads" };

/** Records that a declaration has changed. The next write or search of another instance notices it. */
export function raiseDeclared(numbers: readonly number[]): Statement {
  return {
    sql: "update holdfast_heads set declared = declared + 1 where number = any($1::integer[])",
    values: [integers(numbers)],
  };
}

/** Locks the catalogue, so that only one instance changes declarations at a time. Returns the number of the format. */
export const lockCatalogue: Statement = {
  sql: "select value from holdfast_meta where name = 'format' for update",
};

/** A row if a collection with this name exists. */
export function selectCollection(name: string): Statement {
  return { sql: "select 1 from holdfast_collections where name = $1::text", values: [name] };
}

/** Adds the head of a new collection, with the number of its declaration. */
export function insertHead(number: number, declared: number): Statement {
  return {
    sql: "insert into holdfast_heads (number, declared) values ($1::integer, $2::integer)",
    values: [number, declared],
  };
}

/** Adds the counter for the integer ids of a new collection. */
export function insertIdCounter(number: number): Statement {
  return { sql: "insert into holdfast_ids (number) values ($1::integer)", values: [number] };
}

/**
 * Selects the name and the size of each table with its indexes, in bytes. The size of a table that does not exist is null.
 * `isCluster`: a table can be on another node of a Citus cluster. Then the one that this node sees has no rows.
 */
export function selectSizes(tables: readonly string[], isCluster: boolean): Statement {
  const own = "pg_total_relation_size(relation)";
  const size = isCluster
    ? `case when exists (select 1 from pg_catalog.pg_dist_partition where logicalrelid = relation)
        then citus_total_relation_size(relation) else ${own} end`
    : own;
  const sql = `select name, ${size} from unnest($1::text[]) as name, to_regclass(name) as relation`;
  return { sql, values: [tables] };
}

/** The size of the whole database, in bytes. */
export const databaseSize: Statement = { sql: "select pg_database_size(current_database())" };
