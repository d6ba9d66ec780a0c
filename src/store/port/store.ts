/**
 * The interface of a store, in three parts: serving requests, history, and administration. A command can also read a store while a
 * service has it open.
 *
 * A store keeps texts and versions. It knows neither HTTP nor schemas: the caller decides what a write means, and the
 * store commits it if nothing has changed in the meantime. These comments are the contract. `test/store/contract.ts` tests
 * every store against it.
 */
import type { MessagePort } from "node:worker_threads";
import type { Unique } from "../../collection/unique.ts";
import type {
  ChangedResource,
  ChangedTexts,
  ChangesSince,
  Erased,
  LastTexts,
  LoggedKey,
  LogHead,
  LogSlice,
  ResourceChange,
} from "./change-log.ts";
import type { Commit, Committed, KeptReceipt } from "./commit.ts";
import type { Keys } from "./keys.ts";
import type { LogPlace } from "./log-place.ts";
import type { Figures, FiguresQuery, ListQuery, Page, ReferringGroups, ReferringQuery } from "./page.ts";
import type { CollectionRecord } from "./record.ts";
import type { Key, Stored } from "./stored.ts";

/** The most time that a call of `Store.sizes` waits, in milliseconds. */
export const maxSizesWaitMs = 500;

/** What a store uses now. */
export interface StoreStatistics {
  /** The size of the database, in bytes. For PostgreSQL: with everything that others keep in it. */
  bytes: number;
  /** The size of the write-ahead log, in bytes. Absent if the log is not a file of the store. */
  logBytes?: number;
  /** The part of the log that no checkpoint has moved into the database, in bytes. Absent as `logBytes`. */
  logWaitingBytes?: number;
  /** The connections to a database, by the name of their pool. Absent without a database server. */
  pools?: Readonly<Record<string, PoolStatistics>>;
}

/** The connections of one pool. */
export interface PoolStatistics {
  /** How many can be open. */
  max: number;
  open: number;
  /** Open, and not in use. */
  idle: number;
  /** Callers that wait for a connection. */
  waiting: number;
}

/** A store that another process can write to at the same time. */
export interface StoreReader {
  /** The collections by name. */
  collections(): ReadonlyMap<string, CollectionRecord>;
  /** The number of resources in a collection; 0 for an unknown collection. */
  count(collection: string): number;
  /** Every resource of a collection in the order of ids, all from one snapshot. */
  scan(collection: string): AsyncIterable<Stored>;
  /**
   * Every resource of collections, one collection after the other and each in the order of ids, all from one snapshot. Calls `begin` with the
   * place of a collection in the list before its first resource. Leaves out unknown collections.
   */
  scanEach(collections: readonly string[], begin: (place: number) => void): AsyncIterable<Stored>;
  /**
   * Walks through all rows, and calls `report` with a text for each finding: a row with a wrong checksum, missing rows, or a
   * resource that an index lacks. Returns whether it found damage.
   */
  findDamage(report: (text: string) => void): Promise<boolean>;
  close(): Promise<void>;
}

/** The state of the store. */
export type StoreHealth = (
  | { kind: "ok" }
  /** Reads work. Writes fail now, and can work again, for example if there is no space. */
  | { kind: "degraded"; reason: string }
  /** Reads and writes fail now, and can work again: the database cannot be reached. */
  | { kind: "unreachable"; reason: string }
  /** The store has stopped permanently. The program must end. */
  | { kind: "failed"; reason: string }
) & {
  /** `relaxed`: the database is configured so that confirmed writes can be lost with the power. @default durable */
  durability?: "relaxed";
  /** `long`: a large part of SQLite's log waits for a checkpoint, because a program reads an older state. @default short */
  log?: "long";
  /**
   * `damaged`: a read or the walk has found damage, and no complete walk since then was without findings. `unchecked`: the last walk did
   * not reach its end. @default intact
   */
  data?: "damaged" | "unchecked";
};

