import assert from "node:assert/strict";
import { test } from "node:test";
import { maxSliceBytes } from "../../../src/store/port/change-log.ts";
import { logStart, toNumber, toPlace } from "../../../src/store/port/log-place.ts";
import { until } from "../../until.ts";
import {
  at,
  commit,
  created,
  deleted,
  type OpenFixture,
  onStore,
  textOf,
  topic,
  updated,
  user,
} from "./fixture.ts";

export function changeLogContract(open: OpenFixture): void {
  test(
    "the change log tells of each change what, when, by whom and instead of what",
    onStore(open, async (store) => {
      await commit(store, [created(topic("a"), { n: 1 })], { principal: "kim" });
      await commit(store, [updated(topic("a"), 1, { n: 2 })], { at: at + 1 });
      await commit(store, [deleted(topic("a"), 2)], { at: at + 2, principal: "lee" });
      const common = { id: "a", group: undefined };
      assert.deepEqual((await store.changesAfter("topics", logStart, 10)).changes, [
        {
          ...common,
          sequence: 1,
          version: 1,
          kind: "created",
          at,
          principal: "kim",
          superseded: undefined,
          text: textOf("a", { n: 1 }),
        },
        {
          ...common,
          sequence: 2,
          version: 2,
          kind: "updated",
          at: at + 1,
          principal: undefined,
          superseded: textOf("a", { n: 1 }),
          text: textOf("a", { n: 2 }),
        },
        {
          ...common,
          sequence: 3,
          version: 3,
          kind: "deleted",
          at: at + 2,
          principal: "lee",
          superseded: textOf("a", { n: 2 }),
          text: undefined,
        },
      ]);
    }),
  );

  test(
    "the text that a change made is exact, also when later changes keep only differences",
    onStore(open, async (store) => {
      const texts: string[] = [];
      for (let version = 0; version < 40; version++) {
        const pad = Array.from({ length: 300 }, (_, n) => `line ${n * (version % 7)}`);
        const change =
          version === 0
            ? created(topic("a"), { pad, version })
            : updated(topic("a"), version, { pad, version });
        texts.push(change.next as string);
        await commit(store, [change]);
      }
      const { changes, sequence } = await store.changesAfter("topics", logStart, 1_000);
      assert.equal(sequence, 40);
      assert.deepEqual(
        changes.map(({ text }) => text),
        texts,
      );
      for (const [first, limit] of [
        [3, 1],
        [10, 5],
        [17, 20],
      ] as const) {
        const part = await store.changesAfter("topics", toPlace(first), limit);
        assert.deepEqual(
          part.changes.map(({ text, superseded }) => [text, superseded]),
          texts.slice(first, first + limit).map((text, n) => [text, texts[first + n - 1]]),
        );
        assert.equal(part.sequence, 40);
      }
    }),
  );

  test(
    "a slice of the change log ends when its texts are long, and has at least one change",
    onStore(open, async (store) => {
      const pad = "x".repeat(500_000);
      for (let n = 0; n < 12; n++) await commit(store, [created(topic(`t${n}`), { pad: `${pad}${n}` })]);
      const seen: number[] = [];
      let slices = 0;
      for (; seen.length < 12; slices++) {
        const { changes } = await store.changesAfter("topics", toPlace(seen.at(-1) ?? 0), 1_000);
        assert.ok(changes.length > 0);
        const bytes = changes.reduce((sum, { text = "" }) => sum + text.length, 0);
        assert.ok(bytes < 3 * maxSliceBytes, `${bytes} bytes`);
        seen.push(...changes.map(({ sequence }) => toNumber(sequence)));
      }
      assert.deepEqual(
        seen,
        Array.from({ length: 12 }, (_, n) => n + 1),
      );
      assert.ok(slices > 1);
    }),
  );

  test(
    "a change is found by its sequence, and the sequences of collections are known",
    onStore(open, async (store) => {
      await commit(store, [created(topic("a")), created(user("u"))]);
      await commit(store, [deleted(topic("a"), 1)], { at: at + 5 });
      assert.deepEqual(await store.changeAt("topics", toPlace(2)), {
        id: "a",
        version: 2,
        kind: "deleted",
        at: at + 5,
      });
      for (const sequence of [0, 3])
        assert.equal(await store.changeAt("topics", toPlace(sequence)), undefined);
      assert.equal(await store.changeAt("unknown", toPlace(1)), undefined);
      assert.deepEqual([...(await store.logHeads(["topics", "users", "unknown"]))].sort(), [
        ["topics", { sequence: 2, gapsUpTo: 0 }],
        ["users", { sequence: 1, gapsUpTo: 0 }],
      ]);
      assert.deepEqual(await store.changesAfter("unknown", logStart, 5), {
        changes: [],
        sequence: 0,
        gapsUpTo: 0,
      });
    }),
  );

  test(
    "the last texts are those of resources, or those before their deletes, and each life has its end",
    onStore(open, async (store) => {
      await commit(store, [created(topic("a"), { n: 1 }), created(topic("b"), { n: 2 })]);
      await commit(store, [updated(topic("a"), 1, { n: 3 })]);
      await commit(store, [deleted(topic("b"), 1)]);
      await commit(store, [{ ...created(topic("b"), { n: 4 }), last: 2 }, created(topic("c"), { n: 5 })]);
      await commit(store, [deleted(topic("b"), 3), deleted(topic("c"), 1)]);
      await store.erase(topic("c"));
      const last = async (...versions: [id: string, version: number][]) =>
        Object.fromEntries(
          await store.lastTexts(
            "topics",
            versions.map(([id, version]) => ({ id, version })),
          ),
        );
      const [two, four] = [textOf("b", { n: 2 }), textOf("b", { n: 4 })];
      assert.deepEqual(await last(["c", 1], ["b", 3], ["a", 1], ["never", 1]), {
        a: { last: textOf("a", { n: 3 }), end: undefined },
        b: { last: four, end: { version: 4, text: four } },
        c: { last: undefined, end: undefined },
        never: { last: undefined, end: undefined },
      });
      for (const version of [1, 2])
        assert.deepEqual(await last(["b", version]), { b: { last: four, end: { version: 2, text: two } } });
      assert.deepEqual(await last(["b", 5]), { b: { last: four, end: undefined } });
      assert.equal((await store.lastTexts("unknown", [{ id: "a", version: 1 }])).size, 0);
    }),
  );

  test(
    "the last texts of many large resources come in parts",
    onStore(open, async (store) => {
      const ids = Array.from({ length: 40 }, (_, n) => `r${n}`);
      const text = "x".repeat(300_000);
      for (const id of ids) await commit(store, [created(topic(id), { text })]);
      for (const id of ids.slice(20)) await commit(store, [deleted(topic(id), 1)]);
      for (const part of [ids, ids.slice(20)]) {
        const versions = part.map((id) => ({ id, version: 1 }));
        const texts = await store.lastTexts("topics", versions);
        assert.ok(texts.size >= 1 && texts.size * text.length < 3 * maxSliceBytes, String(texts.size));
        assert.deepEqual([...texts.keys()], part.slice(0, texts.size));
        for (const [id, found] of texts) assert.equal(found.last, textOf(id, { text }));
      }
    }),
  );

  test(
    "an erase and a time without history are noted as gaps in the log",
    onStore(open, async (store, reopen) => {
      const heads = async (of = store) =>
        Object.fromEntries(
          [...(await of.logHeads(["topics", "users"]))].map(([name, { sequence, gapsUpTo }]) => [
            name,
            [sequence, gapsUpTo],
          ]),
        );
      await commit(store, [created(topic("a"))]);
      await commit(store, [created(topic("b"))]);
      await commit(store, [created(user("u"))]);
      await commit(store, [deleted(topic("b"), 1)]);
      assert.deepEqual(await heads(), { topics: [3, 0], users: [1, 0] });
      await store.erase(topic("b"));
      assert.deepEqual(await heads(), { topics: [4, 4], users: [1, 0] }, "also if it was deleted before");
      await store.erase(topic("none"));
      assert.deepEqual(await heads(), { topics: [4, 4], users: [1, 0] }, "nothing was erased");
      await commit(store, [created(topic("c"))]);
      await store.erase(topic("a"));
      assert.deepEqual(await heads(), { topics: [6, 6], users: [1, 0] });
      const slice = await store.changesAfter("topics", logStart, 9);
      assert.deepEqual([slice.changes.map(({ id }) => id), slice.gapsUpTo], [["c"], 6]);

      const off = await reopen({ history: "none" });
      await commit(off, [created(user("v"))]);
      const on = await reopen();
      assert.deepEqual(await heads(on), { topics: [6, 6], users: [2, 2] });
      await commit(on, [created(user("w"))]);
      assert.deepEqual(await heads(await reopen()), { topics: [6, 6], users: [3, 2] });
    }),
  );

  test(
    "listeners learn which collections have changed, until they are removed",
    onStore(open, async (store) => {
      const heard = new Set<string>();
      const end = store.onCommit((names) => {
        for (const name of names) heard.add(name);
      });
      await commit(store, [created(topic("a")), created(user("u"))]);
      await until("both are heard of", () => heard.has("topics") && heard.has("users"));
      end();
      const other = new Set<string>();
      const endOther = store.onCommit((names) => {
        for (const name of names) other.add(name);
      });
      heard.clear();
      await commit(store, [created(topic("b"))]);
      await until("the other one hears of it", () => other.has("topics"));
      assert.equal(heard.size, 0);
      endOther();
    }),
  );

  test(
    "changes after a sequence come in order and no more than asked for",
    onStore(open, async (store) => {
      for (let n = 1; n <= 10; n++) await commit(store, [created(topic(`t${n}`)), created(user(`u${n}`))]);
      const sequences = async (after: number, limit: number) =>
        (await store.changesAfter("topics", toPlace(after), limit)).changes.map(({ sequence }) => sequence);
      assert.deepEqual(await sequences(0, 3), [1, 2, 3]);
      assert.deepEqual(await sequences(7, 100), [8, 9, 10]);
      assert.deepEqual(await sequences(10, 100), []);
    }),
  );

  test(
    "the changes of one commit of several share a group that no other commit has",
    onStore(open, async (store, reopen) => {
      await commit(store, [created(topic("a")), created(user("a")), created(topic("b"))]);
      await commit(store, [created(topic("c"))]);
      const again = await reopen();
      await commit(again, [updated(topic("a"), 1), updated(topic("b"), 1)]);
      const groups = (await again.changesAfter("topics", logStart, 9)).changes.map(({ group }) => group);
      const [first, second, third, fourth, fifth] = groups;
      assert.deepEqual([typeof first, second, third], ["number", first, undefined]);
      assert.deepEqual([typeof fourth, fifth], ["number", fourth]);
      assert.notEqual(fourth, first);
      assert.equal((await again.changesAfter("users", logStart, 9)).changes[0]?.group, first);
    }),
  );

  test(
    "a commit that was refused leaves no trace, and sequences have no gaps",
    onStore(open, async (store) => {
      await Promise.allSettled(
        Array.from({ length: 60 }, (_, n) =>
          commit(store, [n % 3 === 0 ? updated(topic("none"), 1) : created(topic(`t${n}`))]),
        ),
      );
      const changes = (await store.changesAfter("topics", logStart, 100)).changes;
      assert.deepEqual(
        changes.map(({ sequence }) => sequence),
        Array.from({ length: 40 }, (_, n) => n + 1),
      );
    }),
  );
}
