/** Waits for commits: of this instance, and of others on the same store. */
import { isInternal } from "../store/internal.ts";
import type { HistoryStore } from "../store/store.ts";

/** In `untilCommit`, the name of all collections, also of those that do not exist yet. */
export const anyCollection = "";

/** What those who wait for commits in one store share. */
export class CommitWatch {
  readonly #store: Pick<HistoryStore, "onCommit">;
  readonly #commits = new Map<string, number>();
  readonly #waiting = new Map<string, Set<() => void>>();
  #members = 0;
  #stop = () => {};

  constructor(store: Pick<HistoryStore, "onCommit">) {
    this.#store = store;
  }

  /** Starts to watch the store, if nobody does. Call this before the first read. Returns what ends it. */
  join(): () => void {
    if (this.#members++ === 0) this.#stop = this.#store.onCommit((names) => this.#note(names));
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      if (--this.#members === 0) this.#stop();
    };
  }

  /** The number of commits so far that may have changed the collection. Read it before the log, and wait with it. */
  commits(collection: string): number {
    return this.#commits.get(collection) ?? 0;
  }

  /** Resolves when any of these collections has another number of commits, or when the signal is aborted. */
  untilCommit(seen: ReadonlyMap<string, number>, signal: AbortSignal): Promise<void> {
    const isNew = [...seen].some(([name, commits]) => this.commits(name) !== commits);
    if (isNew || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        for (const name of seen.keys()) this.#remove(name, done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      for (const name of seen.keys()) this.#add(name, done);
      signal.addEventListener("abort", done);
    });
  }

  #note(changed: readonly string[]): void {
    const isVisible = changed.some((name) => !isInternal(name));
    const names = isVisible ? [...changed, anyCollection] : changed;
    for (const name of names) this.#commits.set(name, this.commits(name) + 1);
    const woken = new Set(names.flatMap((name) => [...(this.#waiting.get(name) ?? [])]));
    for (const wake of woken) wake();
  }

  #add(name: string, wake: () => void): void {
    const waiting = this.#waiting.get(name) ?? new Set();
    this.#waiting.set(name, waiting.add(wake));
  }

  #remove(name: string, wake: () => void): void {
    const waiting = this.#waiting.get(name);
    if (waiting?.delete(wake) === true && waiting.size === 0) this.#waiting.delete(name);
  }
}