/** What another thread of the process needs to use the store, too. It passes `attachment` to `openStore`. */
export interface StoreAttachment {
  attachment: unknown;
  /** The parts of it that must be transferred to the other thread, and not copied. */
  transfer: readonly MessagePort[];
}

/** A complete store. Every method can throw UNAVAILABLE if the store has failed or its queue is full. */
export interface Store extends ServingStore, HistoryStore, StoreAdministration {}

/** The part of a store that requests for collections and resources use. */
export interface ServingStore {
  /**
   * The resource; `undefined` if it does not exist. Without a promise if it is in memory. Sees every commit that was
   * confirmed before the call.
   */
  read(key: Key): Stored | undefined | Promise<Stored | undefined>;

  /**
   * The last version that an id ever had: of its resource, or of the delete of its last resource, even if this was erased. 0 if no
   * resource ever had the id. No retention removes this.
   */
  lastVersion(key: Key): Promise<number>;

  /**
   * The id of the resource that has a value in a unique attribute (`uniqueValue`), without `where`; `undefined` if none has it, or if
   * the collection does not declare the attribute. Sees every commit that was confirmed before the call.
   */
  holder(collection: string, unique: Unique, value: string): Promise<string | undefined>;

  /**
   * Writes all changes of the commit or none of them. Resolves when they are on disk. The collections must exist
   * (`migrate`). Commits that arrive together are written together, but each has its own result. Throws:
   * PRECONDITION_FAILED if a version is not the expected one, UNIQUE_VIOLATION if a changed resource would have the same
   * value as another one in a unique attribute (after all changes of the commit), REFERENCE_NOT_FOUND if it refers to a
   * resource that does not exist, REFERENCED if other resources refer to a deleted one and forbid that,
   * IDEMPOTENCY_KEY_REUSED if a valid receipt with the key exists, STORAGE_FULL and UNAVAILABLE if nothing was written, and
   * OUTCOME_UNKNOWN.
   */
  commit(commit: Commit): Promise<Committed>;

  /**
   * A page of a list. An unknown collection is empty. Throws QUERY_TOO_EXPENSIVE, with advice, if the list takes longer than
   * the option `queryMs` allows. With `at`, it throws HistoryMissing if the change log does not have all changes since that
   * time, and QUERY_TOO_EXPENSIVE if they are more than `maxUndone`.
   */
  list(query: ListQuery): Promise<Page>;

  /** Whether a list reads little more than its page. An index that is still being built makes no list quick. */
  isQuick(query: ListQuery): boolean;

  /**
   * For each of several ids, the first resources that refer to it. An unknown collection is empty. Throws
   * QUERY_TOO_EXPENSIVE as `list` does.
   */
  referring(query: ReferringQuery): Promise<ReferringGroups>;

  /**
   * The figures of a list and of its groups, as `Figure`, `GroupKey` and `FigureContents` describe them. An unknown collection
   * is an empty list. Throws QUERY_TOO_EXPENSIVE, with advice, if they take longer than the option `queryMs` allows.
   */
  figures(query: FiguresQuery): Promise<Figures>;

  /** The exact number of resources in a collection; 0 for an unknown collection. */
  count(collection: string): Promise<number>;

  /**
   * About how many bytes of the database each collection takes, by name: with its change log, its indexes and its search words. A
   * call waits for at most `maxSizesWaitMs`. A size that the store does not know by then is missing or old. A later call can
   * have it. An unknown collection is missing too.
   */
  sizes(collections: readonly string[]): Promise<ReadonlyMap<string, number>>;

  /**
   * The receipt with this key that is valid at `now`. The store never removes a valid receipt. It can remove the response in
   * it, those of the oldest receipts first. If the resource was erased, only the key is left, and `fingerprint` is empty.
   */
  receipt(key: string, now: number): Promise<KeptReceipt | undefined>;

  /**
   * Reserves `n` integer ids and returns the first. Never returns an id that a resource ever had, or that this process has
   * reserved before.
   */
  reserveIds(collection: string, n: number): Promise<number>;

  /** The collections in the store by name, declared or not. */
  collections(): ReadonlyMap<string, CollectionRecord>;

