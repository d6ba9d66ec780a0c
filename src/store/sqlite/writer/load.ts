/** An import in the writer thread. Its transaction stays open over many requests. */
import type { DatabaseSync } from "node:sqlite";
import { judgeImported, refuseLost } from "../../core/commits/imported.ts";
import type { Refusal } from "../../core/commits/refusals.ts";
import type { Origin } from "../../core/commits/staged-changes.ts";
import type { ImportedResource, LoadOptions, Refused } from "../../port/load.ts";
import type { CollectionRecord } from "../../port/record.ts";
import { collectionOf, type NumberedCollection } from "../file/catalogue.ts";
import { InvalidStateError } from "../file/failures.ts";
import type { Commits } from "./commits.ts";
import type { Declarations } from "./declarations.ts";
import type { EntryTables } from "./entry-tables.ts";
import type { Heads } from "./heads.ts";
import type { IntegerIds } from "./integer-ids.ts";
import type { Transactions } from "./transactions.ts";

/** The page cache during an import. With a smaller cache, an import would write the same pages to the log several times. */
const cacheKibibytes = 128 * 1024;

/** The parts of the writer that an import uses. */
export interface WriterLoadParts {
  database: DatabaseSync;
  collections: ReadonlyMap<number, NumberedCollection>;
  heads: Heads;
  entries: EntryTables;
  ids: IntegerIds;
  commits: Commits;
  declarations: Declarations;
  transactions: Transactions;
}

interface ImportInProgress {
  /** The collections so far, with the work before the commit. */
  parts: readonly { collection: NumberedCollection; complete(): void }[];
  /** The collection that receives resources now. */
  collection: NumberedCollection;
  among: readonly string[];
  at: number;
  origin: Origin;
}

/** Carries out imports, one at a time. A rollback of the transaction cancels the import. */
export class WriterLoad {
  readonly #parts: WriterLoadParts;
  readonly #usualCacheSize: number;
  #current: ImportInProgress | undefined;

  constructor(parts: WriterLoadParts) {
    this.#parts = parts;
    this.#usualCacheSize = Number(parts.database.prepare("pragma cache_size").get()?.cache_size);
  }

  /**
   * Starts an import, or continues the one in progress with another collection. `into` is the number of a collection, or
   * the declaration of one to create or change. Returns the number. `finish` checks references to the collections `among`.
   */
  begin(
    into: number | CollectionRecord,
    { at, among, principal }: Required<LoadOptions> & { at: number },
  ): number {
    const { collections, declarations, transactions } = this.#parts;
    const before = this.#current ?? this.#open(at, principal);
    const number = typeof into === "number" ? into : declarations.takeOver(into);
    const collection = collectionOf(collections, number);
    const parts = [...before.parts, { collection, complete: this.#prepare(collection) }];
    this.#current = { ...before, parts, collection, among: [...among, collection.name] };
    transactions.keepOpen();
    return number;
  }

  #open(at: number, principal: string | null): Omit<ImportInProgress, "collection" | "among"> {
    const { commits, ids, transactions } = this.#parts;
    transactions.begin();
    transactions.onRollBack(ids.remember());
    transactions.onRollBack(() => this.#end());
    this.#setCacheSize(-cacheKibibytes);
    return { parts: [], at, origin: { principal, group: commits.nextGroup() } };
  }

  /** Adds resources. `cells` are ids and texts in turn. Returns the resources that it did not add, with the reasons. */
  add(cells: readonly string[]): Refused[] {
    const importing = this.#require();
    const imported: ImportedResource[] = [];
    for (let cell = 0; cell < cells.length; cell += 2)
      imported.push({ id: cells[cell] as string, text: cells[cell + 1] as string });
    return this.#parts.commits.decide((judging) => judgeImported(judging, importing, imported)).result;
  }

  /** The reason why the import cannot be committed. */
  check(): Refusal | undefined {
    const importing = this.#require();
    return this.#parts.commits.decide((judging) => refuseLost(judging, importing.parts, importing)).result;
  }

  /** Commits the import. If it must be refused, rolls it back and returns the reason. */
  finish(): Refusal | undefined {
    const { transactions } = this.#parts;
    const refusal = this.check();
    const { parts } = this.#require();
    if (refusal !== undefined) {
      transactions.rollBack();
      return refusal;
    }
    for (const { complete } of parts) complete();
    transactions.commit();
    this.#end();
    return undefined;
  }

  /** The entries of an empty collection are built at the end, which is faster than one by one. */
  #prepare(collection: NumberedCollection): () => void {
    const { entries, heads, transactions } = this.#parts;
    if (heads.of(collection.number).count > 0) return () => {};
    const { build, resume } = entries.suspend(collection);
    transactions.onRollBack(resume);
    return build;
  }

  #require(): ImportInProgress {
    if (this.#current === undefined) throw new InvalidStateError("No import is in progress.");
    return this.#current;
  }

  #end(): void {
    this.#current = undefined;
    this.#setCacheSize(this.#usualCacheSize);
  }

  #setCacheSize(size: number): void {
    this.#parts.database.exec(`pragma cache_size = ${size}`);
  }
}
