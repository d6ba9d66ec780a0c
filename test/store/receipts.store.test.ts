/** How long receipts stay in the file. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { StoreOptions } from "../../src/store/open.ts";
import type { Receipt } from "../../src/store/port/commit.ts";
import type { Store } from "../../src/store/port/store.ts";
import { machineTime, until } from "../until.ts";
import { commit, created, declaration, rejectsWith, topic, updated } from "./contract/fixture.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

const topics = declaration("topics");
const hourMs = 3_600_000;

async function open(t: TestContext, options: StoreOptions = {}) {
  const fixture = await openSqliteFixture({ sweepMs: 5, ...options });
  t.after(fixture.cleanup);
  await fixture.store.migrate([topics]);
  return fixture;
}

function receiptOf(key: string, expiresAt: number, answer = "{}"): Receipt {
  return { key, fingerprint: "f", answer, expiresAt };
}

/** Keeps a receipt as if it had been written long ago. */
function keepOld(store: Store, receipt: Receipt): Promise<unknown> {
  return store.commit({ changes: [], receipt, at: 0 });
}

test("receipts that have expired leave the file, though nobody writes any more, and the others stay", async (t) => {
  const { store } = await open(t);
  const now = machineTime();
  const old = Array.from({ length: 500 }, (_, n) => keepOld(store, receiptOf(`old ${n}`, now - 1_000)));
  const large = keepOld(store, receiptOf("large", now - 1_000, "x".repeat(1_000_000)));
  await Promise.all([...old, large, keepOld(store, receiptOf("valid", now + hourMs))]);
  const isGone = async (key: string) => (await store.receipt(key, 0)) === undefined;
  for (const key of [...old.map((_, n) => `old ${n}`), "large"])
    await until(`${key} is swept`, () => isGone(key));
  assert.deepEqual(await store.receipt("valid", now), receiptOf("valid", now + hourMs));
});

test("writes go on while thousands of receipts are swept", async (t) => {
  const { store } = await open(t);
  const answer = "x".repeat(10_000);
  const keys = Array.from({ length: 3_000 }, (_, n) => `old ${n}`);
  await Promise.all(keys.map((key) => keepOld(store, receiptOf(key, 1, answer))));
  let between = 0;
  for (let n = 0; (await store.receipt("old 2999", 0)) !== undefined; n++) {
    assert.ok(n < 10_000, "the sweep does not come");
    await commit(store, [created(topic(`t${n}`))]);
    between++;
  }
  assert.ok(between > 3, `the sweep let ${between} writes pass`);
});

test("of an erased resource no answer is left in the file, and other answers stay", async (t) => {
  const { store, reopen } = await open(t);
  const expiresAt = machineTime() + hourMs;
  const texts = ['{"id":"a","name":"Kim"}', '{"id":"b","name":"Lee"}'];
  for (const [index, id] of ["a", "b"].entries()) {
    const answer = JSON.stringify({ status: 201, headers: {}, body: texts[index] });
    const change = { key: topic(id), expect: "absent" as const, next: texts[index] };
    await commit(store, [change], { receipt: receiptOf(id, expiresAt, answer) });
  }
  const location = JSON.stringify({ status: 204, headers: { location: "/api/v1/topics/a" } });
  await keepOld(store, receiptOf("located", expiresAt, location));
  await keepOld(store, { ...receiptOf("brief", expiresAt, ""), brief: "/api/v1/topics/a" });
  await keepOld(store, receiptOf('[null,"PATCH","/api/v1/topics/a","k"]', expiresAt));
  await store.erase(topic("a"));
  const again = await reopen();
  for (const key of ["a", "located", "brief"])
    assert.deepEqual(await again.receipt(key, 0), { key, fingerprint: "", answer: undefined, expiresAt });
  assert.equal(await again.receipt('[null,"PATCH","/api/v1/topics/a","k"]', 0), undefined);
  assert.notEqual((await again.receipt("b", 0))?.answer, undefined);
});

test("where as many keys are kept as may be, no other is taken until some expire", async (t) => {
  const { store } = await open(t, { receipts: { keys: 3, answers: 1_000, answer: 1_000 } });
  const now = machineTime();
  await Promise.all(["a", "b", "c"].map((key) => keepOld(store, receiptOf(key, now + hourMs))));
  const other = () => keepOld(store, receiptOf("d", now + hourMs));
  await rejectsWith("UNAVAILABLE", other());
  await rejectsWith("IDEMPOTENCY_KEY_REUSED", keepOld(store, receiptOf("a", now + hourMs)));
  await commit(store, [created(topic("x"))]);
  const { store: later } = await open(t, { receipts: { keys: 3, answers: 1_000, answer: 1_000 } });
  for (const key of ["a", "b", "c"]) await keepOld(later, receiptOf(key, now - 1));
  await until("there is room for another", () =>
    keepOld(later, receiptOf("d", now + hourMs)).then(
      () => true,
      () => false,
    ),
  );
});

test("what was refused counts for nothing, nor does what has expired", async (t) => {
  const { store } = await open(t, {
    receipts: { keys: 1, answers: 1_000, answer: 1_000 },
    sweepMs: 3_600_000,
  });
  const receipt = receiptOf("k", 10);
  await rejectsWith("PRECONDITION_FAILED", commit(store, [updated(topic("a"), 1)], { receipt }));
  await store.migrate([{ ...topics, unique: [{ path: ["n"], ignoreCase: false }] }]);
  const twice = [created(topic("a"), { n: 1 }), created(topic("b"), { n: 1 })];
  await rejectsWith("UNIQUE_VIOLATION", commit(store, twice, { receipt }));
  await keepOld(store, receipt);
  const taken = { changes: [], receipt: receiptOf("k", 20), at: 10 };
  await rejectsWith("UNAVAILABLE", store.commit(taken));
});
