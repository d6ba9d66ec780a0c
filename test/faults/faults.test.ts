import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { sabotages } from "../explorer/sabotage.ts";
import { tierOf } from "../runner/tiers.ts";
import { readSources, replaceIn } from "./copy.ts";
import { faults } from "./faults.ts";

const sources = readSources();

for (const { name, what, replacements } of [...faults, ...sabotages])
  test(`the fault "${name}" fits the sources. If not, make it again: ${what}`, () => {
    assert.ok(replaceIn(sources, replacements).size > 0);
  });

test("every fault has its own name, and names a test file that exists", () => {
  assert.equal(new Set(faults.map(({ name }) => name)).size, faults.length);
  const missing = faults.filter(({ noticedBy }) => !existsSync(noticedBy));
  assert.deepEqual(missing, []);
});

test("npm test notices every fault, unless its row says that a slow file notices it", () => {
  const wrong = faults.filter(({ noticedBy, tier }) => (tierOf(noticedBy) === "slow") !== (tier === "slow"));
  assert.deepEqual(
    wrong.map(({ name, noticedBy }) => `${name}: ${noticedBy}`),
    [],
  );
});

test("a text that does not occur exactly once is refused", () => {
  const two = new Map([
    ["a.ts", "one two"],
    ["b.ts", "two three three"],
  ]);
  assert.deepEqual(replaceIn(two, [["one", "1"]]), new Map([["a.ts", "1 two"]]));
  for (const text of ["two", "three", "four"])
    assert.throws(() => replaceIn(two, [[text, ""]]), /must occur exactly once/);
});
