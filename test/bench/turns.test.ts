/** The order in which the bench warms up and measures the sides of a comparison. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { efforts } from "../../bench/harness/effort.ts";
import { takeTurns } from "../../bench/harness/turns.ts";

/** Takes turns with sides that send this number of responses in each run, and returns the runs in order. */
async function runsOf(answers: Readonly<Record<string, number>>, effort: keyof typeof efforts) {
  const warmUps: string[] = [];
  const rounds: string[] = [];
  const turns = await takeTurns(
    Object.keys(answers),
    { ...efforts[effort], rounds: 3 },
    async (name, isWarmUp) => {
      (isWarmUp ? warmUps : rounds).push(name);
      return { answers: answers[name] ?? 0, rate: rounds.length, cost: -rounds.length };
    },
  );
  return { warmUps: warmUps.join(" "), rounds: rounds.join(" "), turns };
}

test("each side is warmed up until it has sent enough responses, but slow sides not for ever", async () => {
  const answers = { fast: 30_000, half: 15_000, slow: 10 };
  assert.equal((await runsOf(answers, "quick")).warmUps, "fast half half slow slow");
  assert.equal((await runsOf(answers, "usual")).warmUps, "fast half half slow slow slow slow");
});

test("the order of the sides is reversed in every other round, and each value stays with its side", async () => {
  const { rounds, turns } = await runsOf({ a: 30_000, b: 30_000 }, "quick");
  assert.equal(rounds, "a b b a a b");
  assert.deepEqual(turns, {
    a: { rates: [1, 4, 5], costs: [-1, -4, -5] },
    b: { rates: [2, 3, 6], costs: [-2, -3, -6] },
  });
});

test("a run without a response is no measurement", async () => {
  await assert.rejects(runsOf({ a: 30_000, silent: 0 }, "quick"), /silent sent no response/);
});
