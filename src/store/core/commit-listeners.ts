/** Listeners that a store calls after commits. */

/** Receives the names of collections that may have changed. */
export type CommitListener = (collections: readonly string[]) => void;

/** The listeners of one store. */
export class CommitListeners {
  readonly #listeners = new Set<CommitListener>();
  readonly #onFirst: () => void;
  readonly #onNone: () => void;

  /** `onFirst` is called when the first listener is added, and `onNone` when the last one is removed. */
  constructor({ onFirst = () => {}, onNone = () => {} }: { onFirst?: () => void; onNone?: () => void } = {}) {
    this.#onFirst = onFirst;
    this.#onNone = onNone;
  }

  /** Adds a listener. Returns a function that removes it. */
  add(listener: CommitListener): () => void {
    const own: CommitListener = (collections) => listener(collections);
    this.#listeners.add(own);
    if (this.#listeners.size === 1) this.#onFirst();
    return () => {
      if (this.#listeners.delete(own) && this.#listeners.size === 0) this.#onNone();
    };
  }

  /** Calls every listener. `collections` is called only if there is one. */
  call(collections: () => Iterable<string>): void {
    if (this.#listeners.size === 0) return;
    const names = [...new Set(collections())];
    if (names.length > 0) for (const listener of this.#listeners) listener(names);
  }
}
