/** Dry runs: a store decides about a commit as always, and writes nothing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  commit,
  created,
  declaration,
  deleted,
  type OpenFixture,
  onStore,
  rejectsWith,
  scannedIds,
  topic,
  updated,
  user,
} from "./fixture.ts";

const by = { path: ["by"], collection: "users" } as const;

export function dryRunsContract(open: OpenFixture): void {
  test(
    "a dry run writes nothing, and a commit after it is as if it had not been",
    onStore(open, async (store) => {
      await commit(store, [created(topic("a")), created(topic("b"))]);
      const changes = [updated(topic("a"), 1, { x: 1 }), deleted(topic("b"), 1), created(topic("c"))];
      const before = await store.logHeads(["topics"]);
      assert.deepEqual(await commit(store, changes, { isDryRun: true }), []);
      assert.deepEqual(await store.logHeads(["topics"]), before);
      assert.deepEqual(await scannedIds(store, "topics"), ["a", "b"]);
      assert.equal((await store.read(topic("a")))?.version, 1);
      const committed = await commit(store, changes);
      assert.deepEqual(
        committed.map(({ version }) => version),
        [2, 2, 1],
      );
    }),
  );

  test(
    "a dry run is refused for everything for which the commit would be",
    onStore(open, async (store) => {
      const unique = [{ path: ["mail"] as const, ignoreCase: false }];
      await store.migrate([declaration("topics", { unique, references: [{ ...by, onDelete: "restrict" }] })]);
      await commit(store, [created(user("kim")), created(topic("a"), { mail: "x", by: "kim" })]);
      const dry = (...changes: Parameters<typeof commit>[1]) => commit(store, changes, { isDryRun: true });
      await rejectsWith("PRECONDITION_FAILED", dry(updated(topic("a"), 2)));
      await rejectsWith("UNIQUE_VIOLATION", dry(created(topic("b"), { mail: "x" })));
      await rejectsWith("REFERENCE_NOT_FOUND", dry(updated(topic("a"), 1, { by: "lee" })));
      await rejectsWith("REFERENCED", dry(deleted(user("kim"), 1)));
      assert.deepEqual(await dry(deleted(user("kim"), 1), deleted(topic("a"), 1)), []);
    }),
  );

  test(
    "a dry run and the commits that arrive with it do not see each other's effects",
    onStore(open, async (store) => {
      await store.migrate([declaration("topics", { references: [{ ...by, onDelete: "cascade" }] })]);
      await commit(store, [created(user("kim")), created(topic("a"), { by: "kim" })]);
      const [dry, real, again] = await Promise.all([
        commit(store, [deleted(user("kim"), 1)], { isDryRun: true }),
        commit(store, [updated(topic("a"), 1, { by: "kim", x: 1 })]),
        commit(store, [deleted(user("kim"), 1)], { isDryRun: true }),
      ]);
      assert.deepEqual([dry, real.length, again], [[], 1, []]);
      assert.equal(await store.count("users"), 1);
      assert.equal((await store.read(topic("a")))?.version, 2);
    }),
  );

  test(
    "what follows from deletes is limited to what the commit says",
    onStore(open, async (store) => {
      await store.migrate([declaration("topics", { references: [{ ...by, onDelete: "cascade" }] })]);
      await commit(store, [created(user("kim")), created(topic("a"), { by: "kim", long: "é".repeat(500) })]);
      const { text = "" } = (await store.read(topic("a"))) ?? {};
      const length = Buffer.byteLength(text);
      await rejectsWith(
        "REFERENCED",
        commit(store, [deleted(user("kim"), 1)], { maxCascadeText: length - 1 }),
      );
      assert.equal(await store.count("topics"), 1);
      await commit(store, [deleted(user("kim"), 1)], { maxCascadeText: length });
      assert.equal(await store.count("topics"), 0);
    }),
  );
}
