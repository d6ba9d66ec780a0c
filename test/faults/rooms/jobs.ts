/** Faults of the jobs of a configuration. */
import type { Fault } from "../faults.ts";

const times = "test/capabilities/code/job-times";
const runs = "test/capabilities/code/job-run";
const jobs = "test/capabilities/code/jobs";

export const jobFaults: readonly Fault[] = [
  {
    name: "job-second-time",
    what: "A job waits until the clocks show its time a second time.",
    noticedBy: times,
    test: "a local time that the clocks show twice counts once",
    replacements: [
      [
        "if (instants.length > 0) return Math.min(...instants);",
        "if (instants.length > 0) return Math.max(...instants);",
      ],
    ],
  },
  {
    name: "job-paused-hour",
    what: "A job of every hour pauses while the clocks show an hour again.",
    noticedBy: times,
    test: "a job of every hour does not pause while the clocks show an hour again",
    replacements: [
      [
        "this.#isOfEveryHour ? this.#changeBefore(at) : undefined",
        "this.#isOfEveryHour && at < 0 ? this.#changeBefore(at) : undefined",
      ],
    ],
  },
  {
    name: "job-caught-up-anyway",
    what: "A job makes up for missed times although it should not.",
    noticedBy: runs,
    test: "a job that was due at 7:00, at 07:01:01, if it does not make up for missed times",
    replacements: [
      ["return isMissed ? next : { ...next, run: newRun(due) };", "return { ...next, run: newRun(due) };"],
    ],
  },
  {
    name: "job-clock-back",
    what: "If the clock goes back a little, the times of a job run again.",
    noticedBy: runs,
    test: "a clock that goes back repeats no time, unless it was wrong by more than a day",
    replacements: [["const wrongClockMs = 86_400_000;", "const wrongClockMs = 60_000;"]],
  },
  {
    name: "job-interrupted-for-ever",
    what: "A run that is interrupted each time begins again and again.",
    noticedBy: runs,
    test: "a second interruption, or one that the job refuses, ends the run",
    replacements: [['return onCrash === "again" && run.interruptions === 0', 'return onCrash === "again"']],
  },
  {
    name: "job-interruption-unnoticed",
    what: "A run that the stop of the service has interrupted counts as failed.",
    noticedBy: jobs,
    test: "a run that was interrupted runs once more, and a job can refuse that",
    replacements: [
      [
        'if (signal.aborted) return { end, result: "interrupted",',
        'if (signal.aborted) return { end, result: "failed",',
      ],
    ],
  },
  {
    name: "job-old-pattern",
    what: "A job whose pattern has changed still follows the old one.",
    noticedBy: jobs,
    test: "a job with another pattern follows the new one, and a job that is removed does not run",
    replacements: [
      [
        "return record.cron === cron && record.timezone === timezone;",
        'return record.cron !== "" || cron === timezone;',
      ],
    ],
  },
  {
    name: "job-run-twice-at-once",
    what: "An administrator can make a job run that runs already.",
    noticedBy: "test/capabilities/code/job-endpoints",
    test: "an administrator makes a job run now, once at a time",
    replacements: [
      [
        "if (run !== null && (run.holder !== null || run.from <= now))",
        "if (run !== null && run.holder === null && run.from <= now)",
      ],
    ],
  },
];
