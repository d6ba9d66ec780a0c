import assert from "node:assert/strict";
import { test } from "node:test";
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
      assert.deepEqual(await store.changesAfter("topics", 0, 10), [
        { ...common, sequence: 1, version: 1, kind: "created", at, principal: "kim", superseded: undefined },
        {
          ...common,
          sequence: 2,
          version: 2,
          kind: "updated",
          at: at + 1,
          principal: undefined,
          superseded: textOf("a", { n: 1 }),
        },
        {
          ...common,
          sequence: 3,
          version: 3,
          kind: "deleted",
          at: at + 2,
          principal: "lee",
          superseded: textOf("a", { n: 2 }),
        },
      ]);
    }),
  );

  test(
    "changes after a sequence come in order and no more than asked for",
    onStore(open, async (store) => {
      for (let n = 1; n <= 10; n++) await commit(store, [created(topic(`t${n}`)), created(user(`u${n}`))]);
      const sequences = async (after: number, limit: number) =>
        (await store.changesAfter("topics", after, limit)).map(({ sequence }) => sequence);
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
      const groups = (await again.changesAfter("topics", 0, 9)).map(({ group }) => group);
      const [first, second, third, fourth, fifth] = groups;
      assert.deepEqual([typeof first, second, third], ["number", first, undefined]);
      assert.deepEqual([typeof fourth, fifth], ["number", fourth]);
      assert.notEqual(fourth, first);
      assert.equal((await again.changesAfter("users", 0, 9))[0]?.group, first);
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
      const changes = await store.changesAfter("topics", 0, 100);
      assert.deepEqual(
        changes.map(({ sequence }) => sequence),
        Array.from({ length: 40 }, (_, n) => n + 1),
      );
    }),
  );
}
