/** Stores with many resources, whose indexes are built in steps. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { readIndexes } from "../../src/collection/indexes.ts";
import { openReader, openStore, type StoreAddress, type StoreOptions } from "../../src/store/open.ts";
import type { CollectionRecord } from "../../src/store/port/record.ts";
import type { Store } from "../../src/store/port/store.ts";
import { openCommandConnections, runPlan } from "../../src/store/postgres/connection/connections.ts";
import { Catalogue, catalogueSql, toCollection } from "../../src/store/postgres/tables/declared-catalogue.ts";
import { building } from "../../src/store/postgres/tables/migrate.ts";
import { makePlace } from "../copy/places.ts";
import { ceilingMs, until } from "../until.ts";
import { declaration } from "./contract/fixture.ts";

/** A collection without indexes. */
export const bare = declaration("topics");

/** The same collection with an index. */
export const byN: CollectionRecord = { ...bare, indexes: readIndexes(["n"], "indexes") };

/** A list that the index makes quick. */
export const sorted = { collection: "topics", limit: 20, sort: readIndexes(["n"], "sort")[0] ?? [] };

/** The attributes of the resource with this number. */
export const attributesOf = (n: number) => ({ n: (n * 7_919) % 1_000, m: n % 10, title: `word${n % 50}` });

/** Its id. */
export const idOf = (n: number) => `t${String(n).padStart(6, "0")}`;

/** Opens a store until the test ends. Returns also what it says. */
export async function open(
  t: TestContext,
  address: StoreAddress,
  options: StoreOptions = {},
): Promise<{ store: Store; infos: string[]; warnings: string[] }> {
  const [infos, warnings]: [string[], string[]] = [[], []];
  const store = await openStore(address, {
    queryMs: ceilingMs,
    onInfo: (text) => infos.push(text),
    onWarning: (text) => warnings.push(text),
    ...options,
  });
  t.after(() => store.close());
  return { store, infos, warnings };
}

/** A store with resources, and nothing else declared. */
export async function filled(t: TestContext, kind: StoreAddress["kind"], resources: number) {
  const address = await makePlace(t, kind);
  const opened = await open(t, address);
  const load = await opened.store.load(bare);
  for (let from = 0; from < resources; from += 5_000)
    await load.add(
      Array.from({ length: Math.min(5_000, resources - from) }, (_, i) => {
        const id = idOf(from + i);
        return { id, text: JSON.stringify({ id, ...attributesOf(from + i) }) };
      }),
    );
  await load.finish();
  return { ...opened, address };
}

/** What a walk through the whole store finds. */
export async function findings(address: StoreAddress): Promise<string[]> {
  const reader = await openReader(address);
  const found: string[] = [];
  await reader.findDamage((text) => found.push(text));
  await reader.close();
  return found;
}

/** Waits until the index is complete. */
export const untilQuick = (store: Store, query = sorted) =>
  until("the index is complete", () => store.isQuick(query));

/** The ids of a list. */
export const idsOf = async (store: Store, query = sorted) =>
  (await store.list(query)).items.map(({ id }) => id);

/** What a step on PostgreSQL uses, in this process. */
export async function steps(t: TestContext, address: StoreAddress & { kind: "postgres" }) {
  const { connections, close } = openCommandConnections(address.url);
  t.after(close);
  const { rows } = await connections.run({ sql: catalogueSql });
  const collection = new Catalogue(rows.map(toCollection)).byName.get("topics");
  assert.ok(collection !== undefined);
  const [state] = await runPlan(building.incomplete(), (statement) => connections.run(statement));
  assert.ok(state !== undefined);
  return { connections, collection, state };
}

/** A store on PostgreSQL with an index that is begun, and no instance that continues. */
export async function begun(t: TestContext) {
  const { store, address } = await filled(t, "postgres", 2_000);
  assert.ok(address.kind === "postgres");
  await store.migrate([byN]);
  await store.close();
  return { address, ...(await steps(t, address)) };
}
