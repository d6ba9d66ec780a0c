/**
 * One SQLite store that several threads have open keeps the contract of stores, whichever thread a call uses. `npm run prove --
 * models` runs the whole contract.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MessageChannel } from "node:worker_threads";
import type { Problem } from "../../src/errors.ts";
import { ExpectedEnd } from "../../src/store/core/loads.ts";
import type { SentRequest } from "../../src/store/sqlite/commit/protocol.ts";
import { joinWriter } from "../../src/store/sqlite/commit/writer-client.ts";
import { nextMillisecond, until } from "../until.ts";
import { commit, created, declaration, rejectsWith, topic, updated } from "./contract/fixture.ts";
import { interleavingContract } from "./contract/interleavings.ts";
import { storeContract, writesContract } from "./contract.ts";
import { join, openJoinedFixture } from "./joined-fixture.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

const contract = process.env.HOLDFAST_TEST_RUNS === undefined ? writesContract : storeContract;
contract("SQLite with several threads", openJoinedFixture);
describe("SQLite with several threads", () => interleavingContract(openJoinedFixture));

const topics = declaration("topics");

describe("a store that another thread has joined", () => {
  test("is told which collections the other thread has changed", async () => {
    const fixture = await openSqliteFixture();
    const other = await join(fixture.store, fixture);
    try {
      const heard: string[][] = [[], []];
      const stores = [fixture.store, other];
      for (const [n, store] of stores.entries())
        store.onCommit((collections) => heard[n]?.push(...collections));
      await fixture.store.migrate([topics, declaration("users")]);
      await commit(other, [created(topic("a"))]);
      for (const [n] of stores.entries())
        await until("both are told of topics", () => heard[n]?.includes("topics") === true);
      await commit(fixture.store, [created({ collection: "users", id: "u" })]);
      for (const [n] of stores.entries())
        await until("both are told of users", () => heard[n]?.includes("users") === true);
    } finally {
      await other.close();
      await fixture.cleanup();
    }
  });

  test("writes after an import of the other thread, or refuses if that takes too long", async () => {
    const fixture = await openSqliteFixture();
    const patient = await join(fixture.store, fixture);
    const hasty = await join(fixture.store, fixture, { importWaitMs: 50 });
    try {
      await fixture.store.migrate([topics]);
      const load = await fixture.store.load("topics");
      await load.add([{ id: "imported", text: `{"id":"imported"}` }]);
      const waiting = commit(patient, [created(topic("later"))]);
      await rejectsWith("UNAVAILABLE", commit(hasty, [created(topic("never"))]));
      await rejectsWith("UNAVAILABLE", patient.load("topics"));
      assert.equal(await patient.read(topic("imported")), undefined);
      await load.finish();
      await waiting;
      const ids = (await hasty.list({ collection: "topics", limit: 10 })).items.map(({ id }) => id);
      assert.deepEqual(ids.toSorted(), ["imported", "later"]);
    } finally {
      await Promise.all([patient.close(), hasty.close()]);
      await fixture.cleanup();
    }
  });

  test("says when the import of the other thread will end, if a write cannot wait longer", async () => {
    const fixture = await openSqliteFixture();
    const hasty = await join(fixture.store, fixture, { importWaitMs: 50 });
    try {
      await fixture.store.migrate([topics]);
      const load = await fixture.store.load("topics", { length: Number.MAX_SAFE_INTEGER });
      await load.add([{ id: "imported", text: `{"id":"imported"}` }]);
      for (const refused of [() => commit(hasty, [created(topic("never"))]), () => hasty.load("topics")])
        await assert.rejects(refused, ({ headers }: Problem) => headers["retry-after"] === "3600");
      await load.cancel();
    } finally {
      await hasty.close();
      await fixture.cleanup();
    }
  });

  test("writes again after the thread that held the writer has ended", async () => {
    const fixture = await openSqliteFixture();
    const other = await join(fixture.store, fixture);
    try {
      await fixture.store.migrate([topics]);
      const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
      const { promise: holds, resolve: begun } = Promise.withResolvers<void>();
      const work = other.exclusively(["topics"], async () => {
        begun();
        await isOver;
      });
      await holds;
      const waiting = commit(fixture.store, [created(topic("a"))]);
      end();
      await work;
      await waiting;
      assert.equal((await other.read(topic("a")))?.version, 1);
    } finally {
      await other.close();
      await fixture.cleanup();
    }
  });

  test("never reads an old text after a write of another thread is confirmed", async () => {
    const fixture = await openSqliteFixture();
    const other = await join(fixture.store, fixture);
    try {
      await fixture.store.migrate([topics]);
      await commit(fixture.store, [created(topic("a"))]);
      for (let version = 1; version < 500; version++) {
        const reads = [other.read(topic("a")), fixture.store.read(topic("a"))];
        await commit(version % 2 === 0 ? other : fixture.store, [updated(topic("a"), version, { version })]);
        for (const store of [fixture.store, other])
          assert.equal((await store.read(topic("a")))?.version, version + 1);
        await Promise.all(reads);
      }
    } finally {
      await other.close();
      await fixture.cleanup();
    }
  });

  test("fails with the store, once", async () => {
    const fixture = await openSqliteFixture();
    const failures: string[] = [];
    const other = await join(fixture.store, fixture, { onFailure: (reason) => failures.push(reason) });
    await fixture.store.migrate([topics]);
    await fixture.store.close(); // it ends the writer
    await until("the other thread knows", () => failures.length === 1);
    await rejectsWith("UNAVAILABLE", commit(other, [created(topic("a"))]));
    await other.close();
    await fixture.cleanup();
  });
});

test("the estimate of the end of an import follows from its pace and from what is left", () => {
  let now = 1_000_000;
  const memory = new Int32Array(new SharedArrayBuffer(4));
  const end = new ExpectedEnd(memory, () => now);
  assert.equal(end.secondsLeft(4_200), 5, "nothing is known: as long as the write has waited");
  end.note(10_000, 0, 400);
  assert.equal(end.secondsLeft(4_200), 5);
  end.note(10_000, 100, 400);
  const other = new ExpectedEnd(memory, () => now);
  assert.equal(other.secondsLeft(), 30);
  now += 12_000;
  assert.equal(other.secondsLeft(), 18);
  end.note(22_000, 200, 400);
  assert.equal(other.secondsLeft(), 22);
  now += 60_000;
  assert.equal(other.secondsLeft(), 1);
  end.note(1_000, 500, 400);
  assert.equal(other.secondsLeft(), 1);
  end.forget();
  assert.equal(other.secondsLeft(9_000), 9);
});

test("a write that is held again after its time is over waits no longer than once more", async (t) => {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port2.close());
  const events = { onFailure: () => {}, onChanged: () => {}, maxWaitMs: 1, expectedEnd: new ExpectedEnd() };
  const writer = joinWriter(port1, events);
  const arrivals: number[] = [];
  port2.on("message", ({ number }: SentRequest) => arrivals.push(number));
  const answer = () =>
    port2.postMessage({
      kind: "answers",
      answers: [[arrivals.at(-1), { isHeld: true }]],
      changed: [],
      failure: undefined,
    });
  const sent = writer.send({ name: "probe", args: [] });
  let isRefused = false;
  const refused = assert.rejects(sent, { code: "UNAVAILABLE" }).then(() => {
    isRefused = true;
  });
  await until("the request has arrived", () => arrivals.length === 1);
  answer();
  port2.postMessage({ kind: "free" });
  await until("the request has arrived again or was refused", () => arrivals.length === 2 || isRefused);
  for (let n = 0; n < 2; n++) await nextMillisecond(); // the timer of the first wait is over before this one
  answer();
  await until("the request is refused", () => isRefused);
  await refused;
});
