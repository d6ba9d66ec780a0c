/**
 * Records: what the service itself keeps in internal collections, such as webhooks and accounts. A record is a resource with
 * the same commits and versions as any other. No request reaches it by name, and the store keeps no superseded text of it.
 */
import type { Collection } from "./collection/collection.ts";
import { Problem } from "./errors.ts";
import type { Filter } from "./query/filter.ts";
import type { Change, Commit } from "./store/port/commit.ts";
import type { ListQuery } from "./store/port/page.ts";
import { recordOf } from "./store/port/record.ts";
import type { ServingStore } from "./store/port/store.ts";
import type { Stored } from "./store/port/stored.ts";

/** Something that is stored, with the version that a change must expect. */
export interface Versioned<T> {
  value: T;
  version: number;
}

/** What a decision writes, and its result. */
export interface Decided<T> {
  changes: readonly Change[];
  /** Who makes the changes, for the history of the resources among them. @default nobody */
  principal?: string;
  result: T;
}

/** How many times something is decided again if another process was faster. */
const maxAttempts = 20;

/** The records of one store in some internal collections. */
export class Records {
  readonly #store: ServingStore;
  readonly #collections: readonly Collection[];
  #isPrepared: Promise<void> | undefined;

  constructor(store: ServingStore, collections: readonly Collection[]) {
    this.#store = store;
    this.#collections = collections;
  }

  /** Creates the internal collections if they do not exist. Call this before the first write. */
  prepare(): Promise<void> {
    this.#isPrepared ??= this.#store.migrate(this.#collections.map(recordOf)).catch((error: unknown) => {
      this.#isPrepared = undefined;
      throw error;
    });
    return this.#isPrepared;
  }

  /** What a collection has under an id; `undefined` if it does not exist. */
  async read<T>(collection: string, id: string): Promise<Versioned<T> | undefined> {
    const stored = await this.#store.read({ collection, id });
    return stored && recordIn<T>(stored);
  }

  /** Whether a collection has a resource with an id. */
  async exists(collection: string, id: string): Promise<boolean> {
    return (await this.#store.read({ collection, id })) !== undefined;
  }

  /** Whether a collection has a resource with an id, or ever had one. */
  async hadEver(collection: string, id: string): Promise<boolean> {
    return (await this.exists(collection, id)) || (await this.#store.lastVersion({ collection, id })) > 0;
  }

  /** A page of records. An unknown collection is empty. */
  async list<T>(query: ListQuery): Promise<{ records: Versioned<T>[]; more: boolean }> {
    const { items, more } = await this.#store.list(query);
    return { records: items.map((item) => recordIn<T>(item)), more };
  }

  /** How many records a collection has. */
  count(collection: string): Promise<number> {
    return this.#store.count(collection);
  }

  /** The sum of a number in all records of a collection. */
  async sum(collection: string, name: string): Promise<number> {
    const { groups } = await this.#store.figures({
      collection,
      figures: [{ kind: "sum", name, path: [name] }],
      group: [],
      sort: [],
      limit: 1,
      offset: 0,
    });
    return Number(groups[0]?.[0] ?? 0);
  }

  /** Writes changes. Throws PRECONDITION_FAILED if another instance was faster, and what `commit` of the store throws. */
  async commit(changes: readonly Change[], at: number, more: Pick<Commit, "principal"> = {}): Promise<void> {
    if (changes.length === 0) return;
    await this.prepare();
    await this.#store.commit({ changes, at, ...more });
  }

  /**
   * Decides and commits, again if another process was faster. A result that is a problem is thrown after the commit. Throws
   * UNAVAILABLE if others are faster again and again, and what `decide` and `commit` throw.
   */
  async untilCommitted<T>(decide: () => Promise<Decided<T | Problem>>, now: () => number): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const { changes, result, principal } = await decide();
      try {
        await this.commit(changes, now(), principal === undefined ? {} : { principal });
      } catch (error) {
        const isTaken = isInternallyTaken(error, changes);
        if (!isOvertaken(error) && !isTaken) throw error;
        if (attempt < maxAttempts) continue;
        if (isTaken) throw error;
        throw new Problem("UNAVAILABLE", "Too many others change the same at once. Try again.", {
          cause: error,
        });
      }
      if (result instanceof Problem) throw result;
      return result;
    }
  }
}

/** The filter for records in which an attribute has a value. */
export function isIn(name: string, value: string): Filter {
  return { kind: "in", path: [name], values: [value] };
}

/** The value of a stored record. It includes the id. */
export function recordIn<T>({ text, version }: Stored): Versioned<T> {
  return { value: JSON.parse(text) as T, version };
}

/** A change that writes a value. `before` is the version that was read; `undefined` if it did not exist. */
export function put(collection: string, id: string, before: number | undefined, value: object): Change {
  const { id: _, ...attributes } = value as { id?: string };
  return { key: { collection, id }, expect: before ?? "absent", next: JSON.stringify({ id, ...attributes }) };
}

/** A change that deletes the version that was read. */
export function remove(collection: string, id: string, version: number): Change {
  return { key: { collection, id }, expect: version, next: undefined };
}

/**
 * Whether a commit failed because an internal record with the same unique value came first, such as the address of an account. What
 * decides then sees that record. A value of a resource of users is for the client instead.
 */
function isInternallyTaken(error: unknown, changes: readonly Change[]): boolean {
  if (!(error instanceof Problem) || error.code !== "UNIQUE_VIOLATION") return false;
  const change = error.change === undefined ? undefined : changes[error.change];
  return change === undefined || change.key.collection.startsWith("_");
}

/** Whether a commit failed because another one came first. */
export function isOvertaken(error: unknown): boolean {
  return error instanceof Problem && error.code === "PRECONDITION_FAILED";
}
