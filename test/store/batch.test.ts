import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Batch, type BatchOptions, type Outcome } from "../../src/store/port/batch.ts";

/** A batch that doubles numbers, refuses negative ones, and remembers what travelled together. */
function createDoubling(options: Partial<BatchOptions<number, number>> = {}) {
  const journeys: number[][] = [];
  const batch = new Batch<number, number>({
    ...options,
    async perform(calls) {
      journeys.push([...calls]);
      await turn();
      await turn();
      return calls.map((n): Outcome<number> => (n < 0 ? { error: new Error(`${n}`) } : { answer: n * 2 }));
    },
  });
  return { batch, journeys };
}

const isUnavailable = { code: "UNAVAILABLE" };

test("calls of one turn travel together and each gets its own answer", async () => {
  const { batch, journeys } = createDoubling();
  assert.deepEqual(await Promise.all([1, 2, 3].map((n) => batch.run(n))), [2, 4, 6]);
  assert.deepEqual(journeys, [[1, 2, 3]]);
});

test("only calls of one kind travel together, those that wait longest first", async () => {
  const { batch, journeys } = createDoubling({
    maxConcurrent: 1,
    kindOf: (n) => (n < 10 ? "small" : "large"),
    maxBatchSize: (first) => (first < 10 ? 3 : 2),
  });
  const calls = [1, 10, 2, 11, 12, 3, 4];
  assert.deepEqual(
    await Promise.all(calls.map((n) => batch.run(n))),
    calls.map((n) => n * 2),
  );
  assert.deepEqual(journeys, [[1, 2, 3], [10, 11], [12], [4]]);
});

test("a call that fails does not touch the others", async () => {
  const { batch } = createDoubling();
  const results = await Promise.allSettled([batch.run(1), batch.run(-1), batch.run(2)]);
  assert.deepEqual(
    results.map((result) => (result.status === "fulfilled" ? result.value : String(result.reason))),
    [2, "Error: -1", 4],
  );
});

test("calls that arrive while as many batches are under way as may be form the next one", async () => {
  const journeys: number[][] = [];
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  const batch = new Batch<number, number>({
    maxConcurrent: 1,
    perform: async (calls) => {
      journeys.push([...calls]);
      await arrived;
      return calls.map((answer) => ({ answer }));
    },
  });
  const first = batch.run(1);
  while (journeys.length === 0) await turn();
  const others = [batch.run(2), batch.run(3)];
  for (let turns = 0; turns < 5; turns++) await turn();
  others.push(batch.run(4));
  arrive();
  await Promise.all([first, ...others]);
  assert.deepEqual(journeys, [[1], [2, 3, 4]]);
});

test("answers come over several turns where only some may come in one, each to its own call", async () => {
  const { batch } = createDoubling({ answersPerTurn: () => 2 });
  const answered: number[] = [];
  const calls = [1, 2, 3, 4, 5].map((n) => batch.run(n).then((answer) => answered.push(answer)));
  await calls[0];
  assert.ok(answered.length <= 2, `${answered.length} came in one turn`);
  await Promise.all(calls);
  assert.deepEqual(answered, [2, 4, 6, 8, 10]);
  await batch.drained();
});

test("no more calls travel together than may", async () => {
  const { batch, journeys } = createDoubling({ maxBatchSize: 2 });
  await Promise.all([1, 2, 3, 4, 5].map((n) => batch.run(n)));
  assert.deepEqual(journeys, [[1, 2], [3, 4], [5]]);
});

test("a full queue refuses with UNAVAILABLE, and takes calls again once there is room", async () => {
  const { batch } = createDoubling({ maxCalls: 2 });
  const accepted = [batch.run(1), batch.run(2)];
  await assert.rejects(batch.run(3), isUnavailable);
  await Promise.all(accepted);
  assert.equal(await batch.run(3), 6);
});

test("the queue is bounded by weight too, but one call alone always passes", async () => {
  const batch = new Batch<string, number>({
    maxWeight: 10,
    weigh: (text) => text.length,
    perform: (calls) => calls.map((text) => ({ answer: text.length })),
  });
  assert.equal(await batch.run("x".repeat(100)), 100);
  const accepted = [batch.run("x".repeat(6)), batch.run("x".repeat(4))];
  await assert.rejects(batch.run("x"), isUnavailable);
  assert.deepEqual(await Promise.all(accepted), [6, 4]);
  assert.equal(await batch.run("x"), 1);
});

test("calls that fail give their weight back, also while others wait", async () => {
  const { promise: stays, resolve: end } = Promise.withResolvers<void>();
  const batch = new Batch<number, number>({
    maxBatchSize: 1,
    maxWeight: 10,
    weigh: Math.abs,
    async perform([n]) {
      if (n === 1) await stays;
      return [Number(n) < 0 ? { error: new Error(`${n}`) } : { answer: Number(n) }];
    },
  });
  const first = batch.run(1); // the queue is never empty, so no call passes because it is alone
  for (let round = 0; round < 3; round++) await assert.rejects(batch.run(-9), { message: "-9" });
  assert.equal(await batch.run(9), 9);
  end();
  assert.equal(await first, 1);
});

test("when performing throws, all calls of that batch are rejected and the next ones are not", async () => {
  for (const isAsync of [false, true]) {
    let isBroken = true;
    const batch = new Batch<number, number>({
      perform(calls) {
        const failure = new Error("broken");
        if (isBroken && isAsync) return Promise.reject(failure);
        if (isBroken) throw failure;
        return calls.map((answer) => ({ answer }));
      },
    });
    const results = await Promise.allSettled([batch.run(1), batch.run(2)]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ["rejected", "rejected"],
    );
    isBroken = false;
    assert.equal(await batch.run(3), 3);
  }
});

test("drained waits for every call that was accepted", async () => {
  const { batch } = createDoubling({ maxBatchSize: 1, maxConcurrent: 1 });
  await batch.drained();
  let answered = 0;
  for (const n of [1, 2, 3]) {
    batch.run(n).then(
      () => answered++,
      () => {},
    );
  }
  await batch.drained();
  await Promise.resolve();
  assert.equal(answered, 3);
});

test("calls without an outcome are performed in the next turn, before those that come later", async () => {
  const performed: string[][] = [];
  const batch = new Batch<string, string>({
    perform(calls) {
      performed.push([...calls]);
      return calls.slice(0, 2).map((answer) => ({ answer }));
    },
  });
  const first = Promise.all(["a", "b", "c"].map((call) => batch.run(call)));
  await batch.run("d");
  assert.deepEqual(await first, ["a", "b", "c"]);
  assert.deepEqual(performed, [
    ["a", "b", "c", "d"],
    ["c", "d"],
  ]);
});
