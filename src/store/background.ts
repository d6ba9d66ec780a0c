/** What a store does beside everything else, again and again, with pauses for others. */
import { setTimeout as pass } from "node:timers/promises";

/** How a piece of work is repeated. */
export interface Rhythm {
  /** Between two pieces while there is more to do, in milliseconds. */
  pauseMs: number;
  /** From the end of the work until it is looked again whether there is something to do, in milliseconds. */
  everyMs: number;
}

/** In milliseconds. What has just been opened first does what it was opened for. */
const beginMs = 200;

/** Work in the background. It never keeps the program running. */
export class Background {
  readonly #stopped = new AbortController();
  readonly #work: Promise<void>[] = [];
  #woken = Promise.withResolvers<void>();

  /** Begins to repeat a piece of work, which says whether there is more. If it fails, it is tried again later. */
  repeat(some: () => Promise<boolean>, rhythm: Rhythm): void {
    this.#work.push(this.#loop(some, rhythm));
  }

  /** Has everything looked at again at once. */
  wake(): void {
    this.#woken.resolve();
    this.#woken = Promise.withResolvers<void>();
  }

  /** Stops. Another time it goes on from there. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#work);
  }

  async #loop(some: () => Promise<boolean>, { pauseMs, everyMs }: Rhythm): Promise<void> {
    const { signal } = this.#stopped;
    await pass(Math.min(everyMs, beginMs), undefined, { signal, ref: false }).catch(() => {}); // stopped
    while (!signal.aborted) {
      const woken = this.#woken.promise; // before the work, which may not see what it is woken for
      const isMore = await some().catch(() => false);
      const waited = new AbortController();
      const either = AbortSignal.any([signal, waited.signal]);
      const ms = isMore ? pauseMs : everyMs * (0.9 + 0.2 * Math.random());
      await Promise.race([woken, pass(ms, undefined, { signal: either, ref: false })]).catch(() => {}); // stopped
      waited.abort();
    }
  }
}
