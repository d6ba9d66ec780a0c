/**
 * Where the tables of a store are in a Citus cluster. All of them must be on one node, because a transaction over several
 * nodes has no snapshot, and some statements fail on a table that is distributed by a column.
 */
import { StartError } from "../../../errors.ts";
import type { Connections, Run, Statement } from "../connection/connections.ts";
import { tablesOf } from "./tables.ts";

/** Whether the database belongs to a Citus cluster. `run` runs a statement. */
export async function isCluster(run: Run): Promise<boolean> {
  const { rows } = await run({ sql: "select to_regclass('pg_catalog.pg_dist_partition') is not null" });
  return rows[0]?.[0] === "t";
}

/** Whether a node is a worker. The coordinator has the group 0. */
const selectIsWorker: Statement = { sql: "select groupid <> 0 from pg_catalog.pg_dist_local_group" };

/** A place that no store can be in. */
const unservedPlaces: Readonly<Record<string, string>> = {
  column: "is distributed by a column",
  everywhere: "is a reference table, with a copy on every node",
};

/**
 * The places of the store's tables, each with one of its tables. Tables that were distributed together, as in a distributed
 * schema, have the same number of colocation. Other tables are on the coordinator. The parts of a distributed table have a
 * number after its name, and are left out.
 */
const selectPlaces: Statement = {
  sql: `select place, min(relname) from (
      select relname, case when logicalrelid is null or (partmethod = 'n' and repmodel <> 't' and colocationid = 0)
          then 'coordinator'
        when partmethod <> 'n' then 'column' when repmodel = 't' then 'everywhere'
        else colocationid::text end as place
      from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      left join pg_catalog.pg_dist_partition on logicalrelid = pg_class.oid
      where nspname = current_schema() and relkind = 'r'
        and (relname ~ '^holdfast_[a-z]+$' or regexp_replace(relname, '[0-9]+$', '0') in ('${tablesOf(0).join("', '")}'))) as placed
    group by place order by 2`,
};

/** Throws StartError if the database belongs to a Citus cluster, and the tables of the store are not in one place that it can reach. */
export async function requireOnePlace(connections: Connections): Promise<void> {
  if (!(await isCluster((statement) => connections.run(statement)))) return;
  const { rows: nodes } = await connections.run(selectIsWorker);
  const { rows } = await connections.run(selectPlaces);
  // A worker could create tables of its own, which no other node would know.
  if (nodes[0]?.[0] === "t" && rows.every(([place]) => place === "coordinator"))
    throw new StartError(
      "The address leads to a worker node of a Citus cluster, and no store is in a distributed schema there. Connect to the coordinator, at least for the first start.",
    );
  for (const [place, table] of rows) {
    const fault = unservedPlaces[String(place)];
    if (fault !== undefined) throw unserved(`The table ${table} ${fault}`);
  }
  const [first, second] = rows.map(([, table]) => table);
  if (second !== undefined) throw unserved(`The tables ${first} and ${second} are in different places`);
}

function unserved(fault: string): StartError {
  return new StartError(
    `${fault} in the Citus cluster. The service needs all tables of its store in one distributed schema, or none of them distributed.`,
  );
}
