import assert from "node:assert/strict";
import { test } from "node:test";
import { sabotages } from "../explorer/sabotage.ts";
import { nameOf, testFileOf } from "../runner/names.ts";
import { readSources, replaceIn } from "./copy.ts";
import { faults } from "./faults.ts";

const sources = readSources();

for (const { name, what, replacements } of [...faults, ...sabotages])
  test(`the fault "${name}" fits the sources. If not, make it again: ${what}`, () => {
    assert.ok(replaceIn(sources, replacements).size > 0);
  });

test("every fault has its own name, and names a test file that exists", () => {
  assert.equal(new Set(faults.map(({ name }) => name)).size, faults.length);
  for (const { noticedBy } of faults) testFileOf(noticedBy);
});

test("npm test notices at least three of four faults", () => {
  const early = faults.filter(({ noticedBy }) => nameOf(testFileOf(noticedBy)).tier === "test");
  assert.ok(early.length >= 0.75 * faults.length, `${early.length} of ${faults.length}`);
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
