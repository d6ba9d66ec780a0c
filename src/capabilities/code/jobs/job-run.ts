/** What becomes of a job: when a run begins, and what follows an attempt. Everything here is calculated from its record. */
import type { JobAttempt, JobRecord, JobRun } from "./job-records.ts";
import type { JobSettings } from "./job-settings.ts";
import type { Schedule } from "./schedule.ts";

/** A time was missed if its run has not begun after this time, in milliseconds: longer than another instance needs to take over. */
const missedAfterMs = 60_000;

/** The most missed times that are counted. */
const mostMissed = 1_000;

/** The waits before a failed run is tried again, in milliseconds. */
const retryWaits: readonly number[] = [5_000, 30_000, 120_000, 600_000, 1_800_000];

/** If the clock goes back by more than this time, in milliseconds, it was wrong before, and times count again. */
const wrongClockMs = 86_400_000;

/** The record of a job that is new, or whose pattern has changed. A run in progress goes on. */
export function plannedAnew(
  { cron, timezone }: JobSettings,
  before: JobRecord | undefined,
  due: number,
): JobRecord {
  const { run = null, last = null, succeededAt = null } = before ?? {};
  return { cron, timezone, due, run: run?.holder == null ? null : run, last, succeededAt };
}

/** Whether the next time follows from a clock that was wrong. */
export function isFromWrongClock({ due }: JobRecord, schedule: Schedule, now: number): boolean {
  if (due - now <= wrongClockMs) return false;
  const reached = schedule.latest(due - 1); // the clock has shown this time already, or the record was made after it
  return reached !== undefined && reached - now > wrongClockMs;
}

/** A run for one time, which can begin then. */
export function newRun(due: number, missed = 0): JobRun {
  return { due, missed, attempt: 1, interruptions: 0, from: due, holder: null, start: null };
}

/**
 * The record with the run for the times that have passed; without a run if all of them were missed and the job does not make up for them. Only
 * for a record whose next time has passed.
 */
export function withDueRun(
  { catchUp }: JobSettings,
  record: JobRecord,
  { schedule, now }: { schedule: Schedule; now: number },
): JobRecord {
  const due = Math.max(record.due, schedule.latest(now) ?? 0);
  const next = { ...record, due: schedule.next(now) };
  const isMissed = now - due > missedAfterMs;
  if (!catchUp) return isMissed ? next : { ...next, run: newRun(due) };
  const count = schedule.count(record.due, due, mostMissed);
  return { ...next, run: newRun(due, isMissed ? count : count - 1) };
}

/** The record while a holder is at work on its run. */
export function begun(record: JobRecord, run: JobRun, { holder, now }: { holder: string; now: number }) {
  return { ...record, run: { ...run, holder, start: now } };
}

/** What an attempt has come to. */
export type AttemptEnd = Pick<JobAttempt, "end" | "result" | "message">;

/** The record after an attempt of its run. */
export function ended(job: JobSettings, record: JobRecord, run: JobRun, end: AttemptEnd): JobRecord {
  const { due, missed, attempt } = run;
  return {
    ...record,
    run: nextAttempt(job, run, end),
    last: { due, missed, attempt, start: run.start ?? end.end, ...end },
    succeededAt: end.result === "succeeded" ? end.end : record.succeededAt,
  };
}

/** The run as it waits for its next attempt; `null` if none follows. */
function nextAttempt(
  { retries, onCrash }: JobSettings,
  run: JobRun,
  { result, end }: AttemptEnd,
): JobRun | null {
  const again = { ...run, attempt: run.attempt + 1, holder: null, start: null };
  if (result === "interrupted")
    return onCrash === "again" && run.interruptions === 0 ? { ...again, interruptions: 1, from: end } : null;
  const failures = run.attempt - run.interruptions;
  if (result === "failed" && failures <= retries)
    return { ...again, from: end + (retryWaits[failures - 1] as number) };
  return null;
}