  /** The names of all collections, in no order. Includes collections that another instance on the same store has just created. */
  collectionNames(): Promise<readonly string[]>;

  /**
   * Creates each collection, or changes its declaration. It never removes anything. Throws StartError if the kind of id of a
   * collection with resources would change.
   */
  migrate(plan: readonly CollectionRecord[]): Promise<void>;

  /** The state of the store. */
  health(): StoreHealth;
}

/** The part of a store that reads the change log. */
export interface HistoryStore {
  /**
   * The changes of a collection after a place, in order: at most `limit` of them, and fewer if their texts would be more
   * than `maxSliceBytes`, but at least one.
   */
  changesAfter(collection: string, place: LogPlace, limit: number): Promise<LogSlice>;

  /** The change at a place, without its texts; `undefined` if the log does not have it. */
  changeAt(collection: string, place: LogPlace): Promise<LoggedKey | undefined>;

  /**
   * How far the logs of collections go. A collection that does not exist is missing. Afterwards, `collections` has every collection that
   * any instance created before the call.
   */
  logHeads(collections: readonly string[]): Promise<ReadonlyMap<string, LogHead>>;

  /**
   * Calls `listener` after changes were committed, by this instance or by another one on the same store: with the names of
   * the collections that may have changed, soon after the commit and at most 300 ms later. Returns a function that stops this.
   */
  onCommit(listener: (collections: readonly string[]) => void): () => void;

  /**
   * The changes of a resource with versions below `before`, newest first, at most `limit` of them. If the log keeps a change,
   * it also keeps all later changes of that resource.
   */
  changesOf(key: Key, page: { before: number; limit: number }): Promise<readonly ResourceChange[]>;

  /** The first delete of an id above a version; `undefined` if the log has none. */
  deleteAfter(key: Key, version: number): Promise<ResourceChange | undefined>;

  /** A version of a resource: the current one, or one whose change is in the log. */
  version(key: Key, version: number): Promise<Stored | undefined>;

  /** The resource at a time (Unix time in milliseconds), by the times of the commits, if `version` can give that version. */
  versionAt(key: Key, at: number): Promise<Stored | undefined>;

  /**
   * The last texts of resources, by id and all from one state, with the ends of the lives that versions of them belong to. At most as
   * many as `maxSliceBytes` of text, but at least the first. Sees every commit that was confirmed before the call.
   */
  lastTexts(
    collection: string,
    versions: readonly { id: string; version: number }[],
  ): Promise<ReadonlyMap<string, LastTexts>>;

  /**
   * The changes of collections after a time (Unix time in milliseconds), by the times of the commits. Either all changes of a
   * commit are after the time, or none. A collection that does not exist has no changes. The state is that of one moment only
   * if nothing writes during the call. Throws HistoryMissing if a log does not have all changes since that time, or if
   * no collection has a change until then, and CONTENT_TOO_LARGE if there are more than `maxChangesSince`.
   */
  changesSince(collections: readonly string[], at: number): Promise<readonly ChangesSince[]>;

  /** The texts of some of the changed resources that `changesSince` found, from the index `from` on: at least one of them. */
  textsOf(
    collection: string,
    changed: readonly ChangedResource[],
    from: number,
  ): Promise<readonly ChangedTexts[]>;
}

/** The part of a store that starts, imports, checks and erases. */
export interface StoreAdministration extends Pick<StoreReader, "scan" | "scanEach"> {
  /**
   * Starts an import into an existing collection, or into one that it creates as `migrate` does. Until it ends, other writes to
   * the collection wait for it. With one writer, all other writes of this store wait. They throw UNAVAILABLE if they wait too
   * long, with a `retry-after` that says when the import will probably end. If it is cancelled, nothing has happened: the
   * collection does not exist. Throws StartError as `migrate` does, and UNAVAILABLE while another import is in progress.
   */
  load(collection: string | CollectionRecord, options?: LoadOptions): Promise<Load>;

