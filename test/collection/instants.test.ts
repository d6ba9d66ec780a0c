import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { instantKeyOf } from "../../src/collection/instants.ts";
import { compareCodePoints } from "../../src/collection/text-comparison.ts";
import { forms, picoseconds } from "../instants.ts";

const form = fc.record({ at: picoseconds, write: fc.nat() });

test("the keys of two dates have the order of their instants, in whatever form they are written", () => {
  const pair = fc.tuple(form, form, fc.integer({ min: -2, max: 2 }), fc.boolean());
  fc.assert(
    fc.property(pair, ([one, other, distance, isNear]) => {
      const [a, b] = [one.at, isNear ? one.at + BigInt(distance) : other.at];
      const [ofA, ofB] = [forms(a, one.write), forms(b, other.write)];
      const keys = [ofA, ofB].map((value) => instantKeyOf(value, "date"));
      const [keyA, keyB] = keys;
      assert.ok(keyA !== undefined && keyB !== undefined, JSON.stringify([ofA, ofB]));
      assert.equal(
        Math.sign(compareCodePoints(keyA, keyB)),
        a < b ? -1 : Number(a > b),
        JSON.stringify([ofA, ofB]),
      );
    }),
    { numRuns: 3_000 },
  );
});

const noInstants = [
  ...["2026-02-30T10:00:00Z", "2026-13-01T10:00:00Z", "2026-11-23T24:00:00Z", "2026-11-23T10:60:00Z"],
  ...["2026-11-23T10:00:60Z", "2026-11-23T10:00:00", "2026-11-23 10:00:00Z", "2026-11-23T10:00:00+24:00"],
  ...["2026-11-23T10:00:00.Z", "2026-11-23T10:00:00+0100", " 2026-11-23T10:00:00Z", "2026-11-23T10:00:00Z\n"],
  ...[`2026-11-23T10:00:00.${"1".repeat(65)}Z`, "2026-11-23T10:00:00Z\0", "２026-11-23T10:00:00Z", ""],
];

test("a text that is no whole time is no instant", () => {
  for (const text of noInstants) assert.equal(instantKeyOf(text, "date"), undefined, JSON.stringify(text));
  for (const value of ["2026-11-23", 0, true, null, [], {}, undefined])
    assert.equal(instantKeyOf(value, "time"), undefined, JSON.stringify(value));
  for (const value of [1.5, 8.64e15 + 1, Number.NaN, "0", true, null, [], {}])
    assert.equal(instantKeyOf(value, "date"), undefined, JSON.stringify(value));
});
