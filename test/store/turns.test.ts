/** How callers take turns: in batches, and one by one. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { Lines } from "../../src/store/core/lines.ts";
import { shareOf, Turns } from "../../src/store/port/turns.ts";

/** A call: its caller, its number, its weight and what it is about. */
interface Waiting {
  call: { caller: string; n: number; names: readonly string[] };
  weight: number;
}

const createTurns = () =>
  new Turns<Waiting["call"]>({ callerOf: ({ caller }) => caller, namesOf: ({ names }) => names });

/** Calls as a text: `a` and `a` of the caller a, each of this weight. */
function waitingOf(callers: string, weight = 1): Waiting[] {
  return [...callers].map((caller, n) => ({ call: { caller, n, names: [] }, weight }));
}

const callersOf = (calls: readonly Waiting[]) => calls.map(({ call }) => call.caller).join("");

const roomy = { most: 1_000, weight: 1_000, isAlone: true };

describe("a batch", () => {
  test("has the same part for each caller, and what one does not need is for the others", () => {
    const { taken, left } = createTurns().take(waitingOf("aaaaaaaabbbc"), { ...roomy, most: 6 });
    assert.equal(callersOf(taken), "aabbc");
    assert.equal(taken.length + left.length, 12);
    assert.equal(shareOf(6, [8, 3, 1]), 2.5);
    assert.equal(shareOf(12, [8, 3, 1]), Number.POSITIVE_INFINITY);
  });

  test("counts the weight of calls, not only their number", () => {
    const waiting = [...waitingOf("aaaa", 4), ...waitingOf("bbbb", 1)];
    const { taken } = createTurns().take(waiting, { ...roomy, weight: 8 });
    assert.equal(callersOf(taken), "abbbb");
  });

  test("of one call goes round the callers", () => {
    const turns = createTurns();
    let waiting = waitingOf("aaabbc");
    const order: Waiting[] = [];
    while (waiting.length > 0) {
      const { taken, left } = turns.take(waiting, { ...roomy, most: 1 });
      order.push(...taken);
      waiting = left;
    }
    assert.equal(callersOf(order), "abcaba");
  });

  test("of one call goes round the callers, also if each sends its next call after the last one", () => {
    const turns = createTurns();
    let waiting = waitingOf("bbbbbb");
    const order: Waiting[] = [];
    for (let n = 0; n < 6; n++) {
      const next = waiting.some(({ call }) => call.caller === "a") ? [] : waitingOf("a");
      const { taken, left } = turns.take([...waiting, ...next], { ...roomy, most: 1 });
      order.push(...taken);
      waiting = left;
    }
    assert.equal(callersOf(order), "bababa");
  });

  test("ends before a call that is too heavy, so that this one comes next", () => {
    const turns = createTurns();
    const heavy = { call: { caller: "h", n: 0, names: [] }, weight: 2_000 };
    const first = turns.take([...waitingOf("a"), heavy, ...waitingOf("bb")], { ...roomy, isAlone: false });
    assert.equal(callersOf(first.taken), "a");
    assert.deepEqual(turns.take(first.left, { ...roomy, weight: 999, isAlone: false }).taken, []);
    assert.equal(callersOf(turns.take(first.left, roomy).taken), "h");
  });

  test("keeps the order of calls about the same thing, and never has more than its room", () => {
    const call = fc.record({
      caller: fc.constantFrom("a", "b", "c"),
      names: fc.uniqueArray(fc.constantFrom("x", "y", "z"), { maxLength: 2 }),
      weight: fc.integer({ min: 1, max: 9 }),
    });
    fc.assert(
      fc.property(
        fc.array(call, { maxLength: 30 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 20 }),
        (calls, most, weight) => {
          const turns = createTurns();
          let waiting: Waiting[] = calls.map((each, n) => ({ call: { ...each, n }, weight: each.weight }));
          const order: Waiting[] = [];
          while (waiting.length > 0) {
            const { taken, left } = turns.take(waiting, { most, weight, isAlone: true });
            assert.ok(taken.length > 0, "something is taken");
            assert.ok(taken.length <= most);
            const sum = taken.reduce((all, each) => all + each.weight, 0);
            assert.ok(taken.length === 1 || sum <= weight);
            order.push(...taken);
            waiting = left;
          }
          for (const name of ["x", "y", "z"]) {
            const about = order.filter((each) => each.call.names.includes(name)).map((each) => each.call.n);
            assert.deepEqual(
              about,
              about.toSorted((a, b) => a - b),
            );
          }
        },
      ),
    );
  });
});

describe("lines", () => {
  const each = (text: string) => ({ caller: text.slice(0, 1), text });

  test("give each caller a turn, and keep the order of each", () => {
    const lines = new Lines<ReturnType<typeof each>>();
    for (const text of ["a1", "a2", "a3", "b1", "b2", "c1"]) lines.add(each(text));
    assert.equal(lines.peek()?.text, "a1");
    assert.deepEqual(
      lines.longest().map(({ text }) => text),
      ["a1", "a2", "a3"],
    );
    const order: string[] = [];
    for (let next = lines.take(); next !== undefined; next = lines.take()) order.push(next.text);
    assert.deepEqual(order, ["a1", "b1", "c1", "a2", "b2", "a3"]);
    assert.equal(lines.length, 0);
  });

  test("forget what is removed, once", () => {
    const lines = new Lines<ReturnType<typeof each>>();
    const [first, second] = [each("a1"), each("b1")];
    for (const one of [first, second]) lines.add(one);
    for (let n = 0; n < 2; n++) lines.remove(first);
    assert.equal(lines.length, 1);
    assert.deepEqual(lines.all(), [second]);
  });
});
