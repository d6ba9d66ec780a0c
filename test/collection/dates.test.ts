import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { isDate, isDateValue, isTimestamp, isUnixMillis, timeOf } from "../../src/collection/dates.ts";

const days = ["2024-02-29", "2000-02-29", "0001-01-01", "9999-12-31", "0000-01-01"];
const noDays = [
  ...["2024-02-30", "2023-02-29", "1900-02-29", "2024-04-31", "2024-13-01", "2024-00-01", "2024-01-00"],
  ...["2024-1-1", "24-01-01", "20240101", "2024-01-01 ", " 2024-01-01", "2024-01-01\n", "+002024-01-01", ""],
  ...["2024-01-01T00:00:00.000Z", "٢٠٢٤-٠١-٠١"],
];
const moments = ["2024-02-29T00:00:00.000Z", "1969-12-31T23:59:59.999Z", "0000-01-01T00:00:00.000Z"];
const noMoments = [
  ...["2024-02-30T00:00:00.000Z", "2024-01-01T24:00:00.000Z", "2024-01-01T25:00:00.000Z"],
  ...["2024-01-01T00:60:00.000Z", "2024-01-01T00:00:60.000Z", "2016-12-31T23:59:60.000Z"],
  ...["2024-01-01t00:00:00.000Z", "2024-01-01T00:00:00.000z", "2024-01-01 00:00:00.000Z"],
  ...["2024-01-01T00:00:00.000+00:00", "2024-01-01T00:00:00.000-00:00", "2024-01-01T00:00:00.000"],
  ...[
    "2024-01-01T00:00:00Z",
    "2024-01-01T00:00:00.0Z",
    "2024-01-01T00:00:00.00Z",
    "2024-01-01T00:00:00.0000Z",
  ],
  ...["2024-01-01T00:00:00,000Z", "2024-01-01", "", "2024-01-01T00:00:00.000Z\n"],
];
const millis = [0, -0, -1, 1_700_000_000_000, 8.64e15, -8.64e15];
const noMillis = [0.5, 8.64e15 + 1, -8.64e15 - 1, Number.NaN, Number.POSITIVE_INFINITY];

describe("a date value", () => {
  for (const text of days)
    test(`may be the day ${text}`, () => assert.ok(isDate(text) && isDateValue(text) && !isTimestamp(text)));
  for (const text of noDays) test(`${JSON.stringify(text)} is no day`, () => assert.ok(!isDate(text)));
  for (const text of moments)
    test(`may be the moment ${text}`, () =>
      assert.ok(isTimestamp(text) && isDateValue(text) && !isDate(text)));
  for (const text of noMoments)
    test(`${JSON.stringify(text)} is no moment`, () => assert.ok(!isTimestamp(text)));
  for (const value of millis)
    test(`may be ${value} milliseconds`, () => assert.ok(isUnixMillis(value) && isDateValue(value)));
  for (const value of noMillis)
    test(`may not be ${value} milliseconds`, () => assert.ok(!isUnixMillis(value) && !isDateValue(value)));
  for (const value of [null, true, [], {}, "0", undefined])
    test(`may not be ${JSON.stringify(value)}`, () => assert.ok(!isDateValue(value)));

  test("of any moment that JavaScript writes is taken", () => {
    const date = fc.date({
      min: new Date(-62_167_219_200_000),
      max: new Date(253_402_300_799_999),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(date, (moment) => {
        const text = moment.toISOString();
        assert.ok(isTimestamp(text) && isDate(text.slice(0, 10)) && isUnixMillis(moment.getTime()));
      }),
    );
  });
});

describe("a time that a request names", () => {
  const half = Date.UTC(2026, 0, 31, 8, 30);
  const times: [string, number][] = [
    ["2026-01-31T08:30Z", half],
    ["2026-01-31T08:30:00Z", half],
    ["2026-01-31T08:30:00.000Z", half],
    ["2026-01-31T08:30:01.5Z", half + 1_500],
    ["2026-01-31T08:30:00.123999Z", half + 123],
    ["2026-01-31T10:00+01:30", half],
    ["2026-01-31T00:30:00-08:00", half],
    ["2026-01-30T23:59:59.9-08:30", half - 1_000 + 900],
    ["2026-01-31T08:30:00-00:00", half],
    ["2026-01-31", Date.UTC(2026, 0, 31)],
    [String(half), half],
    ["-1", -1],
    ["0000-01-01T00:00:00+23:59", -62_167_219_200_000 - 86_340_000],
  ];
  for (const [text, time] of times) test(`can be ${text}`, () => assert.equal(timeOf(text), time));
  const others = [
    ...["2026-01-31T08:30", "2026-01-31T08:30:00", "2026-01-31T08Z", "2026-01-31T08:30 01:00"],
    ...["2026-02-30T08:30Z", "2026-01-31T24:00Z", "2026-01-31T08:60Z", "2026-01-31T08:30:60Z"],
    ...[
      "2026-01-31T08:30.5Z",
      "2026-01-31T08:30:00.Z",
      "2026-01-31T08:30:00,5Z",
      "2026-01-31T08:30:00.0000000001Z",
    ],
    ...[
      "2026-01-31T08:30+24:00",
      "2026-01-31T08:30+01:60",
      "2026-01-31T08:30+0100",
      "2026-01-31T08:30Z\n",
      "",
      "now",
    ],
  ];
  for (const text of others)
    test(`cannot be ${JSON.stringify(text)}`, () => assert.equal(timeOf(text), undefined));
});
