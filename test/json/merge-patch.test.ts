import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { applyMergePatch } from "../../src/json/merge-patch.ts";

const wide = { depth: 64, members: 10_000 };

/** Every row of RFC 7396, Appendix A. */
const appendixA: [target: unknown, patch: unknown, result: unknown][] = [
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [
    ["a", "b"],
    ["c", "d"],
    ["c", "d"],
  ],
  [{ a: "b" }, ["c"], ["c"]],
  [{ a: "foo" }, null, null],
  [{ a: "foo" }, "bar", "bar"],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: "b", c: null }, { a: "b" }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

describe("a merge patch", () => {
  for (const [target, patch, result] of appendixA) {
    test(`${JSON.stringify(patch)} makes ${JSON.stringify(result)} of ${JSON.stringify(target)}`, () => {
      const before = JSON.stringify(target);
      assert.deepEqual(applyMergePatch(target, patch, wide), result);
      assert.equal(JSON.stringify(target), before);
    });
  }

  test("keeps members in their places, and puts new ones after them", () => {
    assert.equal(
      JSON.stringify(applyMergePatch({ a: 1, b: 2, c: 3 }, { d: 4, b: 5 }, wide)),
      '{"a":1,"b":5,"c":3,"d":4}',
    );
  });

  test("takes __proto__ for a member like any other", () => {
    const patch: unknown = JSON.parse('{"__proto__":{"polluted":true},"a":{"__proto__":{"polluted":true}}}');
    const result = applyMergePatch({ a: {} }, patch, wide);
    assert.equal(
      JSON.stringify(result),
      '{"a":{"__proto__":{"polluted":true}},"__proto__":{"polluted":true}}',
    );
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  });

  test("may not make an object of more members than the limit says", () => {
    const limits = { depth: 64, members: 3 };
    assert.deepEqual(applyMergePatch({ a: 1, b: 2 }, { c: 3, a: null, d: 4 }, limits), { b: 2, c: 3, d: 4 });
    assert.throws(() => applyMergePatch({ x: { a: 1, b: 2 } }, { x: { c: 3, d: 4 } }, limits), {
      code: "BODY_TOO_DEEP",
    });
  });

  test("applied twice is applied once", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (target, patch) => {
        const once = applyMergePatch(target, patch, wide);
        assert.deepEqual(applyMergePatch(once, patch, wide), once);
      }),
    );
  });
});
