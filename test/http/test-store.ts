/** Where the services of tests keep their resources: the one place that says on which store the whole suite runs. */
import { join } from "node:path";
import type { StoreAddress } from "../../src/store/open.ts";
import { openDatabase } from "../postgres/databases.ts";

/** A place for one service. */
export interface TestStore {
  address: StoreAddress;
  /** Gives it to others once the service has stopped. */
  release(): void;
}

/** A store of its own: a file in the folder, or with HOLDFAST_TEST_STORE=postgres a database. */
export async function openTestStore(folder: string): Promise<TestStore> {
  if (!isOnPostgres)
    return { address: { kind: "sqlite", path: join(folder, "store.db") }, release: () => {} };
  const { url, release } = await openDatabase(process.env.HOLDFAST_TEST_POSTGRES);
  return { address: { kind: "postgres", url }, release };
}

/** Whether the suite runs on PostgreSQL. */
export const isOnPostgres = process.env.HOLDFAST_TEST_STORE === "postgres";
