/** What two stores could decide in different ways: texts beyond ASCII, limits, their units, and changes that collide. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { OnDelete, Reference } from "../../../src/collection/references.ts";
import type { Unique } from "../../../src/collection/unique.ts";
import type { Problem } from "../../../src/errors.ts";
import type { Receipt } from "../../../src/store/port/commit.ts";
import { logStart } from "../../../src/store/port/log-place.ts";
import type { CollectionRecord } from "../../../src/store/port/record.ts";
import type { Store } from "../../../src/store/port/store.ts";
import { until } from "../../until.ts";
import {
  at,
  commit,
  created,
  declaration,
  deleted,
  number,
  type OpenFixture,
  onStore,
  rejectsWith,
  scannedIds,
  textOf,
  topic,
  unexpired,
  updated,
  user,
} from "./fixture.ts";

const name: Unique = { path: ["näme 🐘"], ignoreCase: false };
const by = (onDelete: OnDelete, path = "by", collection = "users"): Reference => ({
  path: [path],
  collection,
  onDelete,
});
const declare = (store: Store, declared: Partial<CollectionRecord>) =>
  store.migrate([declaration("topics", declared)]);

/** Texts of which each looks like another to something: a form, a unit, a terminator, a type. */
const texts = [
  "é", // one code point
  "e\u0301", // two code points that look the same
  "🐘",
  "🐘\u200d🐘",
  "\ufffd",
  "a",
  "a ",
  "true",
  "null",
  "İ",
  "ı",
  "ß",
  "\uffff", // after 🐘 by UTF-16 code units, before it by code points
  '"\\',
  "\u2028",
];

