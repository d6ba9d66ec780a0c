/** Repeats work of a store in the background, with pauses for requests. It does not know what the work is. */
import { setTimeout as pass } from "node:timers/promises";

/** When a piece of work is repeated. All times are in milliseconds. */
export interface Schedule {
  /** The pause after a piece of work, if there is more to do. */
  pauseMs: number;
  /** The average pause if there is no more to do; `Infinity`: until the work is woken. */
  everyMs: number;
  /** The pause before the first piece, so that a store that was just opened serves requests first. @default 0 */
  initialDelayMs?: number;
}

/** The maximum pause after a failure, in milliseconds. */
const retryMs = 5_000;

/** The longest time that a timer accepts, in milliseconds. */
const maxMs = 2 ** 31 - 1;

/** Work in the background. It never keeps the program running. */
export class Scheduler {
  readonly #stopped = new AbortController();
  readonly #work: Promise<void>[] = [];

  /**
   * Repeats a piece of work, which returns whether there is more to do. After a failure, it runs again later. Returns a
   * function that wakes the work, which then runs without the rest of its pause.
   */
  repeat(some: () => Promise<boolean>, schedule: Schedule): () => void {
    const call = { woken: Promise.withResolvers<void>() };
    this.#work.push(this.#loop(some, schedule, call));
    return () => call.woken.resolve();
  }

  /** Stops after the current pieces of work. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#work);
  }

  async #loop(
    some: () => Promise<boolean>,
    { pauseMs, everyMs, initialDelayMs = 0 }: Schedule,
    call: { woken: PromiseWithResolvers<void> },
  ): Promise<void> {
    const { signal } = this.#stopped;
    if (initialDelayMs > 0) await this.#pass(Math.min(everyMs, initialDelayMs));
    while (!signal.aborted) {
      call.woken = Promise.withResolvers(); // before the work: it can miss the reason of a call that comes while it runs
      const failed = Math.min(everyMs, retryMs);
      const ms = await some().then(
        (isMore) => (isMore ? pauseMs : everyMs * (0.9 + 0.2 * Math.random())),
        () => failed,
      );
      await this.#pass(ms, call.woken.promise);
    }
  }

  /** Waits, but ends early if the work is woken or stopped. */
  async #pass(ms: number, woken?: Promise<void>): Promise<void> {
    const waited = new AbortController();
    const signal = AbortSignal.any([this.#stopped.signal, waited.signal]);
    const timer = pass(Math.min(ms, maxMs), undefined, { signal, ref: false }).catch(() => {}); // stopped, or woken
    await (woken === undefined ? timer : Promise.race([woken, timer]));
    waited.abort();
  }
}
