/**
 * Waits for commits: of this instance, and of others on the same store.
 *
 * The first commit after a pause wakes its waiters at once. Commits that follow soon wake them together, because to wake a
 * thousand subscribers takes time from the writers. The pause between two wakes is as long as the first of them took, so at
 * least half of the time remains for other work.
 */
import { isInternal } from "../store/port/record.ts";
import type { HistoryStore } from "../store/port/store.ts";

/** The name for all collections in `untilCommit`. It includes collections that do not exist yet. */
export const anyCollection = "";

/** The shortest and the longest pause between two wakes for one collection, in milliseconds. */
const pause = { min: 5, max: 100 };

/** The waiters that are woken in one turn of the event loop. */
const wokenInOneTurn = 25;

/** Waiters whose time is over are woken this often, in milliseconds. */
const sweepMs = 1_000;

/** A caller of `untilCommit`. */
interface Waiter {
  wake: () => void;
  /** It waits no longer than this time of `performance.now()`. */
  until: number;
}

/** The waiters for commits in one store. */
export class CommitWatch {
  readonly #store: Pick<HistoryStore, "onCommit">;
  readonly #collections = new Map<string, Waiters>();
  #members = 0;
  #sweeper: NodeJS.Timeout | undefined;
  #stop = () => {};

  constructor(store: Pick<HistoryStore, "onCommit">) {
    this.#store = store;
  }

  /** Watches the store from now on. Call this before the first read. Returns a function that stops this. */
  join(): () => void {
    if (this.#members++ === 0) this.#start();
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      if (--this.#members === 0) this.#end();
    };
  }

  /** A number that rises after commits that may have changed the collection. Read it before the log, and wait with it. */
  commits(collection: string): number {
    return this.#collections.get(collection)?.wakes ?? 0;
  }

  /**
   * Resolves when the number of any of these collections has changed, when the signal is aborted, or up to a second after
   * `until`, a time of `performance.now()`.
   */
  untilCommit(
    seen: ReadonlyMap<string, number>,
    signal: AbortSignal,
    until = Number.POSITIVE_INFINITY,
  ): Promise<void> {
    for (const [name, commits] of seen) if (this.commits(name) !== commits) return Promise.resolve();
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        for (const name of seen.keys()) this.#of(name).delete(waiter);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      const waiter = { wake, until };
      for (const name of seen.keys()) this.#of(name).add(waiter);
      signal.addEventListener("abort", wake);
    });
  }

  #of(name: string): Waiters {
    const known = this.#collections.get(name) ?? new Waiters();
    this.#collections.set(name, known);
    return known;
  }

  #note(changed: readonly string[]): void {
    const isVisible = changed.some((name) => !isInternal(name));
    for (const name of isVisible ? [...changed, anyCollection] : changed) this.#of(name).wakeSoon();
  }

  #start(): void {
    this.#stop = this.#store.onCommit((names) => this.#note(names));
    this.#sweeper = setInterval(() => this.#sweep(), sweepMs).unref();
  }

  #end(): void {
    this.#stop();
    clearInterval(this.#sweeper);
    for (const waiters of this.#collections.values()) waiters.wakeNow();
  }

  #sweep(): void {
    const now = performance.now();
    const over = [...this.#collections.values()].flatMap((waiters) => waiters.until(now));
    wakeSome([...new Set(over)]);
  }
}

/** The waiters of one collection. */
class Waiters {
  /** How often they were woken. */
  wakes = 0;
  readonly #waiting = new Set<Waiter>();
  /** No wake starts before this time of `performance.now()`. */
  #restsUntil = Number.NEGATIVE_INFINITY;
  #isWaking = false;
  #isDue = false;
  #timer: NodeJS.Timeout | undefined;

  add(waiter: Waiter): void {
    this.#waiting.add(waiter);
  }

  delete(waiter: Waiter): void {
    this.#waiting.delete(waiter);
  }

  /** The waiters whose time is over at `time`. */
  until(time: number): Waiter[] {
    return [...this.#waiting].filter(({ until }) => until <= time);
  }

  /** Wakes the waiters after the pause. */
  wakeSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    if (!this.#isWaking) this.#wakeAfterPause();
  }

  /** Wakes them if they are to be woken. */
  wakeNow(): void {
    if (this.#isDue) this.#wake();
  }

  #wakeAfterPause(): void {
    const rest = this.#restsUntil - performance.now();
    if (rest <= 0) this.#wake();
    else this.#timer = setTimeout(() => this.#wake(), rest);
  }

  #wake(): void {
    clearTimeout(this.#timer);
    this.#isDue = false;
    this.#isWaking = true;
    this.wakes++;
    const start = performance.now();
    const woken = [...this.#waiting];
    this.#waiting.clear();
    wakeSome(woken, () => {
      const end = performance.now();
      this.#restsUntil = end + Math.min(pause.max, Math.max(pause.min, end - start));
      this.#isWaking = false;
      if (this.#isDue) this.#wakeAfterPause();
    });
  }
}

/** Wakes some now and the others in later turns of the event loop. Calls `done` after the turn of the last ones. */
function wakeSome(woken: Waiter[], done: () => void = () => {}): void {
  for (const { wake } of woken.splice(0, wokenInOneTurn)) wake();
  if (woken.length > 0) setImmediate(wakeSome, woken, done);
  else setImmediate(done);
}
