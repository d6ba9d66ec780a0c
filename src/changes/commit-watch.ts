/**
 * Waits for commits: of this instance, and of others on the same store.
 *
 * The first commit after a pause wakes its waiters at once. Those that follow closely wake them together, because each waiter
 * costs time: a thousand subscribers would otherwise take it from the writers.
 */
import { isInternal } from "../store/internal.ts";
import type { HistoryStore } from "../store/store.ts";

/** In `untilCommit`, the name of all collections, also of those that do not exist yet. */
export const anyCollection = "";

/** The shortest time between two wakes for one collection, in milliseconds: a part for all, and one for each waiter. */
const pause = { all: 5, waiter: 0.05 };

/** The waiters that are woken in one turn of the event loop. */
const wokenInOneTurn = 25;

/** The state of one collection. */
interface Watched {
  /** How often its waiters were woken. */
  wakes: number;
  /** Time of `performance.now()`. */
  wokenAt: number;
  /** Set if a wake is due. */
  timer: NodeJS.Timeout | undefined;
  waiting: Set<() => void>;
}

/** What those who wait for commits in one store share. */
export class CommitWatch {
  readonly #store: Pick<HistoryStore, "onCommit">;
  readonly #collections = new Map<string, Watched>();
  #members = 0;
  #stop = () => {};

  constructor(store: Pick<HistoryStore, "onCommit">) {
    this.#store = store;
  }

  /** Watches the store from now on. Call this before the first read. Returns what ends it. */
  join(): () => void {
    if (this.#members++ === 0) this.#stop = this.#store.onCommit((names) => this.#note(names));
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

  /** Resolves when the number of any of these collections has changed, or when the signal is aborted. */
  untilCommit(seen: ReadonlyMap<string, number>, signal: AbortSignal): Promise<void> {
    const isNew = [...seen].some(([name, commits]) => this.commits(name) !== commits);
    if (isNew || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        for (const name of seen.keys()) this.#of(name).waiting.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      for (const name of seen.keys()) this.#of(name).waiting.add(done);
      signal.addEventListener("abort", done);
    });
  }

  #of(name: string): Watched {
    const known = this.#collections.get(name);
    if (known !== undefined) return known;
    const watched = {
      wakes: 0,
      wokenAt: Number.NEGATIVE_INFINITY,
      timer: undefined,
      waiting: new Set<() => void>(),
    };
    this.#collections.set(name, watched);
    return watched;
  }

  #note(changed: readonly string[]): void {
    const isVisible = changed.some((name) => !isInternal(name));
    for (const name of isVisible ? [...changed, anyCollection] : changed) {
      const watched = this.#of(name);
      if (watched.timer !== undefined) continue;
      const wait = watched.wokenAt + pause.all + pause.waiter * watched.waiting.size - performance.now();
      if (wait <= 0) wake(watched);
      else watched.timer = setTimeout(wake, wait, watched);
    }
  }

  #end(): void {
    this.#stop();
    for (const watched of this.#collections.values()) if (watched.timer !== undefined) wake(watched);
  }
}

function wake(watched: Watched): void {
  clearTimeout(watched.timer);
  watched.timer = undefined;
  watched.wakes++;
  watched.wokenAt = performance.now();
  const woken = [...watched.waiting];
  watched.waiting.clear();
  wakeSome(woken);
}

function wakeSome(woken: (() => void)[]): void {
  for (const resolve of woken.splice(0, wokenInOneTurn)) resolve();
  if (woken.length > 0) setImmediate(wakeSome, woken);
}
