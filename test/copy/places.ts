/** The places of stores: a file or a database. */
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { StoreAddress } from "../../src/store/open.ts";
import { makeFolder } from "../folder.ts";
import { type DatabaseOptions, databaseFor } from "../postgres/databases.ts";

export type PlaceKind = StoreAddress["kind"];

/** Every way to copy. */
export const ways: readonly { from: PlaceKind; to: PlaceKind }[] = [
  { from: "sqlite", to: "sqlite" },
  { from: "sqlite", to: "postgres" },
  { from: "postgres", to: "sqlite" },
  { from: "postgres", to: "postgres" },
];

/** A place without collections. It is removed when the test ends. */
export async function makePlace(
  test: TestContext,
  kind: PlaceKind,
  options: DatabaseOptions = {},
): Promise<StoreAddress> {
  if (kind === "postgres") {
    const url = await databaseFor(test, options);
    return { kind, url };
  }
  const folder = makeFolder();
  return { kind, path: join(folder, "store.db") };
}
