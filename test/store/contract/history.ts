import assert from "node:assert/strict";
import { test } from "node:test";
import { logStart, toPlace } from "../../../src/store/port/log-place.ts";
import { until } from "../../until.ts";
import {
  at,
  commit,
  created,
  deleted,
  number,
  type OpenFixture,
  onStore,
  rejectsWith,
  textOf,
  topic,
  updated,
} from "./fixture.ts";

const all = { before: Number.MAX_SAFE_INTEGER, limit: 1_000 };

export function historyContract(open: OpenFixture): void {
  test(
    "the changes of one resource come newest first, in pages, and without those of others",
    onStore(open, async (store) => {
      await commit(store, [created(topic("a"))], { principal: "kim" });
      await commit(store, [created(topic("b")), updated(topic("a"), 1, { n: 2 })], { at: at + 1 });
      await commit(store, [deleted(topic("a"), 2)], { at: at + 2 });
      const versions = async (before: number, limit: number) =>
        (await store.changesOf(topic("a"), { before, limit })).map(({ version }) => version);
      assert.deepEqual(await versions(all.before, 2), [3, 2]);
      assert.deepEqual(await versions(2, 2), [1]);
      assert.deepEqual(await versions(1, 2), []);
      const [, second, first] = await store.changesOf(topic("a"), all);
      assert.deepEqual(first, {
        ...{ sequence: 1, version: 1, kind: "created", at, principal: "kim", group: undefined },
      });
      assert.deepEqual([second?.kind, second?.at, typeof second?.group], ["updated", at + 1, "number"]);
      assert.deepEqual(await store.changesOf(topic("none"), all), []);
      assert.deepEqual(await store.changesOf({ collection: "nothing", id: "a" }, all), []);
      for (const id of ["a\0", "\ud800"]) assert.deepEqual(await store.changesOf(topic(id), all), []);
    }),
  );

  test(
    "each version and each moment is given back as it was, also after a delete",
    onStore(open, async (store) => {
      const key = number("7");
      const texts = [textOf("7", { n: 1 }), textOf("7", { n: 2 })];
      await commit(store, [created(key, { n: 1 })]);
      await commit(store, [updated(key, 1, { n: 2 })], { at: at + 10 });
      const first = { id: "7", version: 1, text: texts[0], updatedAt: at };
      const second = { id: "7", version: 2, text: texts[1], updatedAt: at + 10 };
      for (const exists of [true, false]) {
        if (!exists) await commit(store, [deleted(key, 2)], { at: at + 20 });
        assert.deepEqual(await store.version(key, 1), first);
        assert.deepEqual(await store.version(key, 2), second);
        assert.equal(await store.version(key, 3), undefined);
        assert.equal(await store.version(key, 0), undefined);
        assert.equal(await store.version(number("7\0"), 1), undefined);
        assert.equal(await store.versionAt(number("7\0"), at), undefined);
        assert.equal(await store.versionAt(key, at - 1), undefined);
        assert.deepEqual(await store.versionAt(key, at), first);
        assert.deepEqual(await store.versionAt(key, at + 9), first);
        assert.deepEqual(await store.versionAt(key, at + 10), second);
        assert.deepEqual(await store.versionAt(key, at + 25), exists ? second : undefined);
      }
    }),
  );

  test(
    "every version of a large resource is given back as it was, also after a delete and a return",
    onStore(open, async (store, reopen) => {
      const key = number("5");
      const pads = ["x", "é", "冬"].map((letter) => letter.repeat(40_000));
      const fieldsOf = (n: number) => ({
        n,
        pad: pads[Math.floor(n / 13) % 3],
        last: `${n}${"y".repeat(n)}`,
      });
      const texts = new Map<number, string>();
      const note = (version: number) => texts.set(version, textOf("5", fieldsOf(version)));
      await commit(store, [created(key, fieldsOf(1))]);
      note(1);
      for (let version = 2; version <= 40; version++) {
        const expect = version - 1;
        if (version === 35) await commit(store, [deleted(key, expect)], { at: at + version });
        else if (version === 36)
          await commit(store, [{ ...created(key, fieldsOf(version)), after: 35 }], { at: at + version });
        else await commit(store, [updated(key, expect, fieldsOf(version))], { at: at + version });
        if (version !== 35) note(version);
      }
      const again = await reopen();
      for (let version = 1; version <= 41; version++) {
        assert.equal((await again.version(key, version))?.text, texts.get(version), `version ${version}`);
        if (version <= 40)
          assert.equal((await again.versionAt(key, at + version))?.text, texts.get(version), `${version}`);
      }
      for (const [after, limit] of [
        [0, 100],
        [3, 5],
        [17, 4],
        [38, 100],
      ] as const) {
        const changes = (await again.changesAfter("numbers", toPlace(after), limit)).changes;
        assert.deepEqual(
          changes.map(({ superseded }) => superseded),
          changes.map(({ version }) => texts.get(version - 1)),
        );
      }
      assert.deepEqual(await again.erase(key), { isKnown: true, resource: true, changes: 40, affected: [] });
      assert.equal(await again.version(key, 1), undefined);
    }),
  );

  test(
    "several changes of large resources in one group keep what each of them superseded",
    onStore(open, async (store) => {
      const pad = "p".repeat(30_000);
      const ids = ["1", "2", "3"];
      await commit(
        store,
        ids.map((id) => created(number(id), { n: 1, pad })),
      );
      for (let version = 1; version < 20; version++)
        await Promise.all(
          ids.map((id) => commit(store, [updated(number(id), version, { n: version + 1, pad })])),
        );
      for (const id of ids)
        for (let version = 1; version <= 20; version++)
          assert.equal((await store.version(number(id), version))?.text, textOf(id, { n: version, pad }));
      const changes = (await store.changesAfter("numbers", logStart, 100)).changes;
      for (const { id, version, superseded } of changes)
        assert.equal(superseded, version === 1 ? undefined : textOf(id, { n: version - 1, pad }));
    }),
  );

  test(
    "a deleted resource comes back with the version after that of its delete",
    onStore(open, async (store, reopen) => {
      const key = number("3");
      await commit(store, [created(key, { n: 1 })]);
      await commit(store, [deleted(key, 1)], { at: at + 1 });
      const back = { ...created(key, { n: 3 }), after: 2 };
      const [committed] = await commit(store, [back], { at: at + 2 });
      assert.equal(committed?.version, 3);
      const again = await reopen();
      const expected = { id: "3", version: 3, text: textOf("3", { n: 3 }), updatedAt: at + 2 };
      assert.deepEqual(await again.read(key), expected);
      assert.deepEqual(await again.version(key, 3), expected);
      assert.equal(await again.version(key, 2), undefined);
      assert.equal(await again.versionAt(key, at + 1), undefined);
      assert.deepEqual((await again.version(key, 1))?.text, textOf("3", { n: 1 }));
      assert.equal(await again.count("numbers"), 1);
    }),
  );

  test(
    "a deleted resource comes back only after the delete that the caller saw, and once",
    onStore(open, async (store) => {
      const key = topic("a");
      const back = (after: number) => commit(store, [{ ...created(key), after }]);
      await rejectsWith("PRECONDITION_FAILED", back(2));
      await commit(store, [created(key)]);
      await rejectsWith("PRECONDITION_FAILED", back(1));
      await commit(store, [deleted(key, 1)]);
      await rejectsWith("PRECONDITION_FAILED", back(1));
      const together = await Promise.allSettled([back(2), back(2), back(2)]);
      assert.equal(together.filter(({ status }) => status === "fulfilled").length, 1);
      await commit(store, [deleted(key, 3)]);
      await rejectsWith("PRECONDITION_FAILED", back(2));
      assert.equal((await back(4))[0]?.version, 5);
    }),
  );

  test(
    "a resource that is erased is gone with all its changes, and no other",
    onStore(open, async (store, reopen) => {
      const key = topic("a");
      await commit(store, [created(key), created(topic("b"))]);
      await commit(store, [updated(key, 1, { n: 2 })]);
      await store.read(key);
      assert.deepEqual(await store.erase(key), { isKnown: true, resource: true, changes: 2, affected: [] });
      assert.deepEqual(await store.erase(key), { isKnown: false, resource: false, changes: 0, affected: [] });
      const again = await reopen();
      assert.equal(await again.read(key), undefined);
      assert.equal(await again.version(key, 1), undefined);
      assert.deepEqual(await again.changesOf(key, all), []);
      const { items, total, sequence } = await again.list({ collection: "topics", limit: 9 });
      assert.deepEqual([items.map(({ id }) => id), total, sequence], [["b"], 1, 4]);
      assert.equal((await again.changesOf(topic("b"), all)).length, 1);
      await commit(again, [deleted(topic("b"), 1)]);
      assert.deepEqual(await again.erase(topic("b")), {
        isKnown: true,
        resource: false,
        changes: 2,
        affected: [],
      });
    }),
  );

  test(
    "a chosen id starts at version 1 only if no resource ever had it, and otherwise above its last version",
    onStore(open, async (store, reopen) => {
      const key = topic("a");
      const make = (last: number, from = store) => commit(from, [{ ...created(key), last }]);
      assert.equal(await store.lastVersion(key), 0);
      assert.equal(await store.lastVersion({ collection: "nowhere", id: "a" }), 0);
      await rejectsWith("PRECONDITION_FAILED", make(1));
      assert.equal((await make(0))[0]?.version, 1);
      await rejectsWith("PRECONDITION_FAILED", make(1));
      assert.equal(await store.lastVersion(key), 1);
      await commit(store, [updated(key, 1, { n: 2 })]);
      await commit(store, [deleted(key, 2)]);
      assert.equal(await store.lastVersion(key), 3);
      for (const last of [0, 2, 4]) await rejectsWith("PRECONDITION_FAILED", make(last));
      const together = await Promise.allSettled([make(3), make(3), make(3)]);
      assert.equal(together.filter(({ status }) => status === "fulfilled").length, 1);
      await store.erase(key);
      const again = await reopen();
      assert.equal(await again.lastVersion(key), 5);
      await rejectsWith("PRECONDITION_FAILED", make(0, again));
      await rejectsWith("PRECONDITION_FAILED", commit(again, [{ ...created(key), after: 5 }]));
      assert.equal((await make(5, again))[0]?.version, 6);
      const load = await again.load("topics");
      await load.add([{ id: "new", text: textOf("new") }]);
      await load.finish();
      assert.equal(await again.lastVersion(topic("new")), 1);
    }),
  );

  test(
    "the last version of a deleted id stays without a history, and after it was swept",
    onStore(
      open,
      async (store, reopen) => {
        const make = (id: string, last: number, from: typeof store) =>
          commit(from, [{ ...created(topic(id)), last }], { at: 1 });
        await make("a", 0, store);
        await commit(store, [deleted(topic("a"), 1)], { at: 2 });
        const kept = await reopen({ history: { keepDays: 0, keepChanges: 0 }, sweepMs: 5 });
        await make("b", 0, kept);
        await commit(kept, [deleted(topic("b"), 1)], { at: 3 });
        await until("the log is empty", async () => {
          const { changes } = await kept.changesAfter("topics", logStart, 10);
          return changes.length === 0;
        });
        assert.deepEqual([await kept.lastVersion(topic("a")), await kept.lastVersion(topic("b"))], [2, 2]);
        assert.equal((await make("a", 2, kept))[0]?.version, 3);
        assert.equal((await make("b", 2, kept))[0]?.version, 3);
      },
      { history: "none" },
    ),
  );
}
