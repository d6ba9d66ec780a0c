/**
 * The store's port: what the rest of the program may ask of the place where resources live.
 *
 * A store keeps texts and versions. It knows neither HTTP nor schemas: what a write means is decided before
 * it gets here, and the store swaps it in if nothing has changed meanwhile. The comments are the contract;
 * `test/store/contract.ts` holds every store to it.
 */
import type { Erased, LoggedChange, ResourceChange } from "./change-log.ts";
import type { Commit, Committed, KeptReceipt } from "./commit.ts";
import type { Keys } from "./keys.ts";
import type { Load } from "./load.ts";
import type { ListQuery, Page } from "./page.ts";
import type { CollectionRecord } from "./record.ts";
import type { Key, Stored } from "./stored.ts";

/** What the store can tell about itself. */
export type StoreHealth = (
  | { kind: "ok" }
  /** Reads work, writes fail, and may work again: no room. */
  | { kind: "degraded"; reason: string }
  /** Neither reads nor writes work now, and may again: the database cannot be reached. */
  | { kind: "unreachable"; reason: string }
  /** The store has stopped for good; the program must end. */
  | { kind: "failed"; reason: string }
) & {
  /** `relaxed`: what was acknowledged may be lost with the power, since the database is told so. @default kept */
  durability?: "relaxed";
};

/**
 * The port. Every method may throw `Problem` UNAVAILABLE when the store has failed or its queue is full.
 */
export interface Store {
  /** The resource, or `undefined`; at once where it is at hand. Sees every commit that was acknowledged before the call. */
  read(key: Key): Stored | undefined | Promise<Stored | undefined>;

  /**
   * Writes all of the call's changes or none, and answers once they are on the disk. Collections must exist
   * (`migrate`). Throws PRECONDITION_FAILED when a version is not the expected one, UNIQUE_VIOLATION when a changed
   * resource would have the value of another in a unique attribute (judged by what all changes make),
   * REFERENCE_NOT_FOUND when its references lead nowhere, REFERENCED when what it deletes is referred to and must
   * not be, IDEMPOTENCY_KEY_REUSED when a valid receipt with the key is there, STORAGE_FULL, UNAVAILABLE (nothing was
   * written), or OUTCOME_UNKNOWN. Calls that arrive together are written together, and each keeps its own fate.
   */
  commit(commit: Commit): Promise<Committed>;

  /**
   * A page; an unknown collection is an empty one. Throws QUERY_TOO_EXPENSIVE when it takes longer than the store was
   * opened to allow, with advice.
   */
  list(query: ListQuery): Promise<Page>;

  /** How many resources the collection has, exactly; 0 for an unknown collection. */
  count(collection: string): Promise<number>;

  /** The change log of a collection after a sequence (0 = from the beginning), in order, at most `limit` rows. */
  changesAfter(collection: string, sequence: number, limit: number): Promise<readonly LoggedChange[]>;

  /**
   * The changes of one resource, newest first, with versions below `before`, at most `limit`: as far as they are kept. A
   * change that is kept has all later ones of its resource beside it.
   */
  changesOf(key: Key, page: { before: number; limit: number }): Promise<readonly ResourceChange[]>;

  /** The resource as a version of it was: the current one, or one whose change is in the change log. */
  version(key: Key, version: number): Promise<Stored | undefined>;

  /** The resource as it was at a time (Unix time in milliseconds), by the times of the commits, as far as `version` gives it. */
  versionAt(key: Key, at: number): Promise<Stored | undefined>;

  /**
   * Removes the resource and all its changes for good, so that the file does not hold them any more, and raises the
   * collection's sequence where the resource was there. To those that refer to it happens what a delete would do: throws REFERENCED.
   * For a store that nobody else uses: it takes as long as it takes.
   */
  erase(key: Key): Promise<Erased>;

  /**
   * The receipt with this key that is valid at `now`. Until then it is never dropped, but its answer may be, those of the
   * oldest first; of one whose resource was erased nothing but the key is left, its `fingerprint` empty.
   */
  receipt(key: string, now: number): Promise<KeptReceipt | undefined>;

  /** Takes `n` integer ids out of use and gives the first; never gives one twice, nor one that is or was a resource's. */
  reserveIds(collection: string, n: number): Promise<number>;

  /** Collections in the store by name, declared or not. */
  collections(): ReadonlyMap<string, CollectionRecord>;

  /**
   * The names of all collections in the store, in no order. Unlike `collections`, it includes those that another instance on
   * the same store has just made.
   */
  collectionNames(): Promise<readonly string[]>;

  /**
   * Makes each collection exist as given; an existing one takes the schema. Nothing is ever dropped. Throws
   * StartError when the id kind of a collection that has resources would change.
   */
  migrate(plan: readonly CollectionRecord[]): Promise<void>;

  /**
   * Begins an import into an existing collection, or into one that it makes to be as given, as `migrate` would:
   * when it is cancelled, that has not happened either. Nobody else may write until it ends. Integer ids reserved
   * meanwhile belong to it: when it is cancelled they were never given. References to the collections `among`, which the import will be for too, and within each of them are
   * judged when it finishes, any others at once. Throws StartError as `migrate` does.
   */
  load(collection: string | CollectionRecord, among?: readonly string[]): Promise<Load>;

  /** Every resource of a collection in id order, all from one snapshot. */
  scan(collection: string): AsyncIterable<Stored>;

  /** The store's secret (`secret.ts`). Always the same bytes, for every service that opens the store. */
  secret(): Promise<Buffer>;

  /** The API keys that are kept with the resources. */
  readonly keys: Keys;

  /** Whether the store works. */
  health(): StoreHealth;

  /**
   * Only of stores that may be out of reach when they are opened: resolves when the store has been reached, as it must have
   * been before anything else is asked of it. Throws UNAVAILABLE, and StartError where it is of no use to wait.
   */
  reach?(): Promise<void>;

  /** Ends what is under way, then lets go of everything. */
  close(): Promise<void>;
}
