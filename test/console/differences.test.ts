/** The differences between two versions, as the history shows them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { diffAttributes } from "../../console/src/resource/differences.ts";

/** Lines as text: the sign, then the words, with the marked ones in brackets. */
function shown(before: Record<string, unknown>, after: Record<string, unknown>): string[] {
  const signs = { add: "+", remove: "-", same: " ", gap: "~" };
  return diffAttributes(before, after).flatMap(({ name, isBlock, lines }) => [
    ...(isBlock ? [name] : []),
    ...lines.map(
      ({ kind, pieces }) =>
        `${signs[kind]}${isBlock ? "" : `${name}=`}${pieces.map(({ text, isMarked }) => (isMarked ? `[${text}]` : text)).join("")}`,
    ),
  ]);
}

test("short values are shown as JSON, so that null, absent and texts differ", () => {
  assert.deepEqual(shown({ a: 1, b: null, c: "x", d: 1 }, { a: 2, b: "null", d: 1, e: [] }), [
    "-a=1",
    "+a=2",
    "-b=null",
    '+b="null"',
    '-c="x"',
    "+e=[]",
  ]);
  assert.deepEqual(shown({ a: 1 }, { a: 1 }), []);
});

test("lists are compared by their elements", () => {
  assert.deepEqual(shown({ tags: ["a", "b"] }, { tags: ["a", "b", "c"] }), ["tags", "~…", ' "b"', '+"c"']);
  assert.deepEqual(shown({ tags: [] }, { tags: ["a"] }), ["tags", '+"a"']);
  assert.deepEqual(shown({ tags: ["a"] }, {}), ["tags", "-[", '-  "a"', "-]"]);
});

test("texts are compared by lines, then by words", () => {
  assert.deepEqual(shown({ t: "one\ntwo three four\nfive" }, { t: "one\ntwo tree four\nfive" }), [
    "t",
    " one",
    "-two [three] four",
    "+two [tree] four",
    " five",
  ]);
});

test("equal lines far from a change are left out", () => {
  const lines = Array.from({ length: 20 }, (_, n) => `line ${n}`);
  const changed = lines.with(10, "changed");
  assert.deepEqual(shown({ t: lines.join("\n") }, { t: changed.join("\n") }), [
    "t",
    "~…",
    " line 9",
    "-line 10",
    "+changed",
    " line 11",
    "~…",
  ]);
});

test("large values are bounded", () => {
  const text = (word: string) => Array.from({ length: 50_000 }, (_, n) => `${word} ${n}`).join("\n");
  const [diff] = diffAttributes({ t: text("a") }, { t: text("b") });
  assert.equal(diff?.lines.length, 60);
  assert.equal(diff?.cut, 100_000 - 60);
  const [long] = diffAttributes({ t: "x".repeat(1_000_000) }, { t: "y".repeat(1_000_000) });
  assert.ok(long?.lines.every(({ pieces }) => pieces.every(({ text: piece }) => piece.length <= 2_001)));
});

test("a small change of a large value is found", () => {
  const before = Array.from({ length: 20_000 }, (_, n) => n);
  assert.deepEqual(shown({ l: before }, { l: before.with(10_000, -1) }), [
    "l",
    "~…",
    " 9999",
    "-10000",
    "+-1",
    " 10001",
    "~…",
  ]);
});
