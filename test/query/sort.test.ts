import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { SortKey } from "../../src/collection/indexes.ts";
import { compareCodePoints } from "../../src/collection/text-comparison.ts";
import { compareBy, compareSortValues, cursorValuesOf, sortValueOf } from "../../src/query/sort.ts";

const key = (name: string, descending = false): SortKey => ({
  path: name.split(".") as unknown as SortKey["path"],
  descending,
});

/** Texts whose UTF-16 units and code points are in different orders. */
const text = fc.string({
  unit: fc.constantFrom("a", "B", "\ud7ff", "\ue000", "\uffff", "😀", "\u{10ffff}", "é"),
});
const value = fc.oneof(
  text,
  fc.constantFrom(null, true, false, 0, -0, 1, -1.5, 1e300, "a".repeat(128), "a".repeat(129)),
  fc.constantFrom([], [1], {}, { b: 1 }),
);
const resource = fc
  .record({ a: value, b: fc.oneof(value, fc.record({ c: value })) }, { requiredKeys: [] })
  .chain((attributes) => fc.nat(5).map((id): Record<string, unknown> => ({ id: `${id}`, ...attributes })));
const sort = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom("a", "b", "b.c", "id"),
    descending: fc.boolean(),
    moved: fc.constantFrom({}, { movesNulls: true as const }),
  }),
  { selector: ({ name }) => name, maxLength: 4 },
);
const keysOf = (spelled: readonly { name: string; descending: boolean; moved: object }[]) =>
  spelled.map(({ name, descending, moved }) => ({ ...key(name, descending), ...moved }));

test("values come in the order null, boolean, number, string, array or object", () => {
  const inOrder = [[null, undefined], [false], [true], [-1], [0, -0], [1], [""], ["a"], ["b"], [[], {}, [1]]];
  for (const [n, values] of inOrder.entries())
    for (const [m, others] of inOrder.entries())
      for (const a of values)
        for (const b of others) {
          const order = compareSortValues(sortValueOf(a), sortValueOf(b));
          assert.equal(Math.sign(order), Math.sign(n - m), `${JSON.stringify(a)} ${JSON.stringify(b)}`);
        }
});

test("nulls and absent values come first or last, as the key says, and otherwise with the direction", () => {
  const resources = [
    { id: "1", a: 2 },
    { id: "2", a: null },
    { id: "3", a: 1 },
    { id: "4" },
    { id: "5", a: "x" },
  ];
  const order = (descending: boolean, moved: object = {}) =>
    resources
      .toSorted(compareBy([{ ...key("a", descending), ...moved }]))
      .map(({ id }) => id)
      .join("");
  const movesNulls = true as const;
  assert.equal(order(false), "24315");
  assert.equal(order(true), "51324");
  assert.equal(order(false, { movesNulls }), "31524");
  assert.equal(order(true, { movesNulls }), "24513");
});

test("strings are compared by code point", () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      const expected = Buffer.compare(Buffer.from(a), Buffer.from(b)); // UTF-8 keeps the order of code points
      assert.equal(Math.sign(compareCodePoints(a, b)), expected);
    }),
  );
});

test("only the first 128 code points of a string count, and no pair is cut", () => {
  const emoji = "😀".repeat(128);
  assert.equal(sortValueOf(`${emoji}tail`), emoji);
  assert.equal(sortValueOf("a".repeat(129)), "a".repeat(128));
  assert.equal(sortValueOf(`${"a".repeat(127)}😀b`), `${"a".repeat(127)}😀`);
});

test("-0 is 0 in a position", () => {
  assert.ok(Object.is(sortValueOf(-0), 0));
});

test("compareBy is a total order in which only equal ids are equal", () => {
  fc.assert(
    fc.property(sort, fc.array(resource, { minLength: 3, maxLength: 3 }), (spelled, resources) => {
      const compare = compareBy(keysOf(spelled));
      for (const a of resources)
        for (const b of resources) {
          assert.equal(Math.sign(compare(a, b)), -Math.sign(compare(b, a)) + 0);
          if (a.id !== b.id) assert.notEqual(compare(a, b), 0);
          for (const c of resources)
            if (compare(a, b) <= 0 && compare(b, c) <= 0) assert.ok(compare(a, c) <= 0);
        }
    }),
  );
});

test("positions are in the order of their resources", () => {
  fc.assert(
    fc.property(sort, resource, resource, (spelled, a, b) => {
      const keys = keysOf(spelled);
      const [left, right] = [cursorValuesOf(a, keys), cursorValuesOf(b, keys)];
      const all: SortKey[] = [...keys, key("id")];
      const differing = left.findIndex((each, n) => compareSortValues(each, right[n] ?? null) !== 0);
      const [one = null, other = null] = [left[differing], right[differing]];
      const isMoved = all[differing]?.movesNulls === true && (one === null || other === null);
      const order = compareSortValues(one, other) * (isMoved ? -1 : 1);
      const expected = differing === -1 ? 0 : order * (all[differing]?.descending ? -1 : 1);
      assert.equal(Math.sign(compareBy(keys)(a, b)), Math.sign(expected));
    }),
  );
});

test("a position ends with the id, once", () => {
  const topic = { id: 7, title: "a", author: { name: "Ada" }, tags: ["x"] };
  assert.deepEqual(cursorValuesOf(topic, []), [7]);
  assert.deepEqual(cursorValuesOf(topic, [key("author.name"), key("nothing"), key("tags")]), [
    "Ada",
    null,
    [],
    7,
  ]);
  assert.deepEqual(cursorValuesOf(topic, [key("title"), key("id", true)]), ["a", 7]);
});
