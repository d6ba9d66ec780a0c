/** Runs the jobs when they are due, in the instance that holds the lease of the store. `job-run.ts` decides what becomes of each. */
import type { Clock } from "../../../clock.ts";
import { Problem } from "../../../errors.ts";
import type { InsideFetch } from "../../../http/inside.ts";
import { Lease, leaseLost, renewMs } from "../../../lease.ts";
import { isOvertaken, type Versioned } from "../../../records.ts";
import type { ServingStore, Store } from "../../../store/port/store.ts";
import { StoreClock } from "../../../store-clock.ts";
import type { CodeOutcome, CodeRunner } from "../calls/code-runner.ts";
import { interruptMs, outcomeWithin } from "../calls/interruption.ts";
import { isOf, type JobRecord, type JobRecords, type JobRun, putJob } from "./job-records.ts";
import { type AttemptEnd, begun, ended, isFromWrongClock, plannedAnew, withDueRun } from "./job-run.ts";
import type { JobSettings, Jobs } from "./job-settings.ts";
import { Schedule } from "./schedule.ts";

/** What the loop depends on. */
export interface JobLoopParts {
  jobs: Jobs;
  records: JobRecords;
  /** The store that the instances share. Its clock decides when a job is due. */
  store: ServingStore & Pick<Store, "time">;
  clock: Clock;
  /** Whether several instances can use the store. */
  isShared: boolean;
  isReady: () => boolean;
  runner: CodeRunner;
  /** The clients of a job, by their names. */
  clientsOf: (job: JobSettings) => Readonly<Record<string, InsideFetch>>;
  newUuid: () => string;
  warn: (message: string) => void;
}

/** How often it looks whether this instance still holds the lease while a job runs, in milliseconds. */
const guardMs = 1_000;

/**
 * How long a new holder of the lease leaves the runs of others alone, in milliseconds: longer than they need to notice that they have lost it
 * (`guardMs`) and to end (`graceMs` of `CodeBounds`).
 */
const graceMs = 8_000;

/** What could not be stored is tried again after this time, in milliseconds. */
const storeAgainMs = 1_000;

/** How many requests the client of a run can send. */
const mostRequests = 10_000;

/** Why a run ends if the service does. */
const serviceStops = "The service stops.";

/** The longest message of a failure that the store keeps, in characters. */
const longestMessage = 2_000;

/** An attempt in progress in this instance. */
interface Running {
  readonly aborter: AbortController;
  readonly done: Promise<AttemptEnd>;
}

/** What a step of a job has come to. */
export interface Stepped {
  /** When there is another step: Unix time in milliseconds. */
  nextAt: number;
  /** The end of the attempt that it began; `undefined` if it began none. */
  end: AttemptEnd | undefined;
}

