/** How long the change log keeps changes, and what remains in the file after an erasure. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { StoreOptions } from "../../src/store/open.ts";
import { logStart } from "../../src/store/port/log-place.ts";
import type { Store } from "../../src/store/port/store.ts";
import { until } from "../until.ts";
import {
  commit,
  created,
  declaration,
  deleted,
  rejectsWith,
  textOf,
  topic,
  updated,
} from "./contract/fixture.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

const topics = declaration("topics", { search: [["name"]] });

async function open(t: { after(run: () => Promise<void>): void }, options: StoreOptions) {
  const fixture = await openSqliteFixture({ sweepMs: 5, ...options });
  t.after(fixture.cleanup);
  await fixture.store.migrate([topics]);
  return fixture;
}

/** Updates a resource until it has the version, each at its own time. */
async function raise(store: Store, id: string, versions: number, timeOf: (version: number) => number) {
  await commit(store, [created(topic(id), { n: 1 })], { at: timeOf(1) });
  for (let n = 2; n <= versions; n++)
    await commit(store, [updated(topic(id), n - 1, { n })], { at: timeOf(n) });
}

const sequencesOf = async (store: Store) =>
  (await store.changesAfter("topics", logStart, 10_000)).changes.map(({ sequence }) => sequence);

/** Waits until the sweep has left this many changes. */
async function untilLeft(store: Store, changes: number): Promise<void> {
  await until(`${changes} changes are left`, async () => (await sequencesOf(store)).length === changes);
}

/** The store after a sweep: the first one begins when a store is opened, and a store is closed after it. */
async function swept(reopen: () => Promise<Store>): Promise<Store> {
  await reopen();
  return reopen();
}

test("a history for ever is never swept", async (t) => {
  const { store, reopen } = await open(t, { history: "forever" });
  await raise(store, "a", 20, (n) => n);
  assert.equal((await sequencesOf(await swept(reopen))).length, 20);
});

test("without a history nothing is logged, what was logged goes, and versions go on", async (t) => {
  const { store, path } = await open(t, { history: "forever" });
  await raise(store, "a", 5, (n) => n);
  await store.close();
  const { openStore } = await import("../../src/store/open.ts");
  const none = await openStore({ kind: "sqlite", path }, { history: "none", sweepMs: 5 });
  t.after(() => none.close());
  await untilLeft(none, 0);
  const [committed] = await commit(none, [updated(topic("a"), 5, { n: 6 })]);
  assert.deepEqual(committed, { version: 6, sequence: 6 });
  assert.deepEqual(await sequencesOf(none), []);
  assert.equal((await none.version(topic("a"), 6))?.version, 6);
  assert.equal(await none.version(topic("a"), 5), undefined);
  await commit(none, [deleted(topic("a"), 6)]);
  await rejectsWith("PRECONDITION_FAILED", commit(none, [{ ...created(topic("a")), after: 6 }]));
  const [returned] = await commit(none, [{ ...created(topic("a")), after: 7 }]);
  assert.equal(returned?.version, 8);
});

for (const missing of [4, 5])
  test(`a version is not found if change ${missing} of 5 is missing, as after a time without a history`, async (t) => {
    const { store, path } = await open(t, { history: "forever" });
    const { openStore } = await import("../../src/store/open.ts");
    const fields = (n: number) => ({ n, pad: "x".repeat(10_000) }); // long enough for the log to keep differences
    await commit(store, [created(topic("a"), fields(1))]);
    for (const version of [1, 2, 3, 4])
      await commit(store, [updated(topic("a"), version, fields(version + 1))]);
    await store.close();
    const database = new DatabaseSync(path);
    database.prepare("delete from changes_1 where version = ?").run(missing);
    database.close();
    const again = await openStore({ kind: "sqlite", path }, { history: "forever" });
    t.after(() => again.close());
    for (const version of [1, 2, 3]) assert.equal(await again.version(topic("a"), version), undefined);
    const changes = (await again.changesAfter("topics", logStart, 10)).changes;
    const before = [1, 2, 3].map((version) => [version, undefined]);
    assert.deepEqual(
      changes.map(({ version, superseded }) => [version, superseded]),
      [...before, missing === 4 ? [5, textOf("a", fields(4))] : [4, undefined]],
    );
  });

test("writes go on while the sweep works", async (t) => {
  const { store } = await open(t, { history: "forever" });
  assert.ok(store);
  const fixture = await openSqliteFixture({ sweepMs: 1, history: { keepDays: 0, keepChanges: 10 } });
  t.after(fixture.cleanup);
  await fixture.store.migrate([topics]);
  const works = Array.from({ length: 20 }, (_, n) => raise(fixture.store, `r${n}`, 50, (v) => v));
  await Promise.all(works);
  await untilLeft(fixture.store, 10);
  assert.equal((await fixture.store.list({ collection: "topics", limit: 1 })).sequence, 1_000);
});

test("of an erased resource the file has nothing left, nor has its log", async (t) => {
  const { store, path } = await open(t, { history: "forever" });
  const secret = "Xanthippe";
  await commit(store, [created(topic("keep"), { name: "Sokrates" })]);
  await commit(store, [created(topic("a"), { name: `${secret} ${"x".repeat(9_000)}` })]);
  await commit(store, [updated(topic("a"), 1, { name: `${secret} again` })]);
  await commit(store, [updated(topic("a"), 2, { name: secret })]);
  const holds = () => [path, `${path}-wal`].some((file) => /xanthippe/i.test(readFileSync(file, "latin1")));
  assert.ok(holds());
  assert.deepEqual(await store.erase(topic("a")), {
    isKnown: true,
    resource: true,
    changes: 3,
    affected: [],
  });
  assert.ok(!holds());
  const found = await store.list({ collection: "topics", limit: 9, words: ["sokrates"] });
  assert.deepEqual(
    found.items.map(({ id }) => id),
    ["keep"],
  );
});

test("a version whose stored difference is damaged is an error that names it, and others are read", async (t) => {
  const { store, path } = await open(t, { history: "forever" });
  const pad = "word ".repeat(2_000);
  await commit(store, [created(topic("a"), { n: 1, pad })]);
  for (const n of [2, 3]) await commit(store, [updated(topic("a"), n - 1, { n, pad })]);
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(path);
  database.exec("update changes_1 set superseded = replace(superseded, ',', ',9') where version = 2");
  database.close();
  const damaged = /^Problem: The change log of the resource topics\/a, at version 2, is damaged in the store/;
  await assert.rejects(store.version(topic("a"), 1), damaged);
  await assert.rejects(store.changesAfter("topics", logStart, 9), damaged);
  assert.equal((await store.version(topic("a"), 2))?.text, textOf("a", { n: 2, pad }));
});

test("the changes of a resource are found by an index", async (t) => {
  const { store, path } = await open(t, { history: "forever" });
  await raise(store, "a", 3, (n) => n);
  await store.close();
  const { DatabaseSync } = await import("node:sqlite");
  const after = new DatabaseSync(path);
  const plan = after
    .prepare("explain query plan select * from changes_1 where id = 'a' and version < 3")
    .all();
  after.close();
  assert.match(JSON.stringify(plan), /changes_1_by_resource/);
});
