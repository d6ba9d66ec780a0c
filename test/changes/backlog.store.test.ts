/** What consumers still have to handle, as monitors ask for it again and again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pendingOf } from "../../src/changes/consume/backlog.ts";
import type { ConsumerState } from "../../src/changes/consume/consumer-records.ts";
import { toPlace } from "../../src/store/port/log-place.ts";
import { commit, created, declaration } from "../store/contract/fixture.ts";
import { openSqliteFixture } from "../store/sqlite-fixture.ts";

test("the ends of the logs are read once for all consumers", async (t) => {
  const { store, cleanup } = await openSqliteFixture({ history: "forever" });
  t.after(cleanup);
  await store.migrate([declaration("topics"), declaration("users")]);
  for (const n of [1, 2, 3])
    await commit(store, [created({ collection: "topics", id: `t${n}` }, { n })], { at: n });
  await commit(store, [created({ collection: "users", id: "u" }, { n: 1 })], { at: 9 });
  let reads = 0;
  const counted = {
    logHeads: (names: readonly string[]) => {
      reads++;
      return store.logHeads(names);
    },
    changeAt: store.changeAt.bind(store),
  };
  const consumers = [
    { id: "begun", collections: ["topics"] },
    { id: "done", collections: ["topics"] },
    { id: "both", collections: ["topics", "users"] },
  ];
  const reached = (topics: number): ConsumerState => ({
    marks: { topics: [toPlace(topics), ""] },
    owes: {},
    lost: 0,
  });
  const states = new Map([
    ["begun", reached(1)],
    ["done", reached(3)],
    ["both", reached(3)],
  ]);
  const parts = { store: counted as unknown as typeof store, collectionNames: () => [] };
  const pending = await pendingOf(parts, consumers, states);
  assert.deepEqual(Object.fromEntries(pending), {
    begun: { waiting: 2, oldestAt: 2 },
    done: { waiting: 0, oldestAt: undefined },
    both: { waiting: 1, oldestAt: 9 },
  });
  assert.equal(reads, 1);
});
