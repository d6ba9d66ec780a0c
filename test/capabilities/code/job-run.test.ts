/** What becomes of a job, from its record alone. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JobRecord, JobRun } from "../../../src/capabilities/code/jobs/job-records.ts";
import {
  begun,
  ended,
  isFromWrongClock,
  newRun,
  plannedAnew,
  withDueRun,
} from "../../../src/capabilities/code/jobs/job-run.ts";
import type { JobSettings } from "../../../src/capabilities/code/jobs/job-settings.ts";
import { Schedule } from "../../../src/capabilities/code/jobs/schedule.ts";
import { job as define } from "../../../src/index.ts";

const job: JobSettings = {
  name: "digest",
  cron: "0 * * * *",
  timezone: "UTC",
  as: undefined,
  timeoutMs: 1_000,
  retries: 0,
  catchUp: true,
  onCrash: "again",
};
const schedule = new Schedule(job.cron, job.timezone);
const at = (time: string) => Date.parse(`2027-05-03T${time}Z`);
const planned = (due: string): JobRecord => plannedAnew(job, undefined, at(due));

const dueRuns: readonly [now: string, catchUp: boolean, due: string | undefined, missed: number][] = [
  ["07:00", true, "07:00", 0],
  ["07:01", true, "07:00", 0],
  ["07:01:01", true, "07:00", 1],
  ["09:00:30", true, "09:00", 2],
  ["09:30", true, "09:00", 3],
  ["07:01", false, "07:00", 0],
  ["09:00:30", false, "09:00", 0],
  ["07:01:01", false, undefined, 0],
];

for (const [now, catchUp, due, missed] of dueRuns)
  test(`a job that was due at 7:00, at ${now}${catchUp ? "" : ", if it does not make up for missed times"}`, () => {
    const next = withDueRun({ ...job, catchUp }, planned("07:00"), { schedule, now: at(now) });
    assert.deepEqual(next.run, due === undefined ? null : newRun(at(due), missed));
    assert.equal(next.due, schedule.next(at(now)));
  });

test("at most 1,000 missed times are counted", () => {
  const next = withDueRun(job, planned("07:00"), { schedule, now: Date.parse("2037-01-01T00:30Z") });
  assert.equal(next.run?.missed, 1_000);
  assert.equal(next.run?.due, Date.parse("2037-01-01T00:00Z"));
});

test("a clock that goes back repeats no time, unless it was wrong by more than a day", () => {
  const record = withDueRun(job, planned("07:00"), { schedule, now: at("07:00") });
  assert.equal(isFromWrongClock(record, schedule, at("07:30")), false);
  assert.equal(isFromWrongClock(record, schedule, Date.parse("2027-05-02T08:00Z")), false);
  assert.equal(isFromWrongClock(record, schedule, Date.parse("2027-05-02T06:59Z")), true);
  assert.equal(isFromWrongClock(record, schedule, Date.parse("1999-01-01T00:00Z")), true);
});

test("a job that is due rarely is not from a wrong clock", () => {
  const yearly = new Schedule("0 0 1 1 *", "UTC");
  const now = at("07:00");
  const record = plannedAnew({ ...job, cron: "0 0 1 1 *" }, undefined, yearly.next(now));
  assert.equal(isFromWrongClock(record, yearly, now), false);
});

test("failures are tried again after longer and longer waits, and interruptions once", () => {
  const settings = { ...job, retries: 2 };
  const end = (result: "failed" | "interrupted") => ({ end: at("07:10"), result, message: "no luck" });
  let record: JobRecord = { ...planned("08:00"), run: newRun(at("07:00")) };
  const attempt = (result: "failed" | "interrupted") => {
    const { run } = begun(record, record.run as JobRun, { holder: "a", now: at("07:09") });
    record = ended(settings, { ...record, run }, run, end(result));
    return record.run && [record.run.attempt, (record.run.from - at("07:10")) / 1_000];
  };
  assert.deepEqual(attempt("failed"), [2, 5]);
  assert.deepEqual(attempt("interrupted"), [3, 0]);
  assert.deepEqual(attempt("failed"), [4, 30]);
  assert.equal(attempt("failed"), null);
  assert.equal(record.last?.attempt, 4);
  assert.equal(record.due, at("08:00"));
});

test("a second interruption, or one that the job refuses, ends the run", () => {
  const run = { ...newRun(at("07:00")), attempt: 2, interruptions: 1, holder: "a", start: at("07:00") };
  const end = { end: at("07:10"), result: "interrupted", message: "" } as const;
  const record = { ...planned("08:00"), run };
  assert.equal(ended({ ...job, retries: 5 }, record, run, end).run, null);
  const first = { ...run, attempt: 1, interruptions: 0 };
  assert.equal(ended({ ...job, retries: 5, onCrash: "skip" }, record, first, end).run, null);
});

test("only the run of a job with as has a client, for the compiler too", () => {
  const as = { roles: ["editor"] } as const;
  define({
    cron: job.cron,
    as,
    run: ({ client, service, due }) => [client.articles, service, due.getTime()],
  });
  define({
    cron: job.cron,
    as: "service",
    run: async ({ client }) => void (await client.articles?.list().all()),
  });
  // @ts-expect-error without `as`, there is no client
  define({ cron: job.cron, run: ({ client }) => client });
  // @ts-expect-error no such option
  define({ cron: job.cron, every: 5, run: () => {} });
  // @ts-expect-error a job has code
  define({ cron: job.cron });
});
