import { openStore, type StoreOptions } from "../../src/store/open.ts";
import { openDatabase, untilUnused } from "../postgres/databases.ts";
import { ceilingMs } from "../until.ts";
import type { Fixture } from "./contract/fixture.ts";

/** A store on a new PostgreSQL database, on the server of the tests or on a given server. */
export async function openPostgresFixture(
  options: StoreOptions = {},
  server?: string,
): Promise<Fixture & { url: string }> {
  const { url, release } = await openDatabase({ server });
  const patient = { queryMs: ceilingMs, responseMs: ceilingMs, connectMs: ceilingMs, ...options };
  let store = await openStore({ kind: "postgres", url }, patient);
  return {
    store,
    address: { kind: "postgres", url },
    url,
    async reopen(changed = {}) {
      await store.close();
      await untilUnused(url); // the last statements of the store may still run
      store = await openStore({ kind: "postgres", url }, { ...patient, ...changed });
      return store;
    },
    async cleanup() {
      await store.close();
      await release();
    },
  };
}
