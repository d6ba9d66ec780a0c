/** The warnings of a start: settings of the database that allow it to lose confirmed writes, hide damage, or make it slow. */
import type { Connections, Row, Statement } from "../connection/connections.ts";
import { sqlState } from "../connection/failures.ts";
import { isCluster } from "./cluster.ts";

/** What decides whether a server keeps the writes that it confirms. */
type Durability = readonly [commit: string, fsync: string, standbyNames: string, standbys: number];

/**
 * A warning if the database can lose confirmed writes; `undefined` if it cannot. In a Citus cluster, every node must be safe, because
 * a store can be moved to it.
 */
export async function findRelaxed(connections: Connections): Promise<string | undefined> {
  const settings = ["synchronous_commit", "fsync", "synchronous_standby_names"] as const;
  const [commit = "", fsync = "", standbyNames = ""] = await Promise.all(
    settings.map(async (name) => String((await connections.run({ sql: `show ${name}` })).rows[0]?.[0])),
  );
  const [[standbys] = []] = await readOptional(connections, selectStandbyCount);
  const found = faultOf("The database", [commit, fsync, standbyNames, Number(standbys ?? 0)]);
  if (found !== undefined || !(await isCluster((statement) => connections.run(statement)))) return found;
  const nodes = await readOptional(connections, selectNodes);
  return nodes
    .map(([node]) => faultOf("A node of the Citus cluster", JSON.parse(String(node))))
    .find((fault) => fault !== undefined);
}

/** A warning if the server does not check its pages for damage; `undefined` if it does, or if this is not known. */
export async function findUnchecked(connections: Connections): Promise<string | undefined> {
  const [[checksums] = []] = await readOptional(connections, { sql: "show data_checksums" });
  if (checksums !== "off") return undefined;
  return "The database has data_checksums off, so it finds damage to its indexes only by chance. The service itself checks only the rows of the store.";
}

/**
 * A warning if the database compiles plans. The service turns this off in its own sessions, but behind a pooler it has none: there, a
 * statement that reads little takes seconds.
 */
export async function findCompiling(connections: Connections): Promise<string | undefined> {
  const sql = "select current_setting('jit') = 'on' and pg_jit_available(), quote_ident(current_user)";
  const [[isCompiling, user] = []] = await readOptional(connections, { sql });
  if (isCompiling !== "t") return undefined;
  return `The database compiles plans (jit), which makes some lists take seconds. Behind a pooler, the service cannot turn this off. Turn it off with: alter role ${user} set jit = off`;
}

function faultOf(subject: string, [commit, fsync, standbyNames, standbys]: Durability): string | undefined {
  const off = [...(commit === "off" ? ["synchronous_commit"] : []), ...(fsync === "off" ? ["fsync"] : [])];
  if (off.length > 0)
    return `${subject} has ${off.join(" and ")} off. A power failure can lose writes that the service has acknowledged.`;
  const waitsForStandbys = standbyNames !== "" && commit !== "local";
  if (waitsForStandbys || standbys === 0) return undefined;
  return `${subject} does not wait for its standbys. A failover can lose writes that the service has acknowledged.`;
}

/** The rows of a statement. None if the database does not have what it reads, as in related products, or does not allow it. */
async function readOptional(connections: Connections, statement: Statement): Promise<readonly Row[]> {
  try {
    return (await connections.run(statement)).rows;
  } catch (error) {
    if (sqlState(error)?.startsWith("42")) return []; // syntax error or access rule violation
    throw error;
  }
}

/** Counts standbys, without backups and subscribers of logical replication. Without special rights, `state` is null. */
const selectStandbyCount: Statement = {
  sql: `select count(*) from pg_stat_replication where coalesce(state, 'streaming') = 'streaming' and pid not in
    (select active_pid from pg_replication_slots where slot_type = 'logical' and active_pid is not null)`,
};

/** The durability of each node that responds. */
const selectNodes: Statement = {
  sql: `select result from pg_catalog.run_command_on_all_nodes($node$ select json_build_array(
      current_setting('synchronous_commit'), current_setting('fsync'), current_setting('synchronous_standby_names'),
      (${selectStandbyCount.sql})) $node$) where success`,
};
