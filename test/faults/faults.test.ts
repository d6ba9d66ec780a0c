import assert from "node:assert/strict";
import { test } from "node:test";
import { sabotages } from "../explorer/sabotage.ts";
import { nameOf, testFileOf } from "../runner/names.ts";
import { faults } from "./faults.ts";
import { readSources, replaceIn } from "./replacements.ts";
import { hasTitle } from "./titles.ts";

const sources = readSources();

for (const { name, what, replacements } of [...faults, ...sabotages])
  test(`the fault "${name}" fits the sources. If not, make it again: ${what}`, () => {
    assert.ok(replaceIn(sources, replacements).size > 0);
  });

test("every fault has its own name, and names a test that exists", () => {
  assert.equal(new Set(faults.map(({ name }) => name)).size, faults.length);
  const missing = faults.filter((fault) => !hasTitle(testFileOf(fault.noticedBy), fault.test));
  assert.deepEqual(
    missing.map((fault) => `${fault.name}: "${fault.test}" of ${fault.noticedBy}`),
    [],
  );
});

test("a title can be a text or a template of the file or of what it imports, and nothing else", () => {
  const file = testFileOf("test/faults/faults");
  const template = ["the fault", '"body-limit" fits the sources.', "If not, make it again: what"].join(" ");
  const [{ what: imported } = { what: "" }] = sabotages;
  for (const title of ["a text that does not occur exactly once is refused", template, imported])
    assert.equal(hasTitle(file, title), true, title);
  assert.equal(hasTitle(file, template.slice(1)), false);
});

test("the tests of npm test notice at least 95 % of the faults", () => {
  const early = faults.filter(({ noticedBy }) => nameOf(testFileOf(noticedBy)).tier === "test");
  assert.ok(early.length >= 0.95 * faults.length, `${early.length} of ${faults.length}`);
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
