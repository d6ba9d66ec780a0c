import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type StoreOptions } from "../../src/store/open.ts";
import type { Fixture } from "./contract/fixture.ts";

/** Makes a folder that is removed by the function that comes with it. */
export function makeFolder(): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-store-"));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** A store on a SQLite file of its own. */
export async function openSqliteFixture(options: StoreOptions = {}): Promise<Fixture & { path: string }> {
  const { folder, remove } = makeFolder();
  const path = join(folder, "store.db");
  let store = await openStore({ kind: "sqlite", path }, options);
  return {
    store,
    address: { kind: "sqlite", path },
    path,
    async reopen() {
      await store.close();
      store = await openStore({ kind: "sqlite", path }, options);
      return store;
    },
    async cleanup() {
      await store.close();
      remove();
    },
  };
}
