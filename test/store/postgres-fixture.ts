import { openStore, type StoreOptions } from "../../src/store/open.ts";
import { openDatabase } from "../postgres/databases.ts";
import type { Fixture } from "./contract/fixture.ts";

/** A store on a PostgreSQL database of its own, on the server that the tests start or on the given one. */
export async function openPostgresFixture(
  options: StoreOptions = {},
  server?: string,
): Promise<Fixture & { url: string }> {
  const { url, release } = await openDatabase(server);
  let store = await openStore({ kind: "postgres", url }, options);
  return {
    store,
    address: { kind: "postgres", url },
    url,
    async reopen() {
      await store.close();
      store = await openStore({ kind: "postgres", url }, options);
      return store;
    },
    async cleanup() {
      await store.close();
      release();
    },
  };
}
