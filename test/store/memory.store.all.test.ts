/** The contract on a store in memory, as far as no test opens a store again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inMemory } from "../../src/store/address.ts";
import { openStore, type StoreOptions } from "../../src/store/open.ts";
import { ceilingMs } from "../until.ts";
import {
  at,
  created,
  declaration,
  EndsWhenClosed,
  type Fixture,
  rejectsWith,
  scannedIds,
  textOf,
  topic,
} from "./contract/fixture.ts";
import { storeContract } from "./contract.ts";

async function openMemoryFixture(options: StoreOptions = {}): Promise<Fixture> {
  const store = await openStore(inMemory, { queryMs: ceilingMs, ...options });
  return {
    store,
    address: inMemory,
    reopen: () => {
      throw new EndsWhenClosed();
    },
    cleanup: () => store.close(),
  };
}

test("a list that takes too long ends, and other reads are answered", async (t) => {
  const { store, cleanup } = await openMemoryFixture({ queryMs: -1 });
  t.after(cleanup);
  await store.migrate([declaration("topics")]);
  await store.commit({ changes: [created(topic("a"), { n: 1 })], at });
  const sort = [{ path: ["n"], descending: false }] as const;
  await rejectsWith("QUERY_TOO_EXPENSIVE", store.list({ collection: "topics", sort, limit: 1 }));
  assert.equal((await store.read(topic("a")))?.version, 1);
});

test("a scan sees the state from before it, and so do reads during an import", async (t) => {
  const { store, cleanup } = await openMemoryFixture();
  t.after(cleanup);
  await store.migrate([declaration("topics")]);
  const create = (id: string) => store.commit({ changes: [created(topic(id))], at });
  await create("a");
  await create("b");
  const scan = store.scan("topics")[Symbol.asyncIterator]();
  assert.equal((await scan.next()).value?.id, "a");
  const load = await store.load("topics");
  await load.add([{ id: "c", text: textOf("c") }]);
  assert.equal(await store.read(topic("c")), undefined);
  assert.equal(await store.count("topics"), 2);
  assert.deepEqual(await scannedIds(store, "topics"), ["a", "b"]);
  await load.finish();
  assert.equal((await store.read(topic("c")))?.id, "c");
  assert.equal((await scan.next()).value?.id, "b");
  assert.equal((await scan.next()).done, true);
});

storeContract("A store in memory", openMemoryFixture, 1 / 4);
