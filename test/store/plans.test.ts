import assert from "node:assert/strict";
import { test } from "node:test";
import { type Plan, runLater, runNow, type Statement, together } from "../../src/store/sql/plans.ts";
import { query } from "../../src/store/sql/table.ts";

/** Returns its text and its value, as the store of this test does. */
const echo = (sql: string) => query<[string], string>(sql, ([row]) => `${row?.[0]}`);

const [first, second, third] = [echo("first"), echo("second"), echo("third")];

/** Asks twice, and the second time with the first result. */
function* twice(value: string): Plan<string> {
  return yield* second(yield* first(value));
}

/** Yields two statements itself. */
const both = (value: string): Plan<string> => joined(together(first(value), third(value)));

function* joined(plan: Plan<readonly string[]>): Plan<string> {
  return (yield* plan).join("+");
}

function* nothing(): Plan<string> {
  yield* [];
  return "nothing";
}

/** A store whose steps are counted. */
function countingStore() {
  const sent: string[] = [];
  const answer = <T>({ text, values, read }: Statement<T>): T => {
    sent.push(text.sql);
    return read(values.map(([value]) => [`${text.sql}(${value})`]));
  };
  return { sent, answer };
}

const results = ["second(first(a))", "first(b)", "nothing", "first(c)+third(c)"];
const order = ["first", "first", "first", "third", "second"];
const all = () => together(twice("a"), first("b"), nothing(), both("c"));

test("plans that run together get their own results, and their statements run side by side", () => {
  const { sent, answer } = countingStore();
  assert.deepEqual(runNow(all(), answer), results);
  assert.deepEqual(sent, order);
});

test("a plan does the same on a store that responds later, which gets statements together", async () => {
  const { sent, answer } = countingStore();
  let waiting = 0;
  const waits: number[] = [];
  const later = async <T>(statement: Statement<T>): Promise<T> => {
    waiting++;
    await Promise.resolve();
    waits.push(waiting);
    const result = answer(statement);
    if (sent.length === 4 || sent.length === 5) waiting = 0;
    return result;
  };
  assert.deepEqual(await runLater(all(), later), results);
  assert.deepEqual(sent, order);
  assert.deepEqual(waits, [4, 4, 4, 4, 1], "the first four are sent before one of them is answered");
});

test("the error of a statement is thrown into the plan that asked", () => {
  const fail = (): never => {
    throw new Error("no table");
  };
  assert.throws(() => runNow(first("a"), fail), /no table/);
});
