import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createTurns } from "../../src/http/admission/turns.ts";
import { startFor } from "./service.ts";
import { watchLogReads } from "./store-spy.ts";

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
  const service = await startFor(t, { turnBudget: { noteRead: () => {}, perTurn: () => perTurn } });
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

test("many pages of events share the turns of the event loop", async (t) => {
  const reads = watchLogReads(t);
  const service = await startFor(t);
  const names = Array.from({ length: 10 }, (_, n) => `c${n}`);
  const body = Array.from({ length: 1_000 }, (_, n) => JSON.stringify({ n })).join("\n");
  const headers = { "Content-Type": "application/x-ndjson" };
  for (const name of names)
    await service.send({ method: "POST", path: `/api/v1/${name}/_import`, headers, body });
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn++;
    if (!isOver) setImmediate(count);
  };
  count();
  const inTurn = new Map<number, number>();
  reads.before = () => void inTurn.set(turn, (inTurn.get(turn) ?? 0) + 1);
  const pages = await Promise.all(
    names.map((name) => service.send({ path: `/api/v1/${name}/_events?limit=1000` })),
  );
  isOver = true;
  for (const { json } of pages) assert.equal((json as unknown[]).length, 1_000);
  const most = Math.max(...inTurn.values());
  assert.ok(most <= 4, `${most} reads of the change log in one turn`);
});
