/**
 * Works on the tasks of a store: one step of one task after the other, and each time rests as long as the step kept the writer
 * busy. So tasks take at most half of the writer's time, and others wait for at most one slice. `http/many/tasks/` does the steps.
 */
import { setTimeout as delay } from "node:timers/promises";
import { Problem } from "../errors.ts";
import { isOvertaken, type Versioned } from "../records.ts";
import type { Store } from "../store/port/store.ts";
import { StoreClock } from "../store-clock.ts";
import { ended, isAtWork, type Task } from "./task.ts";
import type { TaskRecords } from "./task-records.ts";

/** The errors of the service that a later attempt would meet again. */
const lastingCodes: ReadonlySet<string> = new Set(["INTERNAL", "DATA_DAMAGED", "CODE_FAILED"]);

/** Does the next step of a task. Returns how long it kept the writer busy, in milliseconds. */
export type TaskStep = (task: Versioned<Task>, lease: Lease) => Promise<number>;

/** What each write of a task stores: no other instance works on the task until then. */
export type Lease = Pick<Task, "holder" | "until">;

/** What tasks depend on. */
export interface TaskParts {
  records: TaskRecords;
  /** The store that the instances share. Its clock decides how long a task is leased. */
  store: Pick<Store, "time">;
  /** Unix time in milliseconds. */
  now: () => number;
  newUuid: () => string;
  isReady: () => boolean;
  /** Whether several instances can have the store open. */
  isShared: boolean;
  step: TaskStep;
  warn: (message: string) => void;
  /** How long the loop waits for a step before it looks again, in milliseconds. @default 60000 */
  patienceMs?: number;
}

/** How long no other instance works on a task after a step of this one, in milliseconds. */
const leaseMs = 20_000;

/** How often the service looks for tasks that other threads and instances began or left, in milliseconds. */
const lookMs = 1_000;

/** How often it looks if the store has never had a task, in milliseconds. */
const rareMs = 5_000;

/** How often it removes old tasks, in milliseconds. */
const sweepMs = 3_600_000;

/** The tasks of one service. */
export class Tasks {
  readonly #parts: TaskParts;
  readonly #holder: string;
  readonly #storeClock: StoreClock;
  readonly #stopping = new AbortController();
  #wake = new AbortController();
  #loop: Promise<void> | undefined;
  #sweptAt: number | undefined;

  constructor(parts: TaskParts) {
    this.#parts = parts;
    this.#holder = parts.newUuid();
    this.#storeClock = new StoreClock(parts.store);
  }

  get records(): TaskRecords {
    return this.#parts.records;
  }

  /** Starts to work on tasks. Only one thread of a service does. */
  start(): void {
    this.#loop ??= this.#run();
  }

  /** Looks for tasks now. */
  wake(): void {
    this.#wake.abort();
  }

  /** Ends the work after the step in progress. It goes on after the next start, or in another instance. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.wake();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { isReady, records, warn } = this.#parts;
    while (!this.#stopping.signal.aborted) {
      this.#wake = new AbortController();
      let waitMs = rareMs;
      try {
        if (isReady() && (await records.exist())) waitMs = (await this.#round()) ? 0 : lookMs;
      } catch (error) {
        if (!(error instanceof Problem)) warn(`tasks: ${(error as Error).stack}`);
        waitMs = lookMs;
      }
      if (waitMs > 0 && !this.#stopping.signal.aborted)
        await delay(waitMs, undefined, { signal: this.#wake.signal }).catch(() => {});
    }
    await this.#release().catch(() => {}); // the leases expire by themselves
  }

  /** Does one step of each task. Returns whether there was something to do. */
  async #round(): Promise<boolean> {
    const { records, now, isShared } = this.#parts;
    const active = await records.active();
    if (active.length > 0 && isShared) await this.#storeClock.measure();
    const storeTime = () => now() + this.#storeClock.offsetMs;
    const time = storeTime();
    const own = active.filter(
      ({ value: { holder, until } }) =>
        !isShared || holder === null || holder === this.#holder || until <= time,
    );
    for (const task of own) {
      if (this.#stopping.signal.aborted) return false;
      const busyMs = await this.#step(task, storeTime());
      await delay(busyMs, undefined, { signal: this.#stopping.signal }).catch(() => {});
    }
    if (own.length === 0 && now() - (this.#sweptAt ?? 0) > sweepMs) {
      this.#sweptAt = now();
      await records.sweep(now());
    }
    return own.length > 0;
  }

  /** `time`: that of the store, for the lease. Each commit of the step also needs the version of the task that it began with. */
  async #step(task: Versioned<Task>, time: number): Promise<number> {
    const { step, records, now, warn } = this.#parts;
    try {
      if (isAtWork(task.value))
        return await this.#inTime(task.value.id, step(task, { holder: this.#holder, until: time + leaseMs }));
      await records.clean(task, now());
      return 1;
    } catch (error) {
      if (isOvertaken(error)) return 1; // it was cancelled, or another instance works on it
      if (error instanceof Problem && error.status >= 500 && !lastingCodes.has(error.code)) return lookMs; // the same step can succeed later
      const reason = error instanceof Problem ? error.message : "The service failed. Its log has the cause.";
      const cause = error instanceof Problem ? error.cause : (error as Error).stack;
      if (cause !== undefined) warn(`the task ${task.value.id} failed: ${String(cause)}`);
      await records.commit([records.moved(task, ended(task.value, "failed", now(), reason))], now());
      return 1;
    }
  }

  /**
   * The outcome of a step, unless it takes too long: then the loop goes on without it. If its commit is still done after that, the
   * version of the record lets only it or the next step change something.
   */
  async #inTime(id: string, step: Promise<number>): Promise<number> {
    const { patienceMs = 60_000, warn } = this.#parts;
    const over = new AbortController();
    const late = delay(patienceMs, undefined, { signal: over.signal }).then(() => {
      step.catch(() => {}); // nobody waits for it any more
      warn(`the task ${id}: a step has not ended after ${patienceMs / 1_000} s. The service tries it again.`);
      return lookMs;
    });
    try {
      return await Promise.race([step, late]);
    } finally {
      late.catch(() => {});
      over.abort();
    }
  }

  /** Lets other instances go on at once. */
  async #release(): Promise<void> {
    const { records, now, isShared } = this.#parts;
    if (!isShared) return;
    for (const task of await records.active())
      if (task.value.holder === this.#holder)
        await records.commit([records.moved(task, { holder: null, until: 0 })], now());
  }
}
