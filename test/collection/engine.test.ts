/** Keywords that would cost too much with many items. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { createPatterns } from "../../src/collection/patterns.ts";
import { createEngine } from "../../src/collection/schema-engine.ts";
import { canonicalText } from "../../src/json/values.ts";

function compile(schema: object) {
  return createEngine({ compilePattern: createPatterns() }).compile(schema);
}

describe("contains", () => {
  test("makes one error, however many items do not fit", () => {
    const isFit = compile({ contains: { type: "string", minLength: 2 } });
    assert.equal(isFit(Array.from({ length: 1_000 }, () => 0)), false);
    assert.equal(isFit.errors?.length, 1);
    assert.equal(isFit([0, "ab"]), true);
  });

  test("counts with minContains and maxContains", () => {
    const isFit = compile({ contains: { const: 1 }, minContains: 2, maxContains: 3 });
    for (const [items, expected] of [
      [[1], false],
      [[1, 0, 1], true],
      [[1, 1, 1], true],
      [[1, 1, 1, 1], false],
    ] as const)
      assert.equal(isFit(items), expected, String(items));
  });
});

describe("uniqueItems", () => {
  const isUnique = compile({ uniqueItems: true });
  for (const [items, expected] of [
    [[1, "1", true, "true", null, "null", [1], ["1"], {}, []], true],
    [[0, -0], false],
    [["[1]", [1]], true],
    [
      [
        { a: 1, b: [2] },
        { b: [2], a: 1 },
      ],
      false,
    ],
    [
      [
        { 10: 1, 9: 1 },
        { 9: 1, 10: 1 },
      ],
      false,
    ],
    [[{ a: { c: 1, b: 1 } }, { a: { b: 1, c: 1 } }], false],
    [[{ a: 1 }, { a: 2 }], true],
  ] as const)
    test(`is ${expected} for ${JSON.stringify(items)}`, () => assert.equal(isUnique(items), expected));

  test("looks at no item behind the first that is there twice", () => {
    let seen = 0;
    const items = Array.from({ length: 100 }, () => ({
      get a() {
        seen++;
        return 1;
      },
    }));
    assert.equal(isUnique(items), false);
    assert.ok(seen <= 8, `${seen} reads`);
  });
});

test("equal values have equal canonical texts, and other values have others", () => {
  const reversed = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(reversed);
    return Object.fromEntries(
      Object.entries(value)
        .toReversed()
        .map(([name, member]) => [name, reversed(member)]),
    );
  };
  const property = (value: unknown, other: unknown) => {
    assert.equal(canonicalText(reversed(value)), canonicalText(value));
    assert.deepEqual(JSON.parse(canonicalText(value)), JSON.parse(JSON.stringify(value)));
    if (canonicalText(other) === canonicalText(value)) assert.deepEqual(reversed(other), reversed(value));
  };
  fc.assert(fc.property(fc.jsonValue(), fc.jsonValue(), property), { numRuns: 1_000 });
});
