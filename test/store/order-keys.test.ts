import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Index } from "../../src/collection/indexes.ts";
import { compareBy, comparePositions, cursorValuesOf } from "../../src/query/sort.ts";
import { after, before, boundsOfType, keyAt } from "../../src/store/core/order-keys.ts";
import { nearExact } from "../exact-numbers.ts";

const keyOf = (resource: Record<string, unknown>, index: Index) =>
  keyAt(cursorValuesOf(resource, index), index);

/** Also halves of surrogate pairs, and null characters. */
const text = fc.string({
  unit: fc.constantFrom(
    "a",
    "B",
    "\0",
    "\x01",
    "\ud7ff",
    "\ue000",
    "\uffff",
    "😀",
    "\u{10ffff}",
    "\ud83d",
    "\ude00",
    "\udfff",
  ),
});
const value = fc.oneof(
  text,
  nearExact,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constantFrom(
    null,
    true,
    false,
    0,
    -0,
    1,
    -1.5,
    1e300,
    5e-324,
    "a".repeat(128),
    "a".repeat(129),
    [],
    [1],
    {},
  ),
  fc.constantFrom(
    "2024-05-01",
    "2024-05-01T02:00:00+02:00",
    "2024-05-01T00:00:00.0001Z",
    1_714_521_600_000,
    -8.64e15,
  ),
);
/** Texts around the UUIDs: their beginnings, with another character at the end, and what is before and after all of them. */
const nearUuid = fc
  .tuple(
    fc.constantFrom(
      "00000000-0000-0000-0000-000000000000",
      "ffffffff-ffff-ffff-ffff-ffffffffffff",
      "0f0a09f0-9a00-4fff-a000-000000000f90",
    ),
    fc.oneof(fc.nat(36), fc.constant(36)),
    fc.constantFrom("", "", "-", ",", ".", "0", "1", "9", ":", "a", "f", "g", "A", "é", "\u{10ffff}", "\0"),
    fc.boolean(),
  )
  .map(
    ([uuid, length, character, isWhole]) =>
      uuid.slice(0, length) + character + (isWhole ? uuid.slice(length + 1) : ""),
  );
const id = fc.oneof(fc.nat(300), fc.constantFrom("a", "b", "0", "~"), nearUuid);
const resource = fc.record({ id, a: value, b: value }, { requiredKeys: ["id"] });
const index = fc
  .uniqueArray(fc.constantFrom("a", "b"), { minLength: 1 })
  .chain((names) =>
    fc.tuple(
      ...names.map((name) =>
        fc.record({
          path: fc.constant([name] as const),
          descending: fc.boolean(),
          as: fc.constantFrom(undefined, "date" as const, "exact" as const),
          movesNulls: fc.constantFrom(undefined, true as const),
        }),
      ),
    ),
  )
  .map((keys) =>
    keys.map(({ as, movesNulls, ...key }) => ({
      ...key,
      ...(as !== undefined && { as }),
      ...(movesNulls !== undefined && { movesNulls }),
    })),
  ) as fc.Arbitrary<Index>;
const runs = { numRuns: 5_000 };

test("keys have the order of their resources", () => {
  fc.assert(
    fc.property(index, resource, resource, (keys, a, b) => {
      const expected = Math.sign(compareBy(keys)(a, b));
      assert.equal(Buffer.compare(keyOf(a, keys), keyOf(b, keys)), expected);
    }),
    runs,
  );
});

test("the keys of equal values have the order of their ids", () => {
  fc.assert(
    fc.property(nearUuid, nearUuid, (a, b) => {
      assert.equal(
        Buffer.compare(keyOf({ id: a }, []), keyOf({ id: b }, [])),
        Math.sign(compareBy([])({ id: a }, { id: b })),
      );
    }),
    runs,
  );
});

test("the bounds of a beginning have the resources with its values between them, and no others", () => {
  fc.assert(
    fc.property(index, resource, resource, (keys, a, b) => {
      const [first, ...others] = keys as [Index[number]];
      const [position, other] = [cursorValuesOf(a, keys), cursorValuesOf(b, keys)];
      const beginning = keyAt(position.slice(0, 1), keys);
      const isEqual = comparePositions([first])([position[0] ?? null, 0], [other[0] ?? null, 0]) === 0;
      const key = keyOf(b, keys);
      assert.equal(
        Buffer.compare(key, before(beginning)) > 0 && Buffer.compare(key, after(beginning)) < 0,
        isEqual,
      );
      void others;
    }),
    runs,
  );
});

test("the bounds of a type have the resources with a value of this type between them, and no others", () => {
  const typeOf = (each: unknown) =>
    Array.isArray(each) ? `array ${each.length}` : each === null ? "null" : typeof each;
  fc.assert(
    fc.property(index, resource, resource, (keys, a, b) => {
      const [first] = keys as [Index[number]];
      const [own, other] = [cursorValuesOf(a, keys)[0] ?? null, cursorValuesOf(b, keys)[0] ?? null];
      fc.pre(typeof own !== "boolean" && typeof other !== "boolean");
      const { low, high } = boundsOfType(Buffer.alloc(0), own, first);
      const key = keyOf(b, keys);
      const isWithin = Buffer.compare(key, low) > 0 && Buffer.compare(key, high) < 0;
      assert.equal(isWithin, typeOf(own) === typeOf(other));
    }),
    runs,
  );
});

test("the longest key fits into an index, and differs for each id", () => {
  const names = ["a", "b", "c", "d", "e"] as const;
  const keys = names.map((name) => ({ path: [name] as const, descending: false }));
  const long = Object.fromEntries(names.map((name) => [name, "\u{10ffff}".repeat(200)]));
  const [first, second] = ["a", "b"].map((end) => keyOf({ ...long, id: "x".repeat(127) + end }, keys)) as [
    Buffer,
    Buffer,
  ];
  assert.ok(first.length <= 2_650 && second.length <= 2_650, `${first.length}`);
  assert.notDeepEqual(first, second);
  const other = keyOf({ ...long, e: "\u{10fffe}", id: "x".repeat(128) }, keys);
  assert.equal(Buffer.compare(other, first), -1);
});
