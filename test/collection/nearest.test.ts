import assert from "node:assert/strict";
import { test } from "node:test";
import { nearestTo } from "../../src/collection/nearest.ts";

const tried: [name: string, candidates: string[], nearest: string | undefined][] = [
  ["titel", ["id", "title"], "title"],
  ["TITLE", ["id", "title"], "title"],
  ["something", ["id", "title"], undefined],
  ["neq", ["eq", "ne"], "ne"],
  ["neq", ["ne", "eq"], "ne"],
  ["req", ["eq", "ne"], "eq"],
  ["a", ["q", "b"], undefined],
  ["A", ["a"], "a"],
  ["gq", ["gt", "q"], "gt"],
];

for (const [name, candidates, nearest] of tried)
  test(`nearest to ${name} among ${candidates} is ${nearest ?? "none"}`, () => {
    assert.equal(nearestTo(name, candidates), nearest);
  });
