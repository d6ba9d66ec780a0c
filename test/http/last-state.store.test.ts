/** The last state of a resource while others delete and restore it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openCollection } from "../../src/collection/collection.ts";
import { anonymous } from "../../src/http/caller/admit.ts";
import { guardOf } from "../../src/http/caller/permission.ts";
import { lastState } from "../../src/http/reads/history.ts";
import type { Change } from "../../src/store/port/commit.ts";
import type { Store } from "../../src/store/port/store.ts";
import { at, commit, created, deleted, textOf, topic } from "../store/contract/fixture.ts";
import { openSqliteFixture } from "../store/sqlite-fixture.ts";

const key = topic("1");
const guard = guardOf(
  { access: undefined } as Parameters<typeof guardOf>[0],
  openCollection("topics"),
  anonymous,
);

async function openDeleted(t: { after(run: () => Promise<void>): void }): Promise<Store> {
  const { store, cleanup } = await openSqliteFixture();
  t.after(cleanup);
  await store.migrate([{ name: "topics", idKind: "uuid", schema: undefined, indexes: [], search: [] }]);
  await commit(store, [created(key, { n: 1 })]);
  await commit(store, [deleted(key, 1)]);
  return store;
}

/** The same store. A write of `writes` comes before each lookup, in their order. */
function interrupted(store: Store, writes: (Change | undefined)[]): Parameters<typeof lastState>[0] {
  const writeNext = async () => {
    const change = writes.shift();
    if (change !== undefined) await commit(store, [change]);
  };
  return {
    store: {
      read: async (read) => writeNext().then(() => store.read(read)),
      changesOf: async (...query) => writeNext().then(() => store.changesOf(...query)),
      version: (...query) => store.version(...query),
      lastVersion: (of) => store.lastVersion(of),
    },
  };
}

const restored = (after: number): Change => ({ ...created(key, { n: 1 }), after });

test("a resource that is restored between the lookups exists", async (t) => {
  const service = interrupted(await openDeleted(t), [undefined, restored(2)]);
  assert.deepEqual(await lastState(service, guard, key), {
    last: { id: "1", version: 3, text: textOf("1", { n: 1 }), updatedAt: at },
    deleted: undefined,
    isOlder: false,
  });
});

test("a resource that is restored and deleted again between the lookups has its last state", async (t) => {
  const service = interrupted(await openDeleted(t), [undefined, restored(2), deleted(key, 3)]);
  const state = await lastState(service, guard, key);
  assert.equal(state?.last.version, 3);
  assert.equal(state?.deleted?.version, 4);
});
