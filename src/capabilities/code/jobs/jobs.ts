/** The jobs of an open service: their loop, and what administrators and monitors see of them. */
import { Problem } from "../../../errors.ts";
import { isOvertaken } from "../../../records.ts";
import { JobLoop, type JobLoopParts } from "./job-loop.ts";
import { isOf, type JobAttempt, type JobRecord, putJob } from "./job-records.ts";
import { newRun, plannedAnew } from "./job-run.ts";
import type { JobSettings } from "./job-settings.ts";

/** What jobs depend on. */
export interface JobParts extends JobLoopParts {
  /** Whether this service runs no jobs, because it refuses all writes. */
  readOnly: boolean;
  /** Wakes the loop of the service, in whichever thread it runs. */
  wakeLoop?: (() => void) | undefined;
}

/** A job as administrators see it. Times are texts. */
export interface ShownJob extends Pick<JobSettings, "name" | "cron" | "timezone"> {
  /** When the next attempt begins; `null` in a service that runs no jobs. */
  next: string | null;
  running: ShownAttempt | null;
  last: (ShownAttempt & Pick<JobAttempt, "result" | "message"> & { end: string }) | null;
  lastSuccess: string | null;
}

/** An attempt as administrators see it. */
interface ShownAttempt extends Pick<JobAttempt, "missed" | "attempt"> {
  due: string;
  start: string;
}

/** The jobs of one service. */
export class ServiceJobs {
  readonly #parts: JobParts;
  readonly #loop: JobLoop;

  constructor(parts: JobParts) {
    this.#parts = parts;
    this.#loop = new JobLoop(parts);
  }

  /** Starts to run jobs. */
  start(): void {
    this.#loop.start();
  }

  /** Looks at the jobs now. */
  wake(): void {
    this.#loop.wake();
  }

  /** Interrupts all runs. */
  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** All jobs, in the order of the configuration. */
  async shown(): Promise<ShownJob[]> {
    const { jobs, records } = this.#parts;
    const all = await records.all();
    return [...jobs.values()].map((job) => this.#shown(job, all.get(job.name)?.value));
  }

  /** A job; `undefined` if the service has none with this name. */
  async shownJob(name: string): Promise<ShownJob | undefined> {
    const { jobs, records } = this.#parts;
    const job = jobs.get(name);
    return job && this.#shown(job, (await records.job(name))?.value);
  }

  /**
   * Makes a job run now, and returns it; `undefined` if the service has none with this name. Throws JOB_RUNNING if it runs already, and
   * UNAVAILABLE in a read-only service.
   */
  async runNow(name: string): Promise<ShownJob | undefined> {
    const { jobs, records, clock, readOnly } = this.#parts;
    const job = jobs.get(name);
    if (job === undefined) return undefined;
    if (readOnly) throw new Problem("UNAVAILABLE", "The service is read-only now. It runs no jobs.");
    await this.#loop.measure();
    for (;;) {
      const before = await records.job(name);
      const next = this.#asked(job, before?.value);
      try {
        await records.commit([putJob(name, before, next)], clock.now());
      } catch (error) {
        if (isOvertaken(error)) continue;
        throw error;
      }
      (this.#parts.wakeLoop ?? (() => this.wake()))();
      return this.#shown(job, next);
    }
  }

  /** When each job last succeeded, in seconds. Without the jobs that never did. */
  async successes(): Promise<ReadonlyMap<string, number>> {
    const { jobs, records } = this.#parts;
    const all = await records.all();
    const times = [...jobs.keys()].map((name) => [name, all.get(name)?.value.succeededAt] as const);
    return new Map(times.flatMap(([name, at]) => (at == null ? [] : [[name, at / 1_000] as const])));
  }

  /** The record with a run that begins now. */
  #asked(job: JobSettings, record: JobRecord | undefined): JobRecord {
    const now = this.#loop.now();
    const planned =
      record !== undefined && isOf(job, record)
        ? record
        : plannedAnew(job, record, this.#loop.scheduleOf(job).next(now));
    const { run } = planned;
    if (run !== null && (run.holder !== null || run.from <= now))
      throw new Problem("JOB_RUNNING", `The job ${job.name} runs already. Wait until it has ended.`);
    return { ...planned, run: run === null ? newRun(now) : { ...run, from: now } };
  }

  #shown(job: JobSettings, record: JobRecord | undefined): ShownJob {
    const { name, cron, timezone } = job;
    const { run = null, last = null, succeededAt = null } = record ?? {};
    return {
      name,
      cron,
      timezone,
      next: this.#parts.readOnly ? null : textOf(this.#nextAt(job, record)),
      running: run?.start == null ? null : shownAttempt({ ...run, start: run.start }),
      last: last && {
        ...shownAttempt(last),
        end: textOf(last.end),
        result: last.result,
        message: last.message,
      },
      lastSuccess: succeededAt === null ? null : textOf(succeededAt),
    };
  }

  #nextAt(job: JobSettings, record: JobRecord | undefined): number {
    if (record === undefined || !isOf(job, record)) return this.#loop.scheduleOf(job).next(this.#loop.now());
    const { run, due } = record;
    return run !== null && run.holder === null ? Math.min(run.from, due) : due;
  }
}

function shownAttempt({
  due,
  missed,
  attempt,
  start,
}: Pick<JobAttempt, "due" | "missed" | "attempt" | "start">): ShownAttempt {
  return { due: textOf(due), missed, attempt, start: textOf(start) };
}

function textOf(at: number): string {
  return new Date(at).toISOString();
}