export function driftContract(open: OpenFixture): void {
  test(
    "unique values are compared by code points, whatever they look like",
    onStore(open, async (store) => {
      await declare(store, { unique: [name, { path: ["n"], ignoreCase: true }] });
      const values = [...texts, true, 1, 0.1, 0.30000000000000004, 0.3, 1e21, 2 ** 53];
      for (const [n, value] of values.entries())
        await commit(store, [created(topic(`t${n}`), { "näme 🐘": value })]);
      for (const value of values)
        await rejectsWith("UNIQUE_VIOLATION", commit(store, [created(topic("z"), { "näme 🐘": value })]));
      await commit(store, [created(topic("upper"), { n: "É🐘X" })]);
      await commit(store, [created(topic("lower"), { n: "é🐘X" })]);
      await rejectsWith("UNIQUE_VIOLATION", commit(store, [created(topic("z"), { n: "É🐘x" })]));
      const load = await store.load("topics");
      const { refused } = await load.add(
        values.map((value, n) => ({ id: `l${n}`, text: textOf(`l${n}`, { "näme 🐘": value }) })),
      );
      assert.deepEqual(
        refused.map(({ pointers }) => pointers.join()),
        values.map(() => "#/n%C3%A4me%20%F0%9F%90%98"),
      );
      await load.cancel();
    }),
  );

  test(
    "ids and references beyond ASCII are told apart, and texts that can be no id lead nowhere",
    onStore(open, async (store) => {
      await declare(store, { references: [by("restrict"), by("clear", "n", "numbers")] });
      const ids = ["é", "e\u0301", "🐘", "\uffff", "x".repeat(128)];
      await commit(
        store,
        ids.map((id) => created(user(id))),
      );
      await commit(store, [created(number("5"))]);
      for (const id of ids) await commit(store, [created(topic(`t${id}`), { by: [id] })]);
      const lost = ["", "🐘".repeat(70), "x".repeat(129), "É", "\ufffd", "5", 5];
      for (const id of lost) {
        await rejectsWith("REFERENCE_NOT_FOUND", commit(store, [created(topic("z"), { by: ["é", id] })]));
      }
      for (const id of ["5a", "05", "5.0", " 5", "٥"])
        await rejectsWith("REFERENCE_NOT_FOUND", commit(store, [created(topic("z"), { n: id })]));
      await commit(store, [created(topic("z"), { n: "5" })]);
      for (const id of ids) await rejectsWith("REFERENCED", commit(store, [deleted(user(id), 1)]));
      await commit(store, [deleted(number("5"), 1)]);
      assert.equal((await store.read(topic("z")))?.text, '{"id":"z"}');
    }),
  );

  test(
    "a load judges references among its resources as a commit does",
    onStore(open, async (store) => {
      const references = [by("restrict", "in", "topics"), by("restrict", "n", "numbers")];
      await declare(store, { references: [] });
      await commit(store, [created(topic("old"), { in: "gone" })]);
      await declare(store, { references });
      await commit(store, [created(number("5"))]);
      const load = await store.load("topics", { among: ["numbers"] });
      const ofIn = (id: string, value: unknown) => ({ id, text: textOf(id, { in: value }) });
      const lost = await load.add([ofIn("a", ["🐘", ""]), ofIn("b", ""), ofIn("c", "x".repeat(129))]);
      assert.deepEqual(lost.refused, [
        { position: 0, pointers: ["#/in/1"], isLost: true },
        { position: 1, pointers: ["#/in"], isLost: true },
        { position: 2, pointers: ["#/in"], isLost: true },
      ]);
      assert.deepEqual(await load.add([ofIn("d", "🐘"), ofIn("🐘", ["é", "d"]), ofIn("é", null)]), {
        refused: [],
        reused: [],
      });
      await load.finish(); // references that were lost before the load do not count
      const numbers = await store.load("topics", { among: ["numbers"] });
      await numbers.add([{ id: "n", text: textOf("n", { n: "5a", in: "gone" }) }]);
      await assert.rejects(numbers.finish(), ({ code, message }: Problem) => {
        assert.equal(code, "REFERENCE_NOT_FOUND");
        assert.equal(
          message,
          "Some references lead to resources that do not exist: topics/n (in: topics/gone), topics/n (n: numbers/5a).",
        );
        return true;
      });
    }),
  );

  test(
    "of several changes that collide the same one is refused, with the same words",
    onStore(open, async (store) => {
      await declare(store, { unique: [name], references: [by("restrict")] });
      await commit(store, [created(user("kim")), created(topic("a"), { "näme 🐘": "x", by: "kim" })]);
      const create = (id: string, value: unknown, more = {}) =>
        created(topic(id), { "näme 🐘": value, ...more });
      const refused: [Parameters<typeof commit>[1], unknown][] = [
        [
          [create("b", "x", { by: "lee" }), updated(topic("a"), 2)],
          ["PRECONDITION_FAILED", undefined],
        ],
        [
          [create("b", "y", { by: "lee" }), create("c", "x")],
          ["UNIQUE_VIOLATION", 1],
        ],
        [
          [create("b", "y"), create("c", "z", { by: "lee" }), create("d", "y")],
          ["UNIQUE_VIOLATION", 2],
        ],
        [
          [create("b", "y", { by: "lee" }), deleted(user("kim"), 1)],
          ["REFERENCE_NOT_FOUND", 0],
        ],
        [
          [create("b", "y", { by: "kim" }), deleted(user("kim"), 1)],
          ["REFERENCE_NOT_FOUND", 0],
        ],
        [
          [create("b", "y"), deleted(user("kim"), 1)],
          ["REFERENCED", 1],
        ],
      ];
      for (const [changes, expected] of refused) {
        await assert.rejects(commit(store, changes), ({ code, change }: Problem) => {
          assert.deepEqual([code, change], expected);
          return true;
        });
      }
      await commit(store, [deleted(topic("a"), 1), create("b", "x"), deleted(user("kim"), 1)]);
      assert.deepEqual(await scannedIds(store, "topics"), ["b"]);
    }),
  );

  test(
    "a delete changes other resources in the order of their ids",
    onStore(open, async (store) => {
      await declare(store, { references: [by("clear")] });
      await commit(store, [created(user("🐘"))]);
      const ids = Array.from({ length: 1_500 }, (_, n) => `t${String(9_999 - n).padStart(4, "0")}`);
      const load = await store.load("topics");
      await load.add(ids.map((id) => ({ id, text: textOf(id, { by: ["🐘"] }) })));
      await load.finish();
      const { sequence } = await store.list({ collection: "topics", limit: 1 });
      await commit(store, [deleted(user("🐘"), 1)]);
      const changes = (await store.changesAfter("topics", sequence, 1_501)).changes;
      assert.deepEqual(
        changes.map(({ id }) => id),
        ids.toReversed(),
      );
    }),
  );

  test(
    "an erased resource is logged no more, and what follows is as of a delete; a refusal names those that refer",
    onStore(open, async (store) => {
      await declare(store, { references: [by("restrict"), by("cascade", "owner")] });
      await commit(store, [created(user("kim")), created(user("lee"))]);
      await commit(store, [created(topic("é"), { by: "kim" }), created(topic("🐘"), { by: "kim" })]);
      await assert.rejects(store.erase(user("kim")), ({ code, message }: Problem) => {
        assert.equal(code, "REFERENCED");
        assert.match(message, /^Other resources refer to "kim": delete or change them first\. Among them: /);
        for (const id of ["topics/é", "topics/🐘"]) assert.ok(message.includes(id), message);
        return true;
      });
      await commit(store, [created(topic("own"), { owner: "lee" })]);
      assert.deepEqual(await store.erase(user("lee")), {
        isKnown: true,
        resource: true,
        changes: 1,
        affected: [{ collection: "topics", id: "own", isDeleted: true }],
      });
      assert.deepEqual(await store.erase(user("lee")), {
        isKnown: false,
        resource: false,
        changes: 0,
        affected: [],
      });
      const logged = (await store.changesAfter("users", logStart, 9)).changes;
      assert.deepEqual(
        logged.map(({ id }) => id),
        ["kim"],
      );
      assert.equal((await store.list({ collection: "users", limit: 1 })).sequence, 3);
    }),
  );
}

