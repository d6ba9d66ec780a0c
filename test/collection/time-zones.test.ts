import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { localTime, probedZone, startOfDay, timeZone } from "../../src/collection/time-zones.ts";
import { localTimeAt, startOfDayAt } from "../temporal.ts";

const names = [
  "Europe/Berlin",
  "America/New_York",
  "America/St_Johns",
  "America/Sao_Paulo",
  "Africa/Casablanca",
  "Africa/Cairo",
  "Asia/Kathmandu",
  "Australia/Lord_Howe",
  "Pacific/Apia",
  "Asia/Gaza",
  "Antarctica/Troll",
  "America/Noronha",
  "UTC",
];
const zoneOf = (name: string) => {
  const zone = timeZone(name);
  assert.ok(zone, name);
  return zone;
};
/** Times around the changes of a zone, and any others. */
const timeIn = (name: string) => {
  const { changes } = zoneOf(name);
  const any = fc.integer({ min: Date.UTC(1850), max: Date.UTC(2140) });
  if (changes.length === 0) return any;
  const near = fc
    .tuple(fc.constantFrom(...changes), fc.integer({ min: -2 * 86_400_000, max: 2 * 86_400_000 }))
    .map(([change, distance]) => change * 1_000 + distance);
  const exact = fc
    .tuple(fc.constantFrom(...changes), fc.constantFrom(-1, 0, 1))
    .map(([change, distance]) => change * 1_000 + distance);
  return fc.oneof(any, near, exact).filter((ms) => ms > Date.UTC(1850) && ms < Date.UTC(2140));
};
const placed = fc
  .constantFrom(...names)
  .chain((name) => fc.tuple(fc.constant(name), timeIn(name), fc.integer({ min: -400, max: 400 })));

describe("a time zone", () => {
  test("has the local times of Temporal, also around each change", () => {
    fc.assert(
      fc.property(placed, ([name, ms]) => {
        assert.equal(new Date(localTime(zoneOf(name), ms)).toISOString(), localTimeAt(name, ms));
      }),
      { numRuns: 5_000 },
    );
  });

  test("has the days of Temporal, which can begin after midnight or be skipped", () => {
    fc.assert(
      fc.property(placed, ([name, ms, days]) => {
        assert.equal(startOfDay(zoneOf(name), ms, days), startOfDayAt(name, ms, days));
      }),
      { numRuns: 5_000 },
    );
  });

  test("is the same where Node has no Temporal, even with two changes in a week", () => {
    for (const name of ["Europe/Berlin", "America/Noronha", "Asia/Gaza"])
      assert.deepEqual(probedZone(name), timeZone(name));
  });

  test("can have its name in any case, and an unknown name has none", () => {
    assert.equal(timeZone("europe/berlin"), timeZone("Europe/Berlin"));
    assert.equal(timeZone("Europe/Berlin")?.name, "Europe/Berlin");
    for (const name of ["", "Berlin", "+01:00", "Europe/Berlin ", "Mars/Phobos", "a".repeat(1_000)])
      assert.equal(timeZone(name), undefined, name);
  });
});