  /**
   * Does work while nothing else writes to the collections, in any instance. Other writes wait, as for an import. The work can call `commit` once, which commits as the store does. It throws PRECONDITION_FAILED if
   * the work must be done again. Throws UNAVAILABLE while an import or other such work is in progress.
   */
  exclusively<T>(
    collections: readonly string[],
    work: (commit: ServingStore["commit"]) => Promise<T>,
  ): Promise<T>;

  /**
   * Removes a resource with all its changes permanently, also from the files. References to it are treated as in a delete.
   * Throws REFERENCED. No other process may use the store, because this takes as long as it needs.
   */
  erase(key: Key): Promise<Erased>;

  /** The store's secret (`secret.ts`): the same bytes for every service on the store. */
  secret(): Promise<Buffer>;

  /** Lets another thread of the process use the store. `undefined` if each thread opens the store itself. */
  attach(): StoreAttachment | undefined;

  /** What the store uses now. */
  statistics(): Promise<StoreStatistics>;

  /** Unix time in milliseconds by the clock of the database server. Exists only if there is one. */
  time?(): Promise<number>;

  /** The API keys in the store. */
  readonly keys: Keys;

  /**
   * Resolves when the store has been reached. Exists only if the store can be opened while it cannot be reached. No other
   * method may be called before. Throws UNAVAILABLE, and StartError if waiting does not help.
   */
  reach?(): Promise<void>;

  /** Completes the work in progress, and releases everything. */
  close(): Promise<void>;
}

/** The same store, but with these methods instead of its own. */
export function withMethods<S extends object>(store: S, methods: Partial<S>): S {
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(methods, name) ?? Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** A resource to import. */
export interface ImportedResource {
  id: string;
  text: string;
  /** The version of the resource that it replaces, as `Load.holders` gave it. @default it is new */
  replaces?: number;
  /**
   * Set if it has expired: it is deleted again at once, by this principal, and holds no unique value. Not together with `replaces`,
   * because nothing can refer to it then. @default it stays
   */
  endedBy?: string;
}

/** What an import did with resources. */
export interface Added {
  refused: readonly Refused[];
  /** The positions of those that were added with the id of a deleted resource. */
  reused: readonly number[];
}

/** A resource that was not added. */
export interface Refused {
  /** Its index in the call. */
  position: number;
  /** The attributes at fault, as JSON Pointers in fragments. Empty if the id is taken. */
  pointers: readonly string[];
  /** The attribute refers to a resource that does not exist. @default the value is taken, or the combination of values */
  isLost?: true;
}

/** How to import. */
export interface LoadOptions {
  /**
   * References to these collections are checked at the end of the import, because it also imports these. All others are checked
   * at once. @default none
   */
  among?: readonly string[];
  /** Who imports, for the history; `null` without a credential. @default null */
  principal?: string | null;
  /** The length of all ids and texts that will be added, in characters, to estimate when the import ends. @default unknown */
  length?: number;
  /** The time of its changes, in Unix milliseconds. @default the present time */
  at?: number;
}

/** An import: one transaction, which is written by `finish` as a whole or not at all. */
export interface Load {
  /**
   * Adds resources. Each starts at version 1, or if its id was used before, at the version after the last one. Returns which resources were
   * not added.
   */
  add(resources: readonly ImportedResource[]): Promise<Added>;
  /**
   * The resources of the collection that have these values in a unique attribute without `where`, each at the place of its value. Throws
   * DATA_DAMAGED.
   */
  holders(unique: Unique, values: readonly string[]): Promise<readonly (Stored | undefined)[]>;
  /** Continues with another collection, as `load` does with the first. */
  next(collection: CollectionRecord): Promise<void>;
  /** Reserves `n` integer ids of the collection and returns the first. If the import is cancelled, they were never used. */
  reserveIds(n: number): Promise<number>;
  /** Throws what `finish` would throw, and cancels the import. */
  tryOut(): Promise<void>;
  /** Writes everything to the disk. Throws REFERENCE_NOT_FOUND, and then the store is unchanged. */
  finish(): Promise<void>;
  /** Ends the import. The store is unchanged. */
  cancel(): Promise<void>;
}
