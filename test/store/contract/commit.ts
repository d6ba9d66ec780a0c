import assert from "node:assert/strict";
import { test } from "node:test";
import { logStart } from "../../../src/store/port/log-place.ts";
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
  unexpired,
  updated,
  user,
} from "./fixture.ts";

export function commitContract(open: OpenFixture): void {
  test(
    "a resource that was created is read as it was written, with version 1 and its time",
    onStore(open, async (store) => {
      const text = '{"id":"a","b":1,"a":[1.5,"\\u0001 é 🐘"]}';
      const committed = await store.commit({
        changes: [{ key: topic("a"), expect: "absent", next: text }],
        at,
      });
      assert.deepEqual(committed, [{ version: 1, sequence: 1 }]);
      assert.deepEqual(await store.read(topic("a")), { id: "a", version: 1, text, updatedAt: at });
    }),
  );

  test(
    "what is not there is read as undefined",
    onStore(open, async (store) => {
      await commit(store, [created(topic("a"))]);
      const others = [topic("b"), topic("A"), topic(""), user("a"), { collection: "unknown", id: "a" }];
      for (const key of [...others, topic("a "), topic("a\0"), number("a"), number("01"), number("1e3")]) {
        assert.equal(await store.read(key), undefined, JSON.stringify(key));
      }
    }),
  );

  test(
    "an update raises the version by one, and a delete leaves nothing",
    onStore(open, async (store) => {
      await commit(store, [created(topic("a"), { n: 1 })]);
      assert.deepEqual(await commit(store, [updated(topic("a"), 1, { n: 2 })], { at: at + 5 }), [
        { version: 2, sequence: 2 },
      ]);
      const text = textOf("a", { n: 2 });
      assert.deepEqual(await store.read(topic("a")), { id: "a", version: 2, text, updatedAt: at + 5 });
      assert.deepEqual(await commit(store, [deleted(topic("a"), 2)]), [{ version: 3, sequence: 3 }]);
      assert.equal(await store.read(topic("a")), undefined);
      assert.equal(await store.count("topics"), 0);
    }),
  );

  test(
    "an expected text must be that of the version, also of a version that the same group makes",
    onStore(open, async (store) => {
      await commit(store, [created(topic("a"), { n: 1 })]);
      const following = (version: number, n: number) =>
        commit(store, [{ ...updated(topic("a"), version, { n: n + 1 }), expectText: textOf("a", { n }) }]);
      await rejectsWith("PRECONDITION_FAILED", following(1, 2));
      const group = [following(1, 1), following(2, 7), following(2, 2), following(3, 3)];
      const [first, refused, ...others] = await Promise.allSettled(group);
      assert.equal(refused?.status, "rejected");
      for (const each of [first, ...others]) assert.equal(each?.status, "fulfilled");
      assert.equal((await store.read(topic("a")))?.text, textOf("a", { n: 4 }));
    }),
  );

  test(
    "a version that is not the expected one is refused and changes nothing",
    onStore(open, async (store) => {
      await commit(store, [created(topic("a"), { n: 1 })]);
      for (const change of [
        created(topic("a")),
        updated(topic("a"), 2),
        deleted(topic("a"), 7),
        updated(topic("b"), 1),
        deleted(topic("b"), 1),
      ]) {
        await rejectsWith("PRECONDITION_FAILED", commit(store, [change]));
      }
      assert.equal((await store.read(topic("a")))?.text, textOf("a", { n: 1 }));
      const { total, sequence } = await store.list({ collection: "topics", limit: 1 });
      assert.deepEqual({ total, sequence }, { total: 1, sequence: 1 });
    }),
  );

  test(
    "all changes of a commit happen or none, in whichever collection they are",
    onStore(open, async (store) => {
      await commit(store, [created(topic("a")), created(user("a"))]);
      await rejectsWith(
        "PRECONDITION_FAILED",
        commit(store, [updated(topic("a"), 1, { n: 2 }), created(topic("b")), deleted(user("a"), 2)]),
      );
      assert.equal((await store.read(topic("a")))?.version, 1);
      assert.equal(await store.read(topic("b")), undefined);
      assert.deepEqual(
        await commit(store, [updated(topic("a"), 1, { n: 2 }), created(topic("b")), deleted(user("a"), 1)]),
        [
          { version: 2, sequence: 2 },
          { version: 1, sequence: 3 },
          { version: 2, sequence: 2 },
        ],
      );
      assert.deepEqual([await store.count("topics"), await store.count("users")], [2, 0]);
    }),
  );

  test(
    "commits that arrive together keep their own fates",
    onStore(open, async (store) => {
      await commit(store, [created(topic("taken"))]);
      const results = await Promise.allSettled([
        commit(store, [created(topic("a"))]),
        commit(store, [created(topic("taken"))]),
        commit(store, [created(topic("b")), updated(topic("taken"), 9)]),
        commit(store, [created(topic("c")), updated(topic("taken"), 1)]),
        commit(store, [updated(topic("a"), 1, { n: 1 })]),
      ]);
      assert.deepEqual(
        results.map(({ status }) => status),
        ["fulfilled", "rejected", "rejected", "fulfilled", "fulfilled"],
      );
      assert.equal((await store.read(topic("a")))?.version, 2);
      assert.equal(await store.read(topic("b")), undefined);
      assert.equal(await store.count("topics"), 3);
    }),
  );

  test(
    "of commits that expect the same version one wins and the others are refused",
    onStore(open, async (store) => {
      await commit(store, [created(topic("a"))]);
      const results = await Promise.allSettled(
        Array.from({ length: 50 }, (_, n) => commit(store, [updated(topic("a"), 1, { n })])),
      );
      assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
      assert.equal((await store.read(topic("a")))?.version, 2);
    }),
  );

  test(
    "a read that begins after a commit was acknowledged sees it",
    onStore(open, async (store) => {
      for (let n = 1; n <= 50; n++) {
        await commit(store, [n === 1 ? created(topic("a"), { n }) : updated(topic("a"), n - 1, { n })]);
        const [stored, page] = await Promise.all([
          store.read(topic("a")),
          store.list({ collection: "topics", limit: 1 }),
        ]);
        assert.deepEqual([stored?.version, page.sequence, page.items[0]?.version], [n, n, n]);
      }
    }),
  );

  test(
    "what was acknowledged is there after the store was closed and opened again",
    onStore(open, async (store, reopen) => {
      await commit(store, [created(topic("a"), { n: 1 }), created(number("7"))], { principal: "kim" });
      await commit(store, [updated(topic("a"), 1, { n: 2 })]);
      const again = await reopen();
      assert.equal((await again.read(topic("a")))?.text, textOf("a", { n: 2 }));
      assert.equal((await again.read(number("7")))?.id, "7");
      assert.deepEqual(
        (await again.changesAfter("topics", logStart, 9)).changes.map(({ version }) => version),
        [1, 2],
      );
      assert.deepEqual(await commit(again, [updated(topic("a"), 2)]), [{ version: 3, sequence: 3 }]);
    }),
  );

  test(
    "commits that are under way when the store closes are written, later calls are refused",
    onStore(open, async (store, reopen) => {
      const underWay = Array.from({ length: 20 }, (_, n) => commit(store, [created(topic(`t${n}`))]));
      const [again] = await Promise.all([reopen(), ...underWay]);
      assert.equal(await again.count("topics"), 20);
      await rejectsWith("UNAVAILABLE", commit(store, [created(topic("late"))]));
      await rejectsWith("UNAVAILABLE", (async () => store.read(topic("t1")))());
    }),
  );

  test(
    "a receipt is kept with its commit, is found until it expires, and refuses a second commit",
    onStore(open, async (store, reopen) => {
      const receipt = {
        key: "kim POST /topics k1",
        fingerprint: "f",
        answer: "201 …",
        expiresAt: unexpired + 1_000,
      };
      await commit(store, [created(topic("a"))], { receipt });
      await rejectsWith("IDEMPOTENCY_KEY_REUSED", commit(store, [created(topic("b"))], { receipt }));
      assert.equal(await store.read(topic("b")), undefined);
      const again = await reopen();
      assert.deepEqual(await again.receipt(receipt.key, unexpired + 999), receipt);
      assert.equal(await again.receipt(receipt.key, unexpired + 1_000), undefined);
      assert.equal(await again.receipt("another", unexpired), undefined);
      const later = { ...receipt, answer: "later", expiresAt: unexpired + 9_000 };
      await commit(again, [created(topic("b"))], { receipt: later, at: unexpired + 1_000 });
      assert.deepEqual(await again.receipt(receipt.key, unexpired + 1_001), later);
    }),
  );

  test(
    "a commit that is refused keeps no receipt, and of two at once with one key one happens",
    onStore(open, async (store) => {
      const receipt = { key: "k", fingerprint: "f", answer: "x", expiresAt: unexpired + 1_000 };
      await rejectsWith("PRECONDITION_FAILED", commit(store, [updated(topic("a"), 1)], { receipt }));
      assert.equal(await store.receipt("k", unexpired), undefined);
      const results = await Promise.allSettled(
        ["a", "b", "c"].map((id) => commit(store, [created(topic(id))], { receipt })),
      );
      assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
      assert.equal(await store.count("topics"), 1);
    }),
  );

  test(
    "an id that is created and deleted by commits that arrive together keeps its last version",
    onStore(open, async (store, reopen) => {
      const [, , deletes] = await Promise.all([
        commit(store, [created(topic("other"))]),
        commit(store, [created(topic("a"))]),
        commit(store, [deleted(topic("a"), 1)]),
      ]);
      assert.equal(deletes[0]?.version, 2);
      const again = await reopen();
      const [back] = await commit(again, [{ ...created(topic("a")), after: 2 }]);
      assert.equal(back?.version, 3);
    }),
  );

  test(
    "an integer id that is created and deleted by commits that arrive together is not given again",
    onStore(open, async (store, reopen) => {
      await Promise.all([
        commit(store, [created(number("3"))]),
        commit(store, [created(number("9"))]),
        commit(store, [deleted(number("9"), 1)]),
      ]);
      const again = await reopen();
      assert.equal(await again.reserveIds("numbers", 1), 10);
    }),
  );

  test(
    "a receipt alone may be kept, and then refuses as any other",
    onStore(open, async (store, reopen) => {
      const receipt = { key: "k", fingerprint: "f", answer: "x", expiresAt: unexpired + 1_000 };
      const fates = await Promise.allSettled([
        commit(store, [], { receipt }),
        commit(store, [created(topic("a"))], { receipt }),
        commit(store, [created(topic("b"))]),
      ]);
      assert.deepEqual(
        fates.map((fate) => (fate.status === "fulfilled" ? fate.value.length : fate.reason.code)),
        [0, "IDEMPOTENCY_KEY_REUSED", 1],
      );
      const again = await reopen();
      assert.deepEqual(await again.receipt("k", unexpired), receipt);
      assert.deepEqual((await again.changesAfter("topics", logStart, 10)).changes.length, 1);
    }),
  );

  test(
    "a commit that makes no sense, or names an unknown collection, is refused as a fault of the caller",
    onStore(open, async (store) => {
      const invalid = [
        [],
        [{ key: topic("a"), expect: "absent" as const, next: undefined }],
        [created(topic("a")), created(topic("a"))],
        [created({ collection: "unknown", id: "a" })],
      ];
      for (const changes of invalid) await assert.rejects(commit(store, changes), { name: "Error" });
      const { total, sequence } = await store.list({ collection: "topics", limit: 1 });
      assert.deepEqual([total, sequence], [0, 0]);
    }),
  );

  test(
    "a resource of a megabyte, and one with every odd character, come back as they were",
    onStore(open, async (store) => {
      const texts = [
        textOf("a", { s: "é".repeat(500_000) }),
        JSON.stringify({ id: "a", s: "\u0001\u007f\u2028\ufeff\uffff🐘 '\";--\\" }),
      ];
      for (const [index, text] of texts.entries()) {
        const id = `big${index}`;
        await store.commit({ changes: [{ key: topic(id), expect: "absent", next: text }], at });
        assert.equal((await store.read(topic(id)))?.text, text);
      }
    }),
  );
}
