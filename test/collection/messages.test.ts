import assert from "node:assert/strict";
import { test } from "node:test";
import { createSuggest, nearestLimits, nearestTo } from "../../src/collection/messages.ts";

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

test("a name that is too long is not compared with any other", () => {
  const candidates = counted(["title"]);
  assert.equal(nearestTo("t".repeat(nearestLimits.nameLength + 1), candidates.names), undefined);
  assert.equal(candidates.read(), 0);
});

test("one answer looks for near names only for its first few names", () => {
  const suggest = createSuggest();
  const names = Array.from({ length: 200 }, (_, n) => `attribute${n}`);
  const candidates = counted(names);
  const suggestions = names.map((name) => suggest(`${name}x`, () => candidates.names));
  assert.equal(suggestions.filter((each) => each !== "").length, nearestLimits.searches);
  assert.equal(candidates.read(), nearestLimits.searches * names.length);
});

/** Candidates that count how many of them were looked at. */
function counted(names: readonly string[]): { names: readonly string[]; read: () => number } {
  let read = 0;
  const proxy = new Proxy(names, {
    get: (target, key) => {
      if (typeof key === "string" && /^\d+$/.test(key)) read++;
      return Reflect.get(target, key);
    },
  });
  return { names: proxy, read: () => read };
}

test("all searches of one answer together compare only so much", () => {
  const candidates = counted(Array.from({ length: 900 }, (_, n) => "abcdefghij".repeat(4) + n));
  const suggest = createSuggest();
  for (let n = 0; n < nearestLimits.searches; n++)
    assert.equal(
      suggest("zyxwvutsrq".repeat(4) + n, () => candidates.names),
      "",
    );
  const most = nearestLimits.work / 80 + 1; // at 40 characters of each name
  assert.ok(candidates.read() <= most, `${candidates.read()} comparisons`);
});
