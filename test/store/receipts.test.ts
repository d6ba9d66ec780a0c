/** How long receipts stay in the file. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Receipt, Store } from "../../src/store/store.ts";
import { commit, created, topic } from "./contract/fixture.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

const topics = { name: "topics", idKind: "uuid", schema: undefined, indexes: [], search: [] } as const;
const hourMs = 3_600_000;

async function open(t: TestContext) {
  const fixture = await openSqliteFixture({ sweepMs: 5 });
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

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await condition()); tries++) {
    assert.ok(tries < 1_000, "the sweep does not come");
    await sleep(5);
  }
}

test("receipts that have expired leave the file, though nobody writes any more, and the others stay", async (t) => {
  const { store } = await open(t);
  const now = Date.now();
  const old = Array.from({ length: 500 }, (_, n) => keepOld(store, receiptOf(`old ${n}`, now - 1_000)));
  const large = keepOld(store, receiptOf("large", now - 1_000, "x".repeat(1_000_000)));
  await Promise.all([...old, large, keepOld(store, receiptOf("valid", now + hourMs))]);
  const isGone = async (key: string) => (await store.receipt(key, 0)) === undefined;
  for (const key of [...old.map((_, n) => `old ${n}`), "large"]) await until(() => isGone(key));
  assert.deepEqual(await store.receipt("valid", now), receiptOf("valid", now + hourMs));
});

test("writes go on while thousands of receipts are swept", async (t) => {
  const { store } = await open(t);
  const answer = "x".repeat(10_000);
  const keys = Array.from({ length: 3_000 }, (_, n) => `old ${n}`);
  await Promise.all(keys.map((key) => keepOld(store, receiptOf(key, 1, answer))));
  let between = 0;
  for (let n = 0; (await store.receipt("old 2999", 0)) !== undefined; n++) {
    await commit(store, [created(topic(`t${n}`))]);
    between++;
  }
  assert.ok(between > 3, `the sweep let ${between} writes pass`);
});

test("of an erased resource no answer is left in the file, and other answers stay", async (t) => {
  const { store, reopen } = await open(t);
  const expiresAt = Date.now() + hourMs;
  const texts = ['{"id":"a","name":"Kim"}', '{"id":"b","name":"Lee"}'];
  for (const [index, id] of ["a", "b"].entries()) {
    const answer = JSON.stringify({ status: 201, headers: {}, body: texts[index] });
    const change = { key: topic(id), expect: "absent" as const, next: texts[index] };
    await commit(store, [change], { receipt: receiptOf(id, expiresAt, answer) });
  }
  const location = JSON.stringify({ status: 204, headers: { location: "/api/v1/topics/a" } });
  await keepOld(store, receiptOf("located", expiresAt, location));
  await store.erase(topic("a"));
  for (const key of ["a", "located"]) assert.equal(await store.receipt(key, 0), undefined, key);
  assert.notEqual(await store.receipt("b", 0), undefined);
  const again = await reopen();
  assert.notEqual(await again.receipt("b", 0), undefined);
});
