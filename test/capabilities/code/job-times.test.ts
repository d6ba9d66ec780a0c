/** The times of jobs, over a year with both changes of the clocks. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { requirePattern, Schedule } from "../../../src/capabilities/code/jobs/schedule.ts";
import { instantsOf, localTime, type TimeZone, timeZone } from "../../../src/collection/time-zones.ts";

const [minuteMs, dayMs] = [60_000, 86_400_000];
const year = { start: Date.UTC(2027, 0, 1), end: Date.UTC(2028, 0, 1) };

function timesOf(cron: string, zone: string, from: string, until: string): string[] {
  const schedule = new Schedule(cron, zone);
  const times: string[] = [];
  for (let at = schedule.next(Date.parse(from)); at < Date.parse(until); at = schedule.next(at))
    times.push(new Date(at).toISOString().slice(0, 16));
  return times;
}

test("a local time that the clocks skip counts once, when they have skipped it", () => {
  const oslo = (cron: string) => timesOf(cron, "Europe/Oslo", "2027-03-27T12:00Z", "2027-03-29T12:00Z");
  assert.deepEqual(oslo("30 2 * * *"), ["2027-03-28T01:00", "2027-03-29T00:30"]);
  assert.deepEqual(oslo("*/15 2 * * 0"), ["2027-03-28T01:00"]);
  assert.deepEqual(oslo("0,30 1-3 * * 0"), [
    "2027-03-28T00:00",
    "2027-03-28T00:30",
    "2027-03-28T01:00",
    "2027-03-28T01:30",
  ]);
  const newYork = timesOf("15 2 * * *", "America/New_York", "2027-03-13T12:00Z", "2027-03-15T12:00Z");
  assert.deepEqual(newYork, ["2027-03-14T07:00", "2027-03-15T06:15"]);
});

test("a local time that the clocks show twice counts once", () => {
  const oslo = (cron: string) => timesOf(cron, "Europe/Oslo", "2027-10-30T12:00Z", "2027-11-01T12:00Z");
  assert.deepEqual(oslo("30 2 * * *"), ["2027-10-31T00:30", "2027-11-01T01:30"]);
  assert.deepEqual(oslo("*/30 2,3 * * 0"), [
    "2027-10-31T00:00",
    "2027-10-31T00:30",
    "2027-10-31T02:00",
    "2027-10-31T02:30",
  ]);
  const newYork = timesOf("30 1 * * *", "America/New_York", "2027-11-07T05:45Z", "2027-11-09T00:00Z");
  assert.deepEqual(newYork, ["2027-11-08T06:30"], "also if the search begins between the two");
});

test("a job of every hour does not pause while the clocks show an hour again", () => {
  const oslo = timesOf("*/30 * * * *", "Europe/Oslo", "2027-10-30T23:45Z", "2027-10-31T02:15Z");
  const expected = ["00:00", "00:30", "01:00", "01:30", "02:00"].map((time) => `2027-10-31T${time}`);
  assert.deepEqual(oslo, expected);
});

const patterns = ["*/10 * * * *", "*/7 1-3 * * *", "30 2 * * *", "0 0 1,15 * 1"];

for (const name of ["Europe/Oslo", "America/New_York", "Australia/Lord_Howe"])
  test(`in ${name}, jobs are due when a clock on the wall shows their times: around the changes of a year`, () => {
    const zone = timeZone(name) as TimeZone;
    const changes = zone.changes.map((at) => at * 1_000).filter((at) => at > year.start && at < year.end);
    assert.equal(changes.length, 2);
    for (const change of changes)
      for (const cron of patterns)
        compare(cron, zone, { start: change - 2 * dayMs, end: change + 2 * dayMs });
  });

for (const name of ["Europe/Oslo", "America/New_York"])
  test(`in ${name}, a job of each night is due when a clock on the wall shows its time: over a year`, () => {
    compare("30 2 * * *", timeZone(name) as TimeZone, year);
  });

interface Span {
  start: number;
  end: number;
}

function compare(cron: string, zone: TimeZone, { start, end }: Span): void {
  const schedule = new Schedule(cron, zone.name);
  const found: number[] = [];
  for (let at = schedule.next(start - 1); at < end; at = schedule.next(at)) {
    assert.equal(schedule.latest(at), at);
    assert.equal(schedule.latest(at - 1), found.at(-1) ?? schedule.latest(start - 1));
    found.push(at);
  }
  assert.deepEqual(found, wallTimes(cron, zone, { start, end }));
}

/** The same times by another way: looks at a clock in each minute. */
function wallTimes(cron: string, zone: TimeZone, { start, end }: Span): number[] {
  const [minutes = "", hours = "", days = "", , weekdays = ""] = cron.split(" ");
  const matches = (local: number) => {
    const date = new Date(local);
    const isDay = hasValue(days, date.getUTCDate());
    const isWeekday = hasValue(weekdays, date.getUTCDay());
    const isEither = days !== "*" && weekdays !== "*" ? isDay || isWeekday : isDay && isWeekday;
    return isEither && hasValue(hours, date.getUTCHours()) && hasValue(minutes, date.getUTCMinutes());
  };
  const times: number[] = [];
  let shown = localTime(zone, start) - minuteMs;
  for (let at = start; at < end; at += minuteMs) {
    const local = localTime(zone, at);
    let counts = local <= shown && hours === "*" && matches(local);
    // The minutes that were skipped until now, and this one.
    for (let each = shown + minuteMs; each <= local; each += minuteMs) counts ||= matches(each);
    if (counts) times.push(at);
    shown = Math.max(shown, local);
  }
  return times;
}

function hasValue(field: string, value: number): boolean {
  return field.split(",").some((part) => {
    const [range = "", step = "1"] = part.split("/");
    const [from = 0, to = from] = range === "*" ? [0, 59] : range.split("-").map(Number);
    return value >= from && value <= to && (value - from) % Number(step) === 0;
  });
}

test("the test itself knows the times that occur twice", () => {
  const zone = timeZone("Europe/Oslo") as TimeZone;
  assert.equal(instantsOf(zone, Date.UTC(2027, 9, 31, 2, 30)).length, 2);
  assert.equal(instantsOf(zone, Date.UTC(2027, 2, 28, 2, 30)).length, 0);
});

test("times are counted up to a limit", () => {
  const schedule = new Schedule("*/10 * * * *", "UTC");
  const from = Date.UTC(2027, 0, 1);
  assert.equal(schedule.count(from, from, 100), 1);
  assert.equal(schedule.count(from, from + 60 * minuteMs, 100), 7);
  assert.equal(schedule.count(from, from + 1_000_000 * minuteMs, 100), 100);
});

test("a pattern that is wrong, or never comes, is refused with the reason", () => {
  for (const cron of ["0 7 * * 1", "*/5 0-6 1,15 jan-mar mon", "0 0 29 2 *", "0 0 L * *", "0 0 31 2 1"])
    requirePattern(cron);
  const refused: [cron: string, reason: RegExp][] = [
    ["0 0 31 2 *", /never comes/],
    ["0 0 31 4,6 *", /never comes/],
    ["* * * * * *", /five fields/],
    ["@daily", /five fields/],
    ["", /five fields/],
    ["60 * * * *", /^Invalid value for minute: 60\.$/],
    ["0 0 * * 8", /dayOfWeek: 8/],
    ["5/10 * * * *", /stepping/],
    ["a b c d e", /./],
  ];
  for (const [cron, reason] of refused) assert.throws(() => requirePattern(cron), { message: reason }, cron);
});
