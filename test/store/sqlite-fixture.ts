import { join } from "node:path";
import { Problem } from "../../src/errors.ts";
import { openStore, type StoreOptions } from "../../src/store/open.ts";
import { makeFolder } from "../folder.ts";
import { ceilingMs, until } from "../until.ts";
import type { Fixture } from "./contract/fixture.ts";

/** Asks for a list until it is answered: on a busy machine a quick one may pass a short limit, too. */
export async function untilAnswered<T>(ask: () => T | Promise<T>): Promise<T> {
  const pages: T[] = [];
  await until("the list is answered", async () => {
    try {
      pages.push(await ask());
    } catch (error) {
      if (!(error instanceof Problem && ["QUERY_TOO_EXPENSIVE", "UNAVAILABLE"].includes(error.code)))
        throw error;
    }
    return pages.length > 0;
  });
  return pages[0] as T;
}

/** A store on a new SQLite file. By default, a list can take long, because the machine can be busy. */
export async function openSqliteFixture(options: StoreOptions = {}): Promise<Fixture & { path: string }> {
  const folder = makeFolder();
  const path = join(folder, "store.db");
  const patient = { queryMs: ceilingMs, ...options };
  let store = await openStore({ kind: "sqlite", path }, patient);
  return {
    store,
    address: { kind: "sqlite", path },
    path,
    async reopen(changed = {}) {
      await store.close();
      store = await openStore({ kind: "sqlite", path }, { ...patient, ...changed });
      return store;
    },
    async cleanup() {
      await store.close();
    },
  };
}