/** Receipts at their limits, on a store that is opened with these limits. */
export function receiptsContract(open: OpenFixture): void {
  const receiptOf = (key: string, answer = "{}") => ({ key, fingerprint: "f", answer, expiresAt: unexpired });
  const keep = (store: Store, receipt: Receipt) => store.commit({ changes: [], receipt, at });

  test(
    "a store at its limit of receipts takes no other, and says so",
    onStore(
      open,
      async (store, reopen) => {
        const fates = await Promise.allSettled(
          ["a", "b", "c", "d"].map((key) => keep(store, receiptOf(key))),
        );
        assert.deepEqual(
          fates.map((fate) => (fate.status === "fulfilled" ? "kept" : fate.reason.code)),
          ["kept", "kept", "kept", "UNAVAILABLE"],
        );
        for (const open of [async () => store, reopen]) {
          const each = await open();
          await assert.rejects(keep(each, receiptOf("d")), ({ code, message }: Problem) => {
            assert.equal(code, "UNAVAILABLE");
            assert.match(message, /limit of stored Idempotency-Keys/);
            return true;
          });
          await rejectsWith("IDEMPOTENCY_KEY_REUSED", keep(each, receiptOf("a")));
        }
      },
      { receipts: { keys: 3, answers: 1_000, answer: 1_000 } },
    ),
  );

  test(
    "what was refused counts for nothing, and a receipt that has expired gives its place to the next of its key",
    onStore(
      open,
      async (store) => {
        const receipt = receiptOf("old");
        await rejectsWith("PRECONDITION_FAILED", commit(store, [updated(topic("a"), 1)], { receipt }));
        await keep(store, receipt);
        const later = { ...receipt, answer: "later", expiresAt: unexpired + 9_000 };
        await store.commit({ changes: [], receipt: later, at: unexpired });
        assert.equal((await store.receipt("old", unexpired))?.answer, "later");
        await keep(store, receiptOf("b"));
        await rejectsWith("UNAVAILABLE", keep(store, receiptOf("c")));
      },
      { receipts: { keys: 2, answers: 1_000, answer: 1_000 } },
    ),
  );

  test(
    "answers are counted in bytes; the oldest go, and their keys stay",
    onStore(
      open,
      async (store, reopen) => {
        const keepNth = (n: number, answer: string) =>
          keep(store, { ...receiptOf(`k${n}`, answer), expiresAt: unexpired + n, brief: `b${n}` });
        for (let n = 0; n < 9; n++) await keepNth(n, "🐘".repeat(75)); // 300 bytes
        await keepNth(9, "é".repeat(200)); // 400 bytes
        await keepNth(10, "é".repeat(201)); // one more character than is kept
        const kept = async (from: Store) => {
          const found = await Promise.all(Array.from({ length: 11 }, (_, n) => from.receipt(`k${n}`, 0)));
          return found.map((receipt) => receipt?.answer?.length ?? receipt?.brief);
        };
        const expected = ["b0", "b1", "b2", "b3", "b4", "b5", "b6", 150, 150, 200, "b10"];
        assert.deepEqual(await kept(store), expected);
        assert.deepEqual(await kept(await reopen()), expected);
      },
      { receipts: { keys: 100, answers: 1_000, answer: 400 } },
    ),
  );

  test(
    "receipts that have expired make room for others, also for those with an erased resource",
    onStore(
      open,
      async (store) => {
        const expired = { ...receiptOf("old", "🐘".repeat(100)), expiresAt: 1 };
        await Promise.all(
          ["a", "b"].map((key) => store.commit({ changes: [], receipt: { ...expired, key }, at: 0 })),
        );
        await until("the sweep has made room", () =>
          keep(store, receiptOf("c", "x".repeat(900))).then(
            () => true,
            () => false,
          ),
        );
        await commit(store, [created(topic("a"))], { receipt: receiptOf('"/topics/a"', "y") });
        await rejectsWith("UNAVAILABLE", keep(store, receiptOf("d")));
        await store.erase(topic("a"));
        await keep(store, receiptOf("d"));
        assert.equal((await store.receipt("c", 0))?.answer?.length, 900);
      },
      { receipts: { keys: 2, answers: 1_000, answer: 1_000 }, sweepMs: 5 },
    ),
  );
}
