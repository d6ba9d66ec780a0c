/** The types of jobs in a configuration. */

import type { Acting } from "../calls/acting.ts";
import type { InsideClient } from "../routes/route.ts";

/** One run of a job. */
export interface JobCall {
  /** The time at which it begins. */
  readonly now: Date;
  /** The time for which it runs: the latest one of its `cron` that has passed, or when an administrator asked for it. */
  readonly due: Date;
  /** How many times of its `cron` this run makes up for, because the job did not run then. */
  readonly missed: number;
  /** From 1. It is higher if this run was interrupted or failed before. */
  readonly attempt: number;
  /** Aborted when the run takes too long, and when the service stops. */
  readonly signal: AbortSignal;
}

/** What the run of a job with `as` also gets. Both are the same client. */
export interface JobClients<C extends { readonly collections?: object } = Record<never, never>> {
  readonly client: InsideClient<C>;
  /** As in a route. */
  readonly service: InsideClient<C>;
}

/** When code runs, and what becomes of its runs. */
interface JobTimes {
  /**
   * When it runs: minute, hour, day of the month, month and day of the week, such as `0 7 * * 1` for every Monday at 7:00. A local time that
   * the clocks skip counts when they have skipped it, and one that they show twice counts once.
   */
  readonly cron: string;
  /** The time zone of `cron`, such as `Europe/Oslo`. @default "UTC" */
  readonly timezone?: string;
  /** How long a run can take, in milliseconds, up to an hour. @default 300000 */
  readonly timeoutMs?: number;
  /** How often a run that failed is tried again, up to 5 times, after longer and longer waits. @default 0: the next time of `cron` counts */
  readonly retries?: number;
  /** Whether the times that were missed, such as while the service was down, become one run. @default true */
  readonly catchUp?: boolean;
  /** Whether a run that was interrupted, such as by a crash, runs once more. @default "again" */
  readonly onCrash?: "again" | "skip";
}

/** Code that runs at certain times, once in all instances of the service. Only with `as`, it has a client. */
export type Job<C extends { readonly collections?: object } = Record<never, never>> = JobTimes &
  (
    | {
        /** The caller of its requests: one with some roles, or the service, which can do everything. */
        readonly as: Acting;
        /** Does the work. */
        readonly run: (call: JobCall & JobClients<C>) => unknown;
      }
    | { readonly as?: undefined; readonly run: (call: JobCall) => unknown }
  );

/** Returns a job as it is, and lets an editor know its type. */
export function job(definition: Job): Job {
  return definition;
}
