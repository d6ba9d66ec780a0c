/** The jobs of an open service: their loop, and what administrators and monitors see of them. */
import { Problem } from "../../../errors.ts";
import { isOvertaken } from "../../../records.ts";
import { JobLoop, type JobLoopParts, type Stepped } from "./job-loop.ts";
import { isOf, type JobAttempt, type JobRecord, type JobRun, putJob } from "./job-records.ts";
import { type AttemptEnd, newRun, plannedAnew } from "./job-run.ts";
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
  #hasStopped = false;

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
    this.#hasStopped = true;
    return this.#loop.stop();
  }

  /** The names, in the order of the configuration. */
  get names(): readonly string[] {
    return [...this.#parts.jobs.keys()];
  }

  has(name: string): boolean {
    return this.#parts.jobs.has(name);
  }

  /** Notes when each job is due next, if the store does not know it, although the jobs are not started. */
  async plan(): Promise<void> {
    for (const job of this.#parts.jobs.values()) await this.#step(job);
  }

  /**
   * Runs what is due now, in jobs that were not started: one after the other, in the order of the configuration. Returns the attempts that have
   * failed, each as a sentence. Throws an Error if the service stops meanwhile.
   */
  async runDue(): Promise<readonly string[]> {
    const failures: string[] = [];
    for (const job of this.#parts.jobs.values())
      for (;;) {
        const { nextAt, end } = await this.#step(job);
        if (end !== undefined) failures.push(...failuresIn(job, end));
        else if (nextAt > this.#loop.now()) break;
      }
    return failures;
  }

  /**
   * Runs a job of the configuration now, as if it were due at a time, although it was not started. Its next time does not change. Returns the
   * attempt if it has failed, as a sentence. Throws an Error if the service stops meanwhile.
   */
  async runAt(name: string, due: number | undefined): Promise<readonly string[]> {
    this.#requireRunning();
    const job = this.#parts.jobs.get(name) as JobSettings;
    await this.#ask(job, (_, now) => ({ ...newRun(due ?? now), from: now }));
    const { end } = await this.#step(job);
    return end === undefined ? [] : failuresIn(job, end);
  }

  async #step(job: JobSettings): Promise<Stepped> {
    this.#requireRunning();
    const stepped = await this.#loop.step(job);
    this.#requireRunning();
    return stepped;
  }

  #requireRunning(): void {
    if (this.#hasStopped) throw new Error("The service has stopped.");
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
    const { jobs, readOnly } = this.#parts;
    const job = jobs.get(name);
    if (job === undefined) return undefined;
    if (readOnly) throw new Problem("UNAVAILABLE", "The service is read-only now. It runs no jobs.");
    await this.#loop.measure();
    const next = await this.#ask(job, (run, now) => (run === null ? newRun(now) : { ...run, from: now }));
    (this.#parts.wakeLoop ?? (() => this.wake()))();
    return this.#shown(job, next);
  }

  /** Stores a run that begins now. `asked` gets the run that waits. Returns the record. */
  async #ask(job: JobSettings, asked: (waiting: JobRun | null, now: number) => JobRun): Promise<JobRecord> {
    const { records, clock } = this.#parts;
    for (;;) {
      const before = await records.job(job.name);
      const now = this.#loop.now();
      const planned = this.#planned(job, before?.value, now);
      const next = { ...planned, run: asked(planned.run, now) };
      try {
        await records.commit([putJob(job.name, before, next)], clock.now());
        return next;
      } catch (error) {
        if (!isOvertaken(error)) throw error;
      }
    }
  }

  /** When each job last succeeded, in seconds. Without the jobs that never did. */
  async successes(): Promise<ReadonlyMap<string, number>> {
    const { jobs, records } = this.#parts;
    const all = await records.all();
    const times = [...jobs.keys()].map((name) => [name, all.get(name)?.value.succeededAt] as const);
    return new Map(times.flatMap(([name, at]) => (at == null ? [] : [[name, at / 1_000] as const])));
  }

  /** The record of a job that can run now. Throws JOB_RUNNING. */
  #planned(job: JobSettings, record: JobRecord | undefined, now: number): JobRecord {
    const planned =
      record !== undefined && isOf(job, record)
        ? record
        : plannedAnew(job, record, this.#loop.scheduleOf(job).next(now));
    const { run } = planned;
    if (run !== null && (run.holder !== null || run.from <= now))
      throw new Problem("JOB_RUNNING", `The job ${job.name} runs already. Wait until it has ended.`);
    return planned;
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

/** What has failed, as a sentence; nothing if the attempt has succeeded. */
function failuresIn({ name }: JobSettings, { result, message }: AttemptEnd): readonly string[] {
  return result === "succeeded" ? [] : [`The job ${name} ${result}: ${message}`];
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
