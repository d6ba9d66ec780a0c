/** Which changes are kept, on each store. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, type TestContext, test } from "node:test";
import type { StoreOptions } from "../../src/store/open.ts";
import { logStart } from "../../src/store/port/log-place.ts";
import type { Store } from "../../src/store/port/store.ts";
import { machineTime, until } from "../until.ts";
import { commit, created, declaration, topic, updated } from "./contract/fixture.ts";
import { openPostgresFixture } from "./postgres-fixture.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

const topics = declaration("topics");
const dayMs = 86_400_000;

async function raise(store: Store, id: string, to: number, { pad = "", from = 0, at = machineTime() } = {}) {
  for (let version = from; version < to; version++) {
    const fields = { version, pad };
    const change = version === 0 ? created(topic(id), fields) : updated(topic(id), version, fields);
    await commit(store, [change], { at });
  }
}

const logOf = async (store: Store) => (await store.changesAfter("topics", logStart, 10_000)).changes;

/** As `keepBytes` counts: the texts here are short enough to be kept whole. */
const bytesOf = (changes: Awaited<ReturnType<typeof logOf>>) =>
  changes.reduce((sum, { superseded = "" }) => sum + 100 + Buffer.byteLength(superseded), 0);

const stores = { SQLite: openSqliteFixture, PostgreSQL: openPostgresFixture };

for (const [name, openFixture] of Object.entries(stores)) {
  async function open(t: TestContext, history: StoreOptions["history"]) {
    const fixture = await openFixture({ sweepMs: 5, ...(history && { history }) });
    t.after(fixture.cleanup);
    await fixture.store.migrate([topics]);
    return fixture;
  }

  describe(`the change log in ${name}`, { concurrency: true }, () => {
    test("keeps the last changes, and all young ones", async (t) => {
      const { store } = await open(t, { keepDays: 1, keepChanges: 3 });
      const many = Array.from({ length: 700 }, (_, n) => created(topic(`r${n}`)));
      await commit(store, many, { at: machineTime() - 2 * dayMs });
      await until("three are left", async () => (await logOf(store)).length === 3);
      await raise(store, "b", 5);
      await until("the old ones are gone", async () => (await logOf(store)).length === 5);
      assert.deepEqual(
        (await logOf(store)).map(({ id }) => id),
        Array(5).fill("b"),
      );
    });

    test("keeps at most so many bytes of the newest changes, also after it is opened again", async (t) => {
      const keepBytes = 100_000;
      const { store, reopen } = await open(t, { keepDays: 1, keepChanges: 1e6, keepBytes });
      const pad = "é".repeat(1_000);
      await raise(store, "a", 80, { pad });
      const isSmall = async (each: Store) => bytesOf(await logOf(each)) <= keepBytes;
      await until("the log is small enough", () => isSmall(store));
      const again = await reopen();
      await raise(again, "a", 120, { pad, from: 80 });
      await until("the log is small enough again", () => isSmall(again));
      const left = await logOf(again);
      assert.equal(left.at(-1)?.version, 120);
      assert.equal(left.length, 120 - Number(left[0]?.version) + 1, "the newest ones");
      assert.ok(bytesOf(left) > keepBytes * 0.9, `${bytesOf(left)}`);
    });

    test("removes a change that alone is more than what is kept, and keeps later ones", async (t) => {
      const { store } = await open(t, { keepDays: 1, keepChanges: 0, keepBytes: 50_000 });
      const pad = randomBytes(2_000_000).toString("hex"); // not to be compressed
      await commit(store, [created(topic("big"), { pad })], { at: machineTime() });
      await commit(store, [updated(topic("big"), 1, { n: 2 })], { at: machineTime() });
      await raise(store, "a", 20);
      await until("the large one is gone", async () => (await logOf(store)).length === 20);
      assert.equal((await logOf(store))[0]?.id, "a");
      assert.equal((await store.read(topic("big")))?.version, 2);
    });

    test("keeps nothing where nothing may be kept", async (t) => {
      const { store } = await open(t, { keepDays: 30, keepChanges: 1e6, keepBytes: 0 });
      await raise(store, "a", 20);
      await until("everything is gone", async () => (await logOf(store)).length === 0);
      assert.equal((await store.read(topic("a")))?.version, 20);
    });
  });
}
