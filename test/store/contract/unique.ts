/** Unique attributes: no write makes a value be there twice. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Unique } from "../../../src/collection/unique.ts";
import type { Problem } from "../../../src/errors.ts";
import type { Store } from "../../../src/store/port/store.ts";
import {
  at,
  commit,
  created,
  declaration,
  deleted,
  type OpenFixture,
  onStore,
  rejectsWith,
  scannedIds,
  textOf,
  topic,
  updated,
} from "./fixture.ts";

const record = (unique: readonly Unique[]) => declaration("topics", { unique });

const email: Unique = { path: ["email"], ignoreCase: false };
const declare = (store: Store, unique: readonly Unique[] = [email]) => store.migrate([record(unique)]);

export function uniqueContract(open: OpenFixture): void {
  test(
    "a value that another resource has is refused with the pointer of the attribute, and nothing is written",
    onStore(open, async (store) => {
      await declare(store, [email, { path: ["a b", "c/d"], ignoreCase: false }]);
      await commit(store, [created(topic("a"), { email: "x", "a b": { "c/d": 1 } })]);
      await commit(store, [created(topic("b"), { email: "y" })]);
      await rejectsWith("UNIQUE_VIOLATION", commit(store, [created(topic("c"), { email: "x" })]));
      await rejectsWith("UNIQUE_VIOLATION", commit(store, [updated(topic("b"), 1, { email: "x" })]));
      await assert.rejects(
        commit(store, [created(topic("c"), { "a b": { "c/d": 1 } })]),
        ({ attribute, change }: Problem) => {
          assert.deepEqual({ attribute, change }, { attribute: "#/a%20b/c~1d", change: 0 });
          return true;
        },
      );
      assert.deepEqual(await scannedIds(store, "topics"), ["a", "b"]);
      assert.equal((await store.list({ collection: "topics", limit: 9 })).sequence, 2);
      assert.equal((await store.changesAfter("topics", 0, 9)).changes.length, 2);
    }),
  );

  test(
    "a refused change of the holder of a value does not make the value free for commits of the same group",
    onStore(open, async (store) => {
      await declare(store);
      await commit(store, [created(topic("z"), { email: "z" })]);
      const first = commit(store, [created(topic("first"))]); // the others arrive during this one, so they form a group
      const made = commit(store, [created(topic("a"), { email: "x" })]);
      const refused = [updated(topic("a"), 1, { email: "x", n: 1 }), created(topic("b"), { email: "z" })];
      await Promise.all([
        first,
        made,
        rejectsWith("UNIQUE_VIOLATION", commit(store, refused)),
        rejectsWith("UNIQUE_VIOLATION", commit(store, [created(topic("c"), { email: "x" })])),
      ]);
    }),
  );

  test(
    "all forms of an instant are one value of a declared date",
    onStore(open, async (store) => {
      await declare(store, [{ path: ["at"], ignoreCase: false, as: "date" }]);
      await commit(store, [created(topic("a"), { at: "2026-11-23" })]);
      const same = ["2026-11-23", "2026-11-23T00:00:00.000Z", "2026-11-22T23:00-01:00", 1795392000000];
      for (const at of same)
        await rejectsWith("UNIQUE_VIOLATION", commit(store, [created(topic("b"), { at })]));
      const others = [
        "2026-11-23T00:00:00.001Z",
        1795392000002,
        "soon",
        5.5,
        "2026-11-23T00:00:00.0001Z",
        null,
      ];
      for (const [n, at] of others.entries()) await commit(store, [created(topic(`c${n}`), { at })]);
      await rejectsWith("UNIQUE_VIOLATION", commit(store, [created(topic("b"), { at: "soon" })]));
    }),
  );

  test(
    "of changes in one commit, that which took the value of another is named, and that which took one from before",
    onStore(open, async (store) => {
      await declare(store);
      await commit(store, [created(topic("a"), { email: "x" })]);
      const create = (id: string, value: string) => created(topic(id), { email: value });
      const isAbout = (change: number) => (error: Problem) => {
        assert.deepEqual([error.code, error.change], ["UNIQUE_VIOLATION", change]);
        return true;
      };
      await assert.rejects(commit(store, [create("d", "y"), create("c", "z"), create("b", "y")]), isAbout(2));
      await assert.rejects(commit(store, [create("b", "y"), create("c", "x"), create("d", "x")]), isAbout(1));
      const renamed = updated(topic("a"), 1, { email: "y" });
      await assert.rejects(commit(store, [create("b", "y"), renamed]), isAbout(1));
    }),
  );

  test(
    "absent and null attributes, arrays and objects, and values of other types do not collide",
    onStore(open, async (store) => {
      await declare(store);
      const values = [
        undefined,
        undefined,
        null,
        null,
        ["x"],
        ["x"],
        { x: 1 },
        { x: 1 },
        "x",
        "X",
        1,
        "1",
        "",
      ];
      for (const [n, value] of values.entries()) {
        await commit(store, [created(topic(`t${n}`), value === undefined ? {} : { email: value })]);
      }
      for (const [n, value] of [
        12,
        1.5,
        "1x",
        "x ",
        true,
        "true",
        "x\0",
        "x".repeat(62),
        "x".repeat(63),
      ].entries())
        await commit(store, [created(topic(`near${n}`), { email: value })]);
      const long = "é".repeat(500);
      await commit(store, [created(topic("long"), { email: `${long}a` })]);
      await commit(store, [created(topic("longer"), { email: `${long}b` })]);
      for (const value of ["x", 1, "1", "", true, "x".repeat(62), "x".repeat(63), `${long}a`]) {
        await rejectsWith("UNIQUE_VIOLATION", commit(store, [created(topic("z"), { email: value })]));
      }
    }),
  );

  test(
    "where case is ignored, A to Z are a to z",
    onStore(open, async (store) => {
      await declare(store, [{ path: ["email"], ignoreCase: true }]);
      await commit(store, [created(topic("a"), { email: "Kim@Example.ORG" })]);
      await rejectsWith(
        "UNIQUE_VIOLATION",
        commit(store, [created(topic("b"), { email: "kIM@example.org" })]),
      );
      await commit(store, [updated(topic("a"), 1, { email: "kim@example.org" })]);
    }),
  );

  test(
    "where case is ignored, letters outside ASCII keep theirs",
    onStore(open, async (store) => {
      await declare(store, [{ path: ["email"], ignoreCase: true }]);
      await commit(store, [created(topic("a"), { email: "ÄRGER" })]);
      await commit(store, [created(topic("b"), { email: "ärger" })]);
      await rejectsWith("UNIQUE_VIOLATION", commit(store, [created(topic("c"), { email: "Ärger" })]));
    }),
  );

  test(
    "a value is free again once its resource is deleted or has another",
    onStore(open, async (store) => {
      await declare(store);
      await commit(store, [created(topic("a"), { email: "x" })]);
      await commit(store, [updated(topic("a"), 1, { email: "y" })]);
      await commit(store, [created(topic("b"), { email: "x" })]);
      await commit(store, [deleted(topic("a"), 2)]);
      await commit(store, [created(topic("c"), { email: "y" })]);
    }),
  );

  test(
    "a commit of several changes is judged by what they make together",
    onStore(open, async (store) => {
      await declare(store);
      await commit(store, [created(topic("a"), { email: "x" }), created(topic("b"), { email: "y" })]);
      await commit(store, [updated(topic("a"), 1, { email: "y" }), updated(topic("b"), 1, { email: "x" })]);
      await commit(store, [created(topic("c"), { email: "y" }), deleted(topic("a"), 2)]);
      const twins = [created(topic("d"), { email: "z" }), created(topic("e"), { email: "z" })];
      await rejectsWith("UNIQUE_VIOLATION", commit(store, twins));
      assert.deepEqual(await scannedIds(store, "topics"), ["b", "c"]);
    }),
  );

  test(
    "of a hundred commits at once with one value one happens, and the commits beside them keep their fate",
    onStore(open, async (store) => {
      await declare(store);
      const same = Array.from({ length: 100 }, (_, n) =>
        commit(store, [created(topic(`same${n}`), { email: "x" })]),
      );
      const others = Array.from({ length: 20 }, (_, n) =>
        commit(store, [created(topic(`other${n}`), { email: `y${n}` })]),
      );
      const fates = await Promise.allSettled(same);
      await Promise.all(others);
      const refused = fates.filter((fate) => fate.status === "rejected");
      assert.equal(refused.length, 99);
      for (const { reason } of refused) assert.equal(reason.code, "UNIQUE_VIOLATION");
      assert.equal(await store.count("topics"), 21);
    }),
  );

  test(
    "a refused commit keeps no receipt",
    onStore(open, async (store) => {
      await declare(store);
      await commit(store, [created(topic("a"), { email: "x" })]);
      const receipt = { key: "k", fingerprint: "f", answer: "{}", expiresAt: at + 1_000 };
      await rejectsWith(
        "UNIQUE_VIOLATION",
        commit(store, [created(topic("b"), { email: "x" })], { receipt }),
      );
      assert.equal(await store.receipt("k", at), undefined);
    }),
  );

  test(
    "a load leaves out what collides, with what is there or in the load itself, and says where",
    onStore(open, async (store) => {
      await declare(store);
      await commit(store, [created(topic("a"), { email: "x" })]);
      const load = await store.load("topics");
      const arrivals = [
        { id: "b", text: textOf("b", { email: "x" }) },
        { id: "c", text: textOf("c", { email: "y" }) },
        { id: "d", text: textOf("d", { email: "y" }) },
        { id: "a", text: textOf("a", { email: "z" }) },
        { id: "e", text: textOf("e", { email: "z" }) },
      ];
      assert.deepEqual(await load.add(arrivals), [
        { position: 0, pointer: "#/email" },
        { position: 2, pointer: "#/email" },
        { position: 3, pointer: undefined },
      ]);
      await load.finish();
      assert.deepEqual(await scannedIds(store, "topics"), ["a", "c", "e"]);
    }),
  );

  test(
    "unique attributes outlive the store's opening, and end when they are declared no more",
    onStore(open, async (store, reopen) => {
      await commit(store, [created(topic("a"), { email: "x" }), created(topic("b"), { email: "x" })]);
      await declare(store);
      assert.deepEqual(store.collections().get("topics")?.unique, [email]);
      await commit(store, [updated(topic("a"), 1, { email: "y" })]);
      const again = await reopen();
      assert.deepEqual(again.collections().get("topics")?.unique, [email]);
      await rejectsWith("UNIQUE_VIOLATION", commit(again, [created(topic("c"), { email: "x" })]));
      await declare(again, []);
      await commit(again, [created(topic("c"), { email: "x" })]);
    }),
  );
}
