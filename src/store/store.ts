/**
 * The store's port: what the rest of the program may ask of the place where resources live.
 *
 * A store keeps texts and versions. It knows neither HTTP nor schemas: what a write means is decided before
 * it gets here, and the store swaps it in if nothing has changed meanwhile. The comments are the contract;
 * `test/store/contract.ts` holds every store to it.
 */
import type { IdKind } from "../collection/ids.ts";
import type { Index, SortKey } from "../collection/indexes.ts";
import type { Path } from "../collection/paths.ts";
import type { Reference } from "../collection/refers.ts";
import type { Unique } from "../collection/unique.ts";
import type { Filter } from "../query/filter.ts";
import type { Position } from "../query/sort.ts";
import type { Keys } from "./keys.ts";

/** Names one resource. `id` is the canonical text of the id, also where the collection's ids are integers. */
export interface Key {
  collection: string;
  id: string;
}

/** One resource as it is kept. */
export interface Stored {
  /** The canonical text of the id. */
  id: string;
  /** 1 for a resource just created; each change of value raises it by one. */
  version: number;
  /** The resource's JSON exactly as it goes out, `id` first. */
  text: string;
  /** When this version was written: Unix time in milliseconds. */
  updatedAt: number;
}

/** One resource's part of a commit: from a version that the caller saw to what should be next. */
export interface Change {
  key: Key;
  /** The version that must be current, or `absent` for a create. */
  expect: number | "absent";
  /** The resource's next text; `undefined` deletes it. */
  next: string | undefined;
  /**
   * Brings a deleted resource back: the version of the delete, from which the numbers go on. Only with `absent`, and only
   * while that delete is the last change of the resource in the change log. @default a resource that never was
   */
  after?: number;
}

/** An idempotency record, kept with the write that it stands for. */
export interface Receipt {
  /** Names principal, method, path and Idempotency-Key together; the caller decides how. */
  key: string;
  /** Tells one request from another under the same key. */
  fingerprint: string;
  /** The answer to give again, as the caller wrote it. */
  answer: string;
  /** A word or two that are kept where the store has no room for the answer any more. @default "" */
  brief?: string;
  /** Unix time in milliseconds from which the receipt is no longer valid. */
  expiresAt: number;
}

/** A receipt as the store has it: where it had no room for the answer any more, with `brief` alone. */
export interface KeptReceipt extends Omit<Receipt, "answer"> {
  /** `undefined`: dropped for want of room, or erased. */
  answer: string | undefined;
}

/** One call of `commit`: all of it happens, or none. */
export interface Commit {
  /** At least one, unless there is a receipt to keep; no key twice. */
  changes: readonly Change[];
  receipt?: Receipt;
  /** Who asked, for the change log. */
  principal?: string;
  /** Unix time in milliseconds; becomes `updatedAt` and the time in the change log. */
  at: number;
}

/** What a commit did, change by change, in the order of the call. */
export type Committed = readonly { version: number; sequence: number }[];

/** What a list asks for. */
export interface ListQuery {
  collection: string;
  /** At most so many resources; fewer where their text would be more than about 2 MiB, but at least one. */
  limit: number;
  /** Only the resources that `matches` says it of. @default every resource */
  filter?: Filter;
  /** As `compareBy` sorts; by ascending id where keys are equal, or there are none. @default [] */
  sort?: readonly SortKey[];
  /** Only resources that come after this position, at which none need be (any more). Not together with `offset`, and with `words` only where there is a `sort`. */
  after?: Position;
  /** So many resources at the beginning are left out. @default 0 */
  offset?: number;
  /**
   * Only resources that have each of these words, or a word that begins with it, in the attributes that the
   * collection's `search` names. Without `sort` those come first that match best.
   */
  words?: readonly string[];
  /** Whether the total is wanted also where it must be counted. @default false */
  count?: boolean;
  /**
   * Gives what ends the work when nobody waits for the answer any more: the call is then rejected with the signal's
   * reason. Asked for only where the work may take long.
   */
  signal?: () => AbortSignal;
}

/** One page, with what was true of the collection in the same snapshot. */
export interface Page {
  items: readonly Stored[];
  /** Whether there are resources after the last one of this page. */
  more: boolean;
  /** How many resources the whole list has; `undefined` where nobody counted. Without filter and words it is always known. */
  total: number | undefined;
  /** The collection's sequence: raised by one with every change to any of its resources. */
  sequence: number;
}

/** One row of the change log. */
export interface LoggedChange {
  sequence: number;
  id: string;
  /** The version that this change made; a delete is one above the last. */
  version: number;
  kind: ChangeKind;
  at: number;
  principal: string | undefined;
  /** Equal for the changes of one commit of several, `undefined` for a commit of one. */
  group: number | undefined;
  /** The text that this change superseded; `undefined` for a create. */
  superseded: string | undefined;
}

/** A change in the history of one resource. */
export type ResourceChange = Omit<LoggedChange, "id" | "superseded">;

/** What was removed for good. */
export interface Erased {
  /** Whether the resource was there, and not deleted already. */
  resource: boolean;
  /** How many of its changes were in the change log. */
  changes: number;
  /** Resources that referred to it, or to one of these, and were changed or deleted as by a delete. */
  followed: readonly Followed[];
}

/** A resource that a change of another one changed or deleted, with its history. */
export interface Followed extends Key {
  isDeleted: boolean;
}

/** What a change did to its resource. */
export type ChangeKind = "created" | "updated" | "deleted";

/** What the store keeps about a collection. */
export interface CollectionRecord {
  name: string;
  idKind: IdKind;
  /** The schema that the resources were last known to fit, as JSON text; `undefined` = anything fits. */
  schema: string | undefined;
  /** What lists are made quick by. */
  indexes: readonly Index[];
  /** Attributes that `words` are looked for in. */
  search: readonly Path[];
  /** Attributes of which no two resources have the same value: no write makes it so. @default [] */
  unique?: readonly Unique[];
  /** Attributes that hold ids of resources: no write makes them lead nowhere. @default [] */
  references?: readonly Reference[];
  /**
   * Whether `createdAt` and `updatedAt` of each resource are the service's: what the store itself changes, since another
   * resource is deleted, gets a new `updatedAt`. @default false
   */
  timestamps?: boolean;
}

/** A resource that arrives from outside with an id (or with one just made for it). */
export interface Arrival {
  id: string;
  text: string;
}

/** An arrival that was not added. */
export interface Refused {
  /** Its place among the arrivals of the call. */
  position: number;
  /** The unique attribute whose value was taken, as a JSON Pointer in a fragment; `undefined`: the id was taken. */
  pointer: string | undefined;
  /** At `pointer` is not a unique value that was taken, but an id that leads nowhere. */
  isLost?: true;
}

/** An import under way: one transaction, written at `finish` as a whole or not at all. */
export interface Load {
  /**
   * Adds resources. Each starts at version = the collection's sequence + 1, above every version that its id
   * ever had. Gives those whose id or unique value was already taken; they are not added.
   */
  add(arrivals: readonly Arrival[]): Promise<readonly Refused[]>;
  /** Goes on with another collection, as `load` began with the first. */
  next(collection: CollectionRecord): Promise<void>;
  /** Writes everything to the disk. Throws REFERENCE_NOT_FOUND, and leaves the store as it was. */
  finish(): Promise<void>;
  /** Leaves the store as it was. */
  cancel(): Promise<void>;
}

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
