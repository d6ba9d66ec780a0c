/** What a store does beside everything else, again and again, with pauses for others. */
import { setTimeout as pass } from "node:timers/promises";

/** How a piece of work is repeated. All times are in milliseconds. */
export interface Rhythm {
  /** Between two pieces while there is more to do. */
  pauseMs: number;
  /** From the end of the work until it is looked again whether there is something to do; `Infinity`: only when it is woken. */
  everyMs: number;
  /** What has just been opened first does what it was opened for. @default 0 */
  beginMs?: number;
}

/** After a failure, in milliseconds, unless it is looked again sooner. */
const retryMs = 5_000;

/** The longest time that a timer takes. */
const maxMs = 2 ** 31 - 1;

/** Work in the background. It never keeps the program running. */
export class Background {
  readonly #stopped = new AbortController();
  readonly #work: Promise<void>[] = [];

  /**
   * Begins to repeat a piece of work, which says whether there is more. If it fails, it is tried again later. Gives a function
   * that has it looked at again at once.
   */
  repeat(some: () => Promise<boolean>, rhythm: Rhythm): () => void {
    const call = { woken: Promise.withResolvers<void>() };
    this.#work.push(this.#loop(some, rhythm, call));
    return () => call.woken.resolve();
  }

  /** Stops. Another time it goes on from there. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#work);
  }

  async #loop(
    some: () => Promise<boolean>,
    { pauseMs, everyMs, beginMs = 0 }: Rhythm,
    call: { woken: PromiseWithResolvers<void> },
  ): Promise<void> {
    const { signal } = this.#stopped;
    if (beginMs > 0) await this.#pass(Math.min(everyMs, beginMs));
    while (!signal.aborted) {
      call.woken = Promise.withResolvers(); // before the work, which may not see what it is woken for
      const failed = Math.min(everyMs, retryMs);
      const ms = await some().then(
        (isMore) => (isMore ? pauseMs : everyMs * (0.9 + 0.2 * Math.random())),
        () => failed,
      );
      await this.#pass(ms, call.woken.promise);
    }
  }

  /** Waits for so long, but no longer than until it is woken or stopped. */
  async #pass(ms: number, woken?: Promise<void>): Promise<void> {
    const waited = new AbortController();
    const signal = AbortSignal.any([this.#stopped.signal, waited.signal]);
    const timer = pass(Math.min(ms, maxMs), undefined, { signal, ref: false }).catch(() => {}); // stopped, or woken
    await (woken === undefined ? timer : Promise.race([woken, timer]));
    waited.abort();
  }
}
