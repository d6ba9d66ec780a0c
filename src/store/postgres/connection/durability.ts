/** Finds settings of the database that allow it to lose confirmed writes. */

import type { Connections, Statement } from "./connections.ts";
import { sqlState } from "./failures.ts";

/** A warning if the database can lose confirmed writes; `undefined` if it cannot. */
export async function findRelaxed(connections: Connections): Promise<string | undefined> {
  const settings = ["synchronous_commit", "fsync", "synchronous_standby_names"] as const;
  const [commit, fsync, standbyNames] = await Promise.all(
    settings.map((name) => readSetting(connections, name)),
  );
  const off = [...(commit === "off" ? ["synchronous_commit"] : []), ...(fsync === "off" ? ["fsync"] : [])];
  if (off.length > 0)
    return `The database has ${off.join(" and ")} off. A power failure can lose writes that the service has acknowledged.`;
  const waitsForStandbys = standbyNames !== "" && commit !== "local";
  if (waitsForStandbys || (await countStandbys(connections)) === 0) return undefined;
  return "The database does not wait for its standbys. A failover can lose writes that the service has acknowledged.";
}

async function readSetting(connections: Connections, setting: string): Promise<string | null | undefined> {
  const { rows } = await connections.run({ sql: `show ${setting}` });
  return rows[0]?.[0];
}

/** The number of standbys. 0 if the database has no such view: related products replicate in other ways. */
async function countStandbys(connections: Connections): Promise<number> {
  try {
    const { rows } = await connections.run(selectStandbyCount);
    return Number(rows[0]?.[0]);
  } catch (error) {
    if (sqlState(error)?.startsWith("42")) return 0; // syntax error or access rule violation
    throw error;
  }
}

/** Counts standbys, without backups and subscribers of logical replication. Without special rights, `state` is null. */
const selectStandbyCount: Statement = {
  sql: `select count(*) from pg_stat_replication where coalesce(state, 'streaming') = 'streaming' and pid not in
    (select active_pid from pg_replication_slots where slot_type = 'logical' and active_pid is not null)`,
};
