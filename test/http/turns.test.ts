import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createTurns } from "../../src/http/limits/turns.ts";
import { startService } from "./service.ts";

/** Makes this many callers ask for their turn. `taken` contains the callers that had their turn, in order. */
function crowd(takeTurn: () => Promise<void>, size: number): number[] {
  const taken: number[] = [];
  for (let n = 0; n < size; n++) void takeTurn().then(() => taken.push(n));
  return taken;
}

describe("of a crowd", () => {
  test("the first ones go at once and the others so many a turn, in the order in which they came", async () => {
    const taken = crowd(
      createTurns(() => 2),
      5,
    );
    await Promise.resolve();
    assert.deepEqual(taken, [0, 1]);
    await nextTurn();
    assert.deepEqual(taken, [0, 1, 2, 3]);
    await nextTurn();
    assert.deepEqual(taken, [0, 1, 2, 3, 4]);
  });

  test("those who come while others wait go behind them", async () => {
    const takeTurn = createTurns(() => 2);
    const taken: string[] = [];
    const ask = (name: string) => void takeTurn().then(() => taken.push(name));
    for (const name of ["a", "b", "c"]) ask(name);
    await nextTurn();
    ask("d");
    ask("e");
    await Promise.resolve();
    assert.deepEqual(taken, ["a", "b", "c", "d"]);
    await nextTurn();
    assert.deepEqual(taken, ["a", "b", "c", "d", "e"]);
  });

  test("a later one starts anew", async () => {
    const takeTurn = createTurns(() => 2);
    crowd(takeTurn, 5);
    for (let turn = 0; turn < 4; turn++) await nextTurn();
    const taken = crowd(takeTurn, 3);
    await Promise.resolve();
    assert.deepEqual(taken, [0, 1]);
    await nextTurn();
    assert.deepEqual(taken, [0, 1, 2]);
  });
});

test("GET, HEAD and QUERY are answered while writes wait for their turns", async (t) => {
  let perTurn = 8;
  const service = await startService({ turnBudget: { noteRead: () => {}, perTurn: () => perTurn } });
  t.after(() => service.stop());
  await service.create("topics", { n: 1 });
  perTurn = 0;
  let written = 0;
  const create = async () => {
    const { status } = await service.send({ method: "POST", path: "/api/v1/topics", content: {} });
    if (status === 201) written++;
  };
  const waiting = create();
  for (const method of ["GET", "HEAD", "QUERY"]) {
    const request = { method, path: "/api/v1/topics" };
    const { status } = await service.send(method === "QUERY" ? { ...request, content: {} } : request);
    assert.equal(status, 200, method);
  }
  assert.equal(written, 0);
  perTurn = 8;
  await Promise.all([waiting, create()]);
  assert.equal(written, 2);
});
