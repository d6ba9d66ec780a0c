import { openStore, type StoreOptions } from "../../src/store/open.ts";
import { openDatabase, query } from "../postgres/databases.ts";
import { ceilingMs, until } from "../until.ts";
import type { Fixture } from "./contract/fixture.ts";

/** A store on a new PostgreSQL database, on the server of the tests or on a given server. */
export async function openPostgresFixture(
  options: StoreOptions = {},
  server?: string,
): Promise<Fixture & { url: string }> {
  const { url, release } = await openDatabase(server);
  const patient = { queryMs: ceilingMs, responseMs: ceilingMs, connectMs: ceilingMs, ...options };
  let store = await openStore({ kind: "postgres", url }, patient);
  return {
    store,
    address: { kind: "postgres", url },
    url,
    async reopen(changed = {}) {
      await store.close();
      await untilAlone(url);
      store = await openStore({ kind: "postgres", url }, { ...patient, ...changed });
      return store;
    },
    async cleanup() {
      await store.close();
      release();
    },
  };
}

const othersSql = `select count(*) as others from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;

/** Waits until the server has closed all connections to the database, because their last statements may still run. */
async function untilAlone(url: string): Promise<void> {
  await until("nobody uses the database", async () => {
    const { rows } = await query(url, othersSql);
    return Number(rows[0].others) === 0;
  });
}
