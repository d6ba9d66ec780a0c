import assert from "node:assert/strict";
import { test } from "node:test";
import type { Requirement } from "../../../src/store/store.ts";
import {
  commit,
  created,
  deleted,
  number,
  type OpenFixture,
  onStore,
  rejectsWith,
  topic,
  updated,
  user,
} from "./fixture.ts";

const exists = (key: { collection: string; id: string }): Requirement => ({ kind: "exists", key });
const unreferenced = (attribute: string, id: string, collection = "topics"): Requirement => ({
  kind: "unreferenced",
  collection,
  attribute,
  id,
});

export function requirementContract(open: OpenFixture): void {
  test(
    "a commit that requires a resource happens only where the resource exists",
    onStore(open, async (store) => {
      await commit(store, [created(user("kim"))]);
      await commit(store, [created(topic("a"))], { requires: [exists(user("kim"))] });
      for (const missing of [user("lee"), { collection: "unknown", id: "kim" }]) {
        await rejectsWith(
          "REFERENCE_NOT_FOUND",
          commit(store, [created(topic("b"))], { requires: [exists(user("kim")), exists(missing)] }),
        );
      }
      assert.equal(await store.read(topic("b")), undefined);
      assert.equal(await store.count("topics"), 1);
    }),
  );

  test(
    "a resource that is referred to in the attribute cannot be deleted with that requirement",
    onStore(open, async (store) => {
      await commit(store, [created(user("kim")), created(number("5"))]);
      await commit(store, [created(topic("a"), { author: "kim", n: 5, 'odd"name': "kim", list: ["lee"] })]);
      for (const [attribute, id] of [
        ["author", "kim"],
        ["n", "5"],
        ['odd"name', "kim"],
      ] as const) {
        await rejectsWith(
          "REFERENCED",
          commit(store, [deleted(user("kim"), 1)], { requires: [unreferenced(attribute, id)] }),
        );
      }
      assert.equal((await store.read(user("kim")))?.version, 1);
      const others = [
        unreferenced("editor", "kim"),
        unreferenced("author", "ki"),
        unreferenced("list", "lee"),
      ];
      const elsewhere = [unreferenced("author", "kim", "users"), unreferenced("author", "kim", "unknown")];
      await commit(store, [deleted(user("kim"), 1)], { requires: [...others, ...elsewhere] });
    }),
  );

  test(
    "requirements are judged on what the commit's own changes made",
    onStore(open, async (store) => {
      await commit(store, [created(user("kim")), created(topic("a"), { author: "kim" })]);
      await commit(store, [created(user("lee")), created(topic("b"), { author: "lee" })], {
        requires: [exists(user("lee"))],
      });
      await rejectsWith(
        "REFERENCE_NOT_FOUND",
        commit(store, [deleted(user("lee"), 1)], { requires: [exists(user("lee"))] }),
      );
      await commit(store, [deleted(user("kim"), 1), updated(topic("a"), 1, { author: null })], {
        requires: [unreferenced("author", "kim")],
      });
      assert.equal(await store.count("users"), 1);
    }),
  );

  test(
    "a broken requirement takes back everything of its commit and nothing of its neighbours",
    onStore(open, async (store) => {
      const receipt = { key: "k", fingerprint: "f", answer: "x", expiresAt: Number.MAX_SAFE_INTEGER };
      const results = await Promise.allSettled([
        commit(store, [created(topic("a"))]),
        commit(store, [created(topic("b")), created(user("b"))], { receipt, requires: [exists(user("no"))] }),
        commit(store, [created(topic("c"))], { requires: [exists(topic("a"))] }),
        commit(store, [created(topic("d"))]),
      ]);
      assert.deepEqual(
        results.map((result) => (result.status === "fulfilled" ? result.value[0]?.sequence : "rejected")),
        [1, "rejected", 2, 3],
      );
      const { items, total, sequence } = await store.list({ collection: "topics", limit: 9 });
      assert.deepEqual(
        items.map(({ id }) => id),
        ["a", "c", "d"],
      );
      assert.deepEqual([total, sequence, await store.count("users")], [3, 3, 0]);
      assert.equal((await store.changesAfter("users", 0, 9)).length, 0);
      assert.equal(await store.receipt("k", 0), undefined);
      await Promise.allSettled([
        commit(store, [created(topic("e"))]),
        commit(store, [created(user("b"))], { requires: [exists(user("no"))] }),
      ]);
      assert.equal(await store.read(user("b")), undefined);
      assert.deepEqual(await store.changesAfter("users", 0, 9), []);
    }),
  );
}
