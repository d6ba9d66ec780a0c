/** The change log restores a superseded text exactly, or reports an error. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  isDifference,
  keptText as keptTextOf,
  keptTexts,
  maxChain,
  textFrom,
} from "../../src/store/core/superseded.ts";
import { runLater } from "../../src/store/sql/plans.ts";
import { anyCharacter } from "../characters.ts";
import { generator } from "../seed.ts";

const large = Array.from({ length: 20_000 }, (_, n) => `é${(n * 7919) % 10_007} `).join("");
const keptText = (change: { text: string; next: string | undefined; version: number }): string => {
  const { text, next, version } = change;
  const kept = keptTextOf({
    before: { text },
    next: next === undefined ? undefined : { text: next },
    version,
  });
  assert.ok(kept !== null);
  return kept;
};
const textOf = (n: number) =>
  JSON.stringify({ id: "a", n, large, updatedAt: new Date(n * 1_000).toISOString() });

test("a difference takes a small part of a text that changes at both of its ends", () => {
  const kept = keptText({ text: textOf(1), next: textOf(2), version: 2 });
  assert.ok(isDifference(kept));
  assert.ok(kept.length < 300, `${kept.length}`);
  assert.equal(textFrom(kept, textOf(2)), textOf(1));
});

test("a text is kept whole where it is short, deleted, in its turn, or nothing like the next one", () => {
  const short = JSON.stringify({ id: "a", pad: "x".repeat(3_000) });
  const random = generator();
  const other = JSON.stringify({ id: "a", bytes: Array.from({ length: 9_000 }, random) });
  const text = textOf(1);
  for (const superseding of [
    { text: short, next: `${short} `, version: 2 },
    { text, next: undefined, version: 2 },
    { text, next: textOf(2), version: maxChain },
    { text, next: textOf(2), version: 3 * maxChain },
    { text: other, next: text, version: 2 },
  ])
    assert.equal(keptText(superseding), superseding.text);
  assert.equal(textFrom(text, ""), text);
});

test("any two texts give the first one again", () => {
  const part = fc.oneof(
    fc.string({ unit: anyCharacter }).map((each) => each.toWellFormed()),
    fc.constantFrom(large, large.slice(0, 9_000), large.slice(3_000)),
  );
  const text = fc.array(part, { maxLength: 6 }).map((parts) => JSON.stringify(parts));
  let differences = 0;
  fc.assert(
    fc.property(text, text, (one, next) => {
      const kept = keptText({ text: one, next, version: 1 });
      if (isDifference(kept)) differences++;
      assert.equal(textFrom(kept, next), one);
    }),
    { numRuns: 60 },
  );
  assert.ok(differences > 5, `${differences}`);
});

test("many changes in one text still make a small difference", () => {
  const listOf = (n: number) =>
    JSON.stringify({
      list: Array.from({ length: 500 }, (_, k) => ({ k, n: n + k, name: large.slice(k * 9, k * 9 + 90) })),
    });
  const kept = keptText({ text: listOf(1), next: listOf(2_000_000), version: 1 });
  assert.ok(isDifference(kept));
  assert.equal(textFrom(kept, listOf(2_000_000)), listOf(1));
});

for (const [form, next] of Object.entries({
  runs: textOf(2),
  frame: textOf(2).replaceAll("é1", "é2"),
}))
  test(`a damaged difference (${form}), or one from another text, is an error and never a text`, () => {
    const kept = keptText({ text: textOf(1), next, version: 2 });
    assert.equal(kept.slice(0, 2), form === "runs" ? "~r" : "~z");
    const places = Array.from({ length: Math.min(kept.length - 3, 2_000) }, (_, n) => n + 2);
    const cuts = places.map((n) => kept.slice(0, n));
    const changed = places.map(
      (n) => `${kept.slice(0, n)}${kept[n] === "7" ? "3" : "7"}${kept.slice(n + 1)}`,
    );
    for (const damaged of [...cuts, ...changed, "~", "~z", "~r", "~z1:", "~r1,"]) {
      const given = (() => {
        try {
          return textFrom(damaged, next);
        } catch {
          return undefined;
        }
      })();
      assert.ok(given === undefined || given === textOf(1), damaged);
    }
    assert.throws(() => textFrom(kept, textOf(2).replaceAll("é", "e")));
    assert.throws(() => textFrom(kept, ""));
  });

test("other work gets turns while the differences of many large texts are made", async () => {
  const text = JSON.stringify({ text: "x".repeat(600_000) });
  const changes = Array.from({ length: 6 }, (_, n) => ({
    before: { text },
    next: { text: text.replace("{", `{"n":${n},`) },
    version: 2,
  }));
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const kept = await runLater(keptTexts(changes), () =>
    Promise.reject(new Error("It asks for nothing.")),
  ).finally(() => {
    isDone = true;
  });
  assert.ok(turns >= changes.length, `${turns} turns`);
  assert.deepEqual(kept, changes.map(keptTextOf));
});
