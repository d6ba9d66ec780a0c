/** What an acknowledged write is worth, as the database is set up. */

import type { Connections, Statement } from "./connections.ts";
import { sqlState } from "./failures.ts";

/** Says what lets the database lose what it has acknowledged; `undefined` where nothing does. */
export async function findRelaxed(connections: Connections): Promise<string | undefined> {
  const settings = ["synchronous_commit", "fsync", "synchronous_standby_names"] as const;
  const [commit, fsync, awaited] = await Promise.all(settings.map((name) => readSetting(connections, name)));
  const off = [...(commit === "off" ? ["synchronous_commit"] : []), ...(fsync === "off" ? ["fsync"] : [])];
  if (off.length > 0)
    return `The database has ${off.join(" and ")} off. A power failure can lose writes that the service has acknowledged.`;
  const waits = awaited !== "" && commit !== "local";
  if (waits || (await standbysOf(connections)) === 0) return undefined;
  return "The database does not wait for its standbys. A failover can lose writes that the service has acknowledged.";
}

async function readSetting(connections: Connections, setting: string): Promise<string | null | undefined> {
  const { rows } = await connections.run({ sql: `show ${setting}` });
  return rows[0]?.[0];
}

/** None where the database does not tell: others of the family keep their copies in other ways. */
async function standbysOf(connections: Connections): Promise<number> {
  try {
    const { rows } = await connections.run(countStandbys);
    return Number(rows[0]?.[0]);
  } catch (error) {
    if (sqlState(error)?.startsWith("42")) return 0; // syntax error or access rule violation
    throw error;
  }
}

/** How many standbys follow the database: not backups, nor those who subscribe to tables. The states show for few users. */
const countStandbys: Statement = {
  sql: `select count(*) from pg_stat_replication where coalesce(state, 'streaming') = 'streaming' and pid not in
    (select active_pid from pg_replication_slots where slot_type = 'logical' and active_pid is not null)`,
};