/** The jobs of one service. */
export class JobLoop {
  readonly #parts: JobLoopParts;
  readonly #holder: string;
  readonly #lease: Lease;
  readonly #storeClock: StoreClock;
  readonly #schedules = new Map<string, Schedule>();
  readonly #running = new Map<string, Running>();
  readonly #stopping = new AbortController();
  #wake = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(parts: JobLoopParts) {
    this.#parts = parts;
    this.#holder = parts.newUuid();
    this.#lease = new Lease(parts, "jobs");
    this.#storeClock = new StoreClock(parts.store);
  }

  /** The time by the clock of the store, in Unix milliseconds. */
  now(): number {
    return this.#parts.clock.now() + this.#storeClock.offsetMs;
  }

  /** Reads the clock of the store. Throws UNAVAILABLE. */
  async measure(): Promise<void> {
    if (this.#parts.isShared) await this.#storeClock.measure();
  }

  /** The times of a job. */
  scheduleOf({ name, cron, timezone }: JobSettings): Schedule {
    const schedule = this.#schedules.get(name) ?? new Schedule(cron, timezone);
    this.#schedules.set(name, schedule);
    return schedule;
  }

  /** Starts to run jobs. Only one thread of a service does. */
  start(): void {
    this.#loop ??= this.#run();
  }

  /** Looks at the jobs now. */
  wake(): void {
    this.#wake.abort();
  }

  /** Does the next step of a job, and waits for the attempt that it begins. Only for jobs that were not started. Throws the errors of the store. */
  async step(job: JobSettings): Promise<Stepped> {
    const nextAt = await this.#step(job, await this.#parts.records.job(job.name));
    return { nextAt, end: await this.#running.get(job.name)?.done };
  }

  /** Interrupts all runs, and lets another instance go on at once. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.wake();
    this.#interruptAll(serviceStops);
    await this.#loop;
    this.#interruptAll(serviceStops); // the last look can have begun some
    await Promise.all([...this.#running.values()].map(({ done }) => done));
    await this.#lease.release().catch(() => {}); // the lease expires by itself
  }

  async #run(): Promise<void> {
    const { clock } = this.#parts;
    const stopping = this.#stopping.signal;
    while (!stopping.aborted) {
      this.#wake = new AbortController();
      const nextAt = await this.#look();
      if (stopping.aborted) return;
      const latest = clock.now() + renewMs;
      await clock.until(Math.min(nextAt - this.#storeClock.offsetMs, latest), this.#wake.signal);
    }
  }

  /** Begins what is due. Returns when something is due next, by the clock of the store. */
  async #look(): Promise<number> {
    const later = this.now() + renewMs;
    if (!this.#parts.isReady()) return later;
    try {
      return (await this.#leads()) ? await this.#lookAtAll() : later;
    } catch (error) {
      // The store reports its own problems.
      if (!(error instanceof Problem)) this.#parts.warn(`jobs: ${(error as Error).stack}`);
      return this.now() + storeAgainMs;
    }
  }

  async #leads(): Promise<boolean> {
    const leads = await this.#lease.take();
    if (!leads) this.#interruptAll(leaseLost);
    return leads;
  }

  async #lookAtAll(): Promise<number> {
    const { jobs, records } = this.#parts;
    await this.measure();
    const all = await records.all();
    let nextAt = Number.POSITIVE_INFINITY;
    for (const job of jobs.values()) {
      if (this.#stopping.signal.aborted) break;
      nextAt = Math.min(nextAt, await this.#step(job, all.get(job.name)));
    }
    return nextAt;
  }

  /** Does the next step of a job. Returns when there is another one. */
  async #step(job: JobSettings, before: Versioned<JobRecord> | undefined): Promise<number> {
    const now = this.now();
    if (this.#running.has(job.name)) return now + renewMs; // its end wakes the loop
    const schedule = this.scheduleOf(job);
    const record = before?.value;
    if (record === undefined || !isOf(job, record) || isFromWrongClock(record, schedule, now))
      return this.#write(job, before, plannedAnew(job, record, schedule.next(now)));
    const { run, due } = record;
    // The response to the commit that began an own run was lost.
    if (run?.holder === this.#holder) return this.#begin(job, before, record);
    if (run?.holder != null) return this.#takeOver(job, before as Versioned<JobRecord>, run);
    if (run !== null && run.from <= now) return this.#begin(job, before, record);
    if (due > now) return Math.min(due, run?.from ?? due);
    const next = withDueRun(job, record, { schedule, now });
    return next.run === run ? this.#write(job, before, next) : this.#begin(job, before, next);
  }

  /** A run of another holder was interrupted, because only the holder of the lease runs jobs. */
  async #takeOver(job: JobSettings, before: Versioned<JobRecord>, run: JobRun): Promise<number> {
    const now = this.now();
    const ledMs = this.#parts.clock.now() - this.#lease.heldSince;
    if (this.#parts.isShared && ledMs < graceMs) return now + graceMs - ledMs;
    const end = { end: now, result: "interrupted", message: "The service ended during the run." } as const;
    return this.#write(job, before, ended(job, before.value, run, end));
  }

  /** Begins the run that waits in a record. */
  async #begin(
    job: JobSettings,
    before: Versioned<JobRecord> | undefined,
    waiting: JobRecord,
  ): Promise<number> {
    const next = begun(waiting, waiting.run as JobRun, { holder: this.#holder, now: this.now() });
    return this.#write(job, before, next, () => {
      const aborter = new AbortController();
      const done = this.#attempt(job, next.run, aborter).finally(() => {
        this.#running.delete(job.name);
        this.wake();
      });
      this.#running.set(job.name, { aborter, done });
    });
  }

  /** Writes a record, and then does what depends on it. Returns when to look again: now, also if another instance was faster. */
  async #write(
    { name }: JobSettings,
    before: Versioned<JobRecord> | undefined,
    next: JobRecord,
    onWritten: () => void = () => {},
  ): Promise<number> {
    const { records, clock } = this.#parts;
    try {
      await records.commit([putJob(name, before, next)], clock.now());
      onWritten();
    } catch (error) {
      if (!isOvertaken(error)) throw error;
    }
    return this.now();
  }

  /** Runs the code of a job once, and stores what became of it. Never rejects. */
  async #attempt(job: JobSettings, run: JobRun, aborter: AbortController): Promise<AttemptEnd> {
    const { runner, clientsOf, warn } = this.#parts;
    const { signal } = aborter;
    const requireLease = () => {
      if (!this.#lease.isHeld) aborter.abort(new Error(leaseLost));
    };
    requireLease(); // this instance can have stood still since it took the lease
    const guard = setInterval(requireLease, guardMs);
    const call = runner.run({
      place: `jobs.${job.name}.run`,
      input: {
        now: new Date(this.now()),
        due: new Date(run.due),
        missed: run.missed,
        attempt: run.attempt,
      },
      clients: clientsOf(job),
      requests: mostRequests,
      timeoutMs: job.timeoutMs,
      signal,
    });
    const outcome = await outcomeWithin(call, { signal: this.#stopping.signal, ms: interruptMs });
    clearInterval(guard);
    const end = this.#endOf(outcome, signal);
    if (end.message !== null)
      warn(`The job ${job.name}, attempt ${run.attempt}: ${end.result}. ${end.message}`);
    await this.#storeEnd(job, run, end);
    return end;
  }

  #endOf(outcome: CodeOutcome, signal: AbortSignal): AttemptEnd {
    const end = this.now();
    if (outcome.kind === "done") return { end, result: "succeeded", message: null };
    if (signal.aborted) return { end, result: "interrupted", message: (signal.reason as Error).message };
    // Often other code has ended the thread.
    if (outcome.reason === "exit")
      return { end, result: "interrupted", message: outcome.message.slice(0, longestMessage) };
    return { end, result: "failed", message: outcome.message.slice(0, longestMessage) };
  }

  /** Stores the end of an attempt, unless another instance has taken the run over. */
  async #storeEnd(job: JobSettings, run: JobRun, end: AttemptEnd): Promise<void> {
    const { records, clock, warn } = this.#parts;
    for (;;) {
      try {
        const before = await records.job(job.name);
        const current = before?.value.run;
        if (before === undefined || current?.holder !== run.holder || current.attempt !== run.attempt) return;
        const next = ended(job, before.value, current, end);
        await records.commit([putJob(job.name, before, next)], clock.now());
        return;
      } catch (error) {
        if (isOvertaken(error)) continue;
        if (!(error instanceof Problem)) warn(`jobs: ${(error as Error).stack}`);
        if (this.#stopping.signal.aborted) return; // the next holder of the lease finds the run interrupted
        await clock.until(clock.now() + storeAgainMs, this.#stopping.signal);
      }
    }
  }

  /** `why`: a sentence. */
  #interruptAll(why: string): void {
    for (const { aborter } of this.#running.values()) aborter.abort(new Error(why));
  }
}
