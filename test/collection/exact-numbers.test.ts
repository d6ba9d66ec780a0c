/** Exact numbers, compared with integers of any size. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  averageText,
  exactKeyOf,
  exactOf,
  isDecimal,
  isExactKey,
  isInt64,
  sumOfExact,
  textOfExact,
} from "../../src/collection/exact-numbers.ts";
import { isInstantKey } from "../../src/collection/instants.ts";
import { compareCodePoints } from "../../src/collection/text-comparison.ts";
import { almostExact, nearExact, scaledExact } from "../exact-numbers.ts";

const runs = { numRuns: 5_000 };
const any = fc.oneof(
  nearExact,
  fc
    .tuple(
      fc.constantFrom("", "-", "+"),
      fc.stringMatching(/^[0-9]{1,20}$/),
      fc.stringMatching(/^([.][0-9]{1,18})?$/),
    )
    .map((parts) => parts.join("")),
);

test("keys have the order of the numbers, and equal numbers have equal keys", () => {
  fc.assert(
    fc.property(any, any, (a, b) => {
      const [keyA, keyB] = [exactKeyOf(a) as string, exactKeyOf(b) as string];
      const [valueA, valueB] = [scaledExact(a), scaledExact(b)];
      assert.equal(Math.sign(compareCodePoints(keyA, keyB)), valueA < valueB ? -1 : Number(valueA > valueB));
      assert.ok(isExactKey(keyA) && !isInstantKey(keyA), keyA);
    }),
    runs,
  );
});

test("a sum is exact and keeps the larger scale", () => {
  fc.assert(
    fc.property(any, any, (a, b) => {
      const sum = textOfExact(sumOfExact(exactOf(a), exactOf(b)));
      assert.equal(scaledExact(sum), scaledExact(a) + scaledExact(b));
      const scaleOf = (text: string) => text.split(".")[1]?.length ?? 0;
      assert.equal(scaleOf(sum), Math.max(scaleOf(a), scaleOf(b)));
    }),
    runs,
  );
});

test("an average is rounded to 12 digits, halves away from zero, without zeros at the end", () => {
  const cases = [
    ["1", 3, "0.333333333333"],
    ["2", 3, "0.666666666667"],
    ["-2", 3, "-0.666666666667"],
    ["1.00", 2, "0.5"],
    ["10.00", 1, "10"],
    ["0.00", 7, "0"],
    ["100", 1, "100"],
    ["0.0000000000005", 1, "0.000000000001"],
    ["-0.0000000000005", 1, "-0.000000000001"],
    ["0.0000000000004999", 1, "0"],
    ["-0.0000000000004999", 1, "0"],
    ["0.000000000001", 2, "0.000000000001"],
    [`${"9".repeat(38)}`, 2, `4${"9".repeat(37)}.5`],
  ] as const;
  for (const [sum, count, average] of cases) assert.equal(averageText(exactOf(sum), count), average, sum);
});

test("only a sign and up to 38 digits with a point between them are an exact number", () => {
  for (const text of almostExact) {
    assert.equal(isDecimal(text), false, text);
    assert.equal(exactKeyOf(text), undefined, text);
  }
  for (const value of [1, 1n, null, undefined, true, ["1"]]) assert.equal(exactKeyOf(value), undefined);
  fc.assert(fc.property(any, (text) => isDecimal(text)));
});

test("only whole numbers of 64 bits are an int64", () => {
  const yes = ["0", "-0", "+1", "007", "9223372036854775807", "-9223372036854775808"];
  for (const text of yes) assert.equal(isInt64(text), true, text);
  const no = [
    "",
    "1.0",
    "9223372036854775808",
    "-9223372036854775809",
    "9".repeat(38),
    "1e3",
    ...almostExact,
  ];
  for (const text of no) assert.equal(isInt64(text), false, text);
});
