/** The imports of a store: one at a time, and nothing else writes until it ends. */
import { Problem } from "../errors.ts";
import type { ImportedResource, Load, Refused } from "./load.ts";
import type { CollectionRecord } from "./record.ts";

/** The transaction of an import. It carries out the calls in their order, also if they do not wait for each other. */
export interface LoadTransaction {
  /** Continues with another collection. Throws StartError if the collection cannot be as given. */
  next(collection: CollectionRecord): Promise<void>;
  /** Adds resources. Returns those that it did not add. */
  add(resources: readonly ImportedResource[]): Promise<readonly Refused[]>;
  /** Reserves `n` integer ids of the collection and returns the first. */
  reserve(n: number): Promise<number>;
  /** Writes everything. Throws REFERENCE_NOT_FOUND. */
  commit(): Promise<void>;
  /** Ends the transaction, and takes everything back. Has no effect after a commit. */
  rollBack(): Promise<void>;
}

/** What imports need from their store. */
export interface LoadsParts {
  /** Resolves when no commit is in progress. */
  drained(): Promise<void>;
  /** Starts a transaction, with the arguments of `load` of a store. Throws StartError if the collection cannot be as given. */
  begin(into: string | CollectionRecord, among: readonly string[]): Promise<LoadTransaction>;
  /** Called when an import that started has ended. */
  onEnd(): void | Promise<void>;
}

/** Starts imports, and knows the one in progress. */
export class Loads {
  readonly #parts: LoadsParts;
  #started: Promise<CurrentLoad> | undefined;
  #current: CurrentLoad | undefined;

  constructor(parts: LoadsParts) {
    this.#parts = parts;
  }

  get isInProgress(): boolean {
    return this.#started !== undefined;
  }

  /** Throws UNAVAILABLE while an import is in progress. */
  requireNone(): void {
    if (this.isInProgress) throw new Problem("UNAVAILABLE", "An import is in progress. Try again.");
  }

  /** The import into the collection. Until it ends, only the import knows a collection that it creates. */
  into(collection: string): CurrentLoad | undefined {
    return this.#current?.collection === collection ? this.#current : undefined;
  }

  /** Starts an import, as `load` of a store does. From the call on, nothing else writes. */
  begin(into: string | CollectionRecord, among: readonly string[]): Promise<Load> {
    this.requireNone();
    this.#started = this.#start(into, among);
    return this.#started;
  }

  /** Cancels the import in progress, if there is one. */
  async cancel(): Promise<void> {
    const load = await this.#started?.catch(() => undefined);
    await load?.cancel();
  }

  async #start(into: string | CollectionRecord, among: readonly string[]): Promise<CurrentLoad> {
    try {
      await this.#parts.drained();
      const transaction = await this.#parts.begin(into, among);
      const name = typeof into === "string" ? into : into.name;
      this.#current = new CurrentLoad(name, transaction, () => this.#end());
      return this.#current;
    } catch (error) {
      this.#started = undefined;
      throw error;
    }
  }

  async #end(): Promise<void> {
    this.#started = undefined;
    this.#current = undefined;
    await this.#parts.onEnd();
  }
}

/** An import in progress. After a failure it can only end, and then the store is unchanged. */
class CurrentLoad implements Load {
  /** The name of the collection that it adds resources to. */
  collection: string;
  readonly #transaction: LoadTransaction;
  readonly #onEnd: () => Promise<void>;
  #failure: unknown;
  #hasEnded = false;

  constructor(collection: string, transaction: LoadTransaction, onEnd: () => Promise<void>) {
    this.collection = collection;
    this.#transaction = transaction;
    this.#onEnd = onEnd;
  }

  async next(collection: CollectionRecord): Promise<void> {
    await this.#step(() => this.#transaction.next(collection));
    this.collection = collection.name;
  }

  add(resources: readonly ImportedResource[]): Promise<readonly Refused[]> {
    return this.#step(() => this.#transaction.add(resources));
  }

  /** Reserves integer ids. Nothing has used them if the import is cancelled. */
  reserve(n: number): Promise<number> {
    return this.#step(() => this.#transaction.reserve(n));
  }

  async finish(): Promise<void> {
    try {
      await this.#step(() => this.#transaction.commit());
    } catch (error) {
      await this.cancel().catch(() => {}); // the first error is the one to report
      throw error;
    }
    await this.#end();
  }

  async cancel(): Promise<void> {
    await this.#end(() => this.#transaction.rollBack());
  }

  async #end(rollBack?: () => Promise<void>): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    try {
      await rollBack?.();
    } finally {
      await this.#onEnd();
    }
  }

  async #step<T>(step: () => Promise<T>): Promise<T> {
    if (this.#hasEnded) throw new Error("The import has ended.");
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return await step();
    } catch (error) {
      this.#failure ??= error;
      throw this.#failure;
    }
  }
}
