/** What one kind of database does for a store. The class Store has all methods of the port, and calls these. */

import type { KeptReceipt } from "../port/commit.ts";
import type { OpenKeys } from "../port/keys.ts";
import type { ResolvedStoreOptions } from "../port/options.ts";
import type { Figures, Page, ReadClient, ReferringGroups } from "../port/page.ts";
import type { Store, StoreReader } from "../port/store.ts";
import type { Key, Stored } from "../port/stored.ts";
import { isStorable } from "../port/stored.ts";
import type { Dialect } from "../sql/dialect.ts";
import type { Plan } from "../sql/plans.ts";
import { CataloguePlans, type NumberedCollection } from "./catalogue.ts";
import { createLookups } from "./commits/lookups.ts";
import type { CopySource, CopyTarget } from "./copy/contents.ts";
import type { BackupFile, BackupOptions } from "./copy/copy.ts";
import type { VerifiedContents } from "./copy/verify.ts";
import type { FiguresOf } from "./figures.ts";
import { type Chunk, createHistories } from "./history-plans.ts";
import { type KeyChange, KeyPlans } from "./key-plans.ts";
import { LogPlans } from "./log-plans.ts";
import { ReceiptPlans } from "./receipt-plans.ts";
import type { GroupsQuery, PageQuery } from "./related.ts";
import { SecretPlans } from "./secret.ts";
import { createTargetReads } from "./target-reads.ts";

/** The plans of a store, in the dialect of its database. */
export type StorePlans = ReturnType<typeof createPlans>;

/** Whether a resource of a collection has an id, or ever had it. An unknown collection has none. */
export function* hadEver(
  { catalogue, historyOf, logs }: StorePlans,
  name: string,
  id: string,
): Plan<boolean> {
  const collection = yield* catalogue.find(name);
  if (collection === undefined || !isStorable(id)) return false;
  return (yield* historyOf(collection).exists(id)) || (yield* logs.lastDeleted(collection, id)) > 0;
}

/**
 * Makes the plans, with the texts of their statements. `chunk`: the limits of a statement that rebuilds resources of the past.
 * `isServed`: the condition that the store has collections for a service, and that uses of keys can be noted.
 */
export function createPlans(
  dialect: Dialect,
  { chunk, isServed = "true" }: { chunk: Chunk; isServed?: string },
) {
  return {
    dialect,
    catalogue: new CataloguePlans(dialect),
    keys: new KeyPlans(dialect, isServed),
    logs: new LogPlans(dialect, isServed),
    receipts: new ReceiptPlans(dialect),
    secret: new SecretPlans(dialect),
    historyOf: createHistories(dialect, chunk),
    lookupsOf: createLookups(dialect),
    targetsOf: createTargetReads(dialect),
  };
}

/** How a plan is read. */
export interface ReadHow<T> {
  /** Whether the plan has only one statement. Without it, all statements see the same state. @default false */
  isSingle?: boolean;
  /** The length of the texts in a result, in characters. @default the texts are short */
  lengthOf?: (result: T) => number;
}

/** The length of the text of a resource, in characters. */
export function textLength(resource: Stored | undefined): number {
  return resource?.text.length ?? 0;
}

/** Who reads a list. It is asked only if the list can take long. */
export type AskClient = (() => ReadClient) | undefined;

/** The result of a list, or the fact that the declaration of the collection has changed since `find`. */
export type Declared<T> = Promise<T | "redeclared">;

/** A collection of a scan. */
export interface ScannedCollection {
  collection: NumberedCollection;
  /** Called before its first resource. */
  begin(): void;
}

/** The collections of a scan: those of the names that exist. Calls `begin` with the place of a name. */
export function scannedIn(
  known: readonly (NumberedCollection | undefined)[],
  begin: (place: number) => void,
): ScannedCollection[] {
  return known.flatMap((collection, place) =>
    collection ? [{ collection, begin: () => begin(place) }] : [],
  );
}

/** `begin` of a scan of one collection. */
export function ignoreBegin(): void {}

/**
 * The driver of one open store. A method with the type of one of `Store` has its contract, too. A method with a promise throws UNAVAILABLE
 * if the store is closed or has failed, and otherwise what the port says about the method of the store that calls it. A collection is one
 * that `find` has returned.
 */
export interface Driver {
  readonly plans: StorePlans;

  /** The collections by name, as they were last read. */
  readonly collections: ReadonlyMap<string, NumberedCollection>;

  /** The collection with this name, also if another instance has just created it. Throws UNAVAILABLE. */
  find(name: string): NumberedCollection | undefined | Promise<NumberedCollection | undefined>;

  /** Most requests read a resource. So this is no plan, and without a promise if the resource is in memory. */
  resource(key: Key): Stored | undefined | Promise<Stored | undefined>;

  /** Reads a receipt, valid or not, if receipts have a faster way than `read`. */
  receipt?(key: string): Promise<KeptReceipt | undefined>;

  /** Runs a plan that changes nothing. Can make and run it again after a lost connection. */
  read<T>(plan: () => Plan<T>, how?: ReadHow<T>): Promise<T>;

  page(collection: NumberedCollection, query: PageQuery, client: AskClient): Declared<Page>;
  figures(collection: NumberedCollection, query: FiguresOf, client: AskClient): Declared<Figures>;
  referring(collection: NumberedCollection, query: GroupsQuery, client: AskClient): Declared<ReferringGroups>;
  logHeads: Store["logHeads"];
  scanEach(collections: readonly ScannedCollection[]): AsyncIterable<Stored>;
  sizes(collections: readonly NumberedCollection[]): Promise<ReadonlyMap<string, number>>;
  statistics: Store["statistics"];
  time?: Store["time"];
  health: Store["health"];
  onCommit: Store["onCommit"];

  /** The commit is valid (`requireValidCommit`). Throws an Error if a collection does not exist. */
  commit: Store["commit"];
  exclusively: Store["exclusively"];
  load: Store["load"];
  reserveIds: Store["reserveIds"];
  migrate: Store["migrate"];
  erase: Store["erase"];
  /** Changes a key as `KeyPlans.change` does. */
  changeKey(change: KeyChange): Promise<boolean>;

  attach: Store["attach"];
  reach?: Store["reach"];
  close: Store["close"];
}

/** An engine. Each method throws StartError if the store at the address cannot be used. */
export interface Engine<Address> {
  /** Opens the store for reading and writing, and creates it if it does not exist. */
  open(address: Address, options: ResolvedStoreOptions): Promise<Driver>;

  /** Opens the store for reading. A service can have it open at the same time. */
  openReader(address: Address): Promise<StoreReader>;

  /**
   * Opens the API keys of the store, and creates the store if it does not exist. A service can have it open at the same
   * time.
   */
  openKeys(address: Address): Promise<OpenKeys>;

  /** Opens the store as the source of a copy. */
  openSource(address: Address): Promise<CopySource>;

  /**
   * Backs up one moment of the store into a new SQLite file, and compares every item. A service can have the store open at the same
   * time.
   */
  backUp(address: Address, file: BackupFile, options: BackupOptions): Promise<VerifiedContents>;

  /** Opens the store as the target of a copy, and creates it if it does not exist. */
  openTarget(address: Address): Promise<CopyTarget>;

  /** Whether the store can exist. The answer is exact for a file. For a database, only opening it gives the answer. */
  mayExist(address: Address): boolean;

  /** Throws StartError if the store certainly does not exist. */
  requireStore(address: Address): void;

  /** The technical reason for an error of the engine, in one line for the log. It contains no data of clients. */
  describeError(error: unknown): string;
}

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
