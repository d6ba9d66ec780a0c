/** The token that can be exchanged for the first API key: it works once, in time, and only before any key. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { FirstKey, firstKeyMs, offerFirstKey, planFirstKey } from "../../src/access/first-key.ts";
import { Problem } from "../../src/errors.ts";
import type { ApiKey } from "../../src/store/port/keys.ts";

const plan = planFirstKey([{ role: "ops" }], ["reader"]);

/** A store of keys in memory: the real one is in `test/commands/first-key`. */
function createKeys() {
  const all: ApiKey[] = [];
  return {
    kept: all,
    all: async () => all,
    add: async (key: ApiKey) => {
      all.push(key);
      return true;
    },
  };
}

function open(keys = createKeys()) {
  const clock = { at: 0 };
  const offer = offerFirstKey(plan, clock.at);
  const inThread = () =>
    new FirstKey({ keys, now: () => 7, elapsed: () => clock.at }, structuredClone(offer));
  return { clock, firstKey: inThread(), inThread, keys, token: offer.token };
}

const refusal = (code: string) => (error: unknown) => error instanceof Problem && error.code === code;

test("the token gives one key, which has the planned roles", async () => {
  const { firstKey, keys, token } = open();
  const { text, key, administers } = await firstKey.spend(token);
  assert.match(text, /^hf_[0-9a-z]{8}_[0-9a-z]{50}$/);
  assert.deepEqual(key.roles, ["ops", "reader"]);
  assert.equal(key.createdAt, 7);
  assert.equal(administers, true);
  assert.equal(firstKey.isOpen(), false);
  await assert.rejects(firstKey.spend(token), refusal("INVALID_TOKEN"));
  assert.equal(keys.kept.length, 1);
});

test("two requests at the same time give one key", async () => {
  const { firstKey, keys, token } = open();
  const outcomes = await Promise.allSettled([firstKey.spend(token), firstKey.spend(token)]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["fulfilled", "rejected"],
  );
  assert.equal(keys.kept.length, 1);
});

test("the token works in every thread, and once in all of them", async () => {
  const { inThread, keys, token } = open();
  const threads = [inThread(), inThread(), inThread()] as const;
  const outcomes = await Promise.allSettled(threads.map((each) => each.spend(token)));
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ["fulfilled", "rejected", "rejected"]);
  assert.equal(keys.kept.length, 1);
  assert.deepEqual(
    threads.map((each) => each.isOpen()),
    [false, false, false],
  );
});

test("a wrong token gives no key, and does not spend the right one", async () => {
  const { firstKey, keys, token } = open();
  for (const wrong of ["", token.slice(1), `${token} `, offerFirstKey(plan, 0).token])
    await assert.rejects(firstKey.spend(wrong), refusal("INVALID_TOKEN"));
  assert.equal(keys.kept.length, 0);
  await firstKey.spend(token);
});

test("the token works for ten minutes", async () => {
  const { clock, firstKey, token } = open();
  clock.at = firstKeyMs - 1;
  assert.equal(firstKey.isOpen(), true);
  clock.at = firstKeyMs;
  assert.equal(firstKey.isOpen(), false);
  await assert.rejects(firstKey.spend(token), refusal("INVALID_TOKEN"));
});

test("a key that exists by then ends the link", async () => {
  const { firstKey, keys, token } = open();
  const other = open(keys);
  await other.firstKey.spend(other.token);
  await assert.rejects(firstKey.spend(token), refusal("KEY_UNAVAILABLE"));
  assert.equal(firstKey.isOpen(), false);
  assert.equal(keys.kept.length, 1);
});

test("the link still works after the store failed", async () => {
  const keys = createKeys();
  const { firstKey, token } = open({ ...keys, all: () => Promise.reject(new Error("disk")) });
  await assert.rejects(firstKey.spend(token), /disk/);
  assert.equal(firstKey.isOpen(), true);
});

test("the plan follows the administrators and the roles of keys", () => {
  const of = (...args: Parameters<typeof planFirstKey>) => {
    const { properties, administers } = planFirstKey(...args);
    return [properties.subject, properties.roles, administers];
  };
  assert.deepEqual(of([{ subject: "ada" }, { role: "ops" }], ["b"]), ["first-key", ["ops", "b"], true]);
  assert.deepEqual(of([{ subject: "ada" }], ["b"]), ["ada", ["b"], true]);
  assert.deepEqual(of(undefined, ["b"]), ["first-key", ["b"], false]);
  assert.deepEqual(of([{ role: "ops" }], ["ops"]), ["first-key", ["ops"], true]);
});
