/** Creates stores for the services of tests. This file alone decides the kind of store for the whole suite. */
import { join } from "node:path";
import type { StoreAddress } from "../../src/store/open.ts";
import { openDatabase } from "../postgres/databases.ts";

/** A place for one service. */
export interface TestStore {
  address: StoreAddress;
  /** Releases the store for other tests, as soon as the last service on it has ended. */
  release(): void;
}

/** Creates a store: a file in the folder, or a database with HOLDFAST_TEST_STORE=postgres. */
export async function openTestStore(folder: string): Promise<TestStore> {
  if (!isOnPostgres)
    return { address: { kind: "sqlite", path: join(folder, "store.db") }, release: () => {} };
  const { url, releaseLater } = await openDatabase({ server: process.env.HOLDFAST_TEST_POSTGRES });
  return { address: { kind: "postgres", url }, release: releaseLater };
}

/** Whether the suite runs on PostgreSQL. */
export const isOnPostgres = process.env.HOLDFAST_TEST_STORE === "postgres";
