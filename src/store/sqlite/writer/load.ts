/** An import in the writer thread: one transaction over many requests. */
import type { DatabaseSync } from "node:sqlite";
import { judgeImported, refuseLost } from "../../commits/imported.ts";
import type { Refusal } from "../../commits/refusals.ts";
import type { Origin } from "../../commits/staged-changes.ts";
import type { ImportedResource, Refused } from "../../load.ts";
import type { CollectionRecord } from "../../record.ts";
import { collectionOf, type NumberedCollection } from "../file/catalogue.ts";
import { Mistake } from "../file/failures.ts";
import type { Commits } from "./commits.ts";
import type { Declarations } from "./declarations.ts";
import type { Heads } from "./heads.ts";
import type { IdBlocks } from "./id-blocks.ts";
import { suspendIndexes } from "./migrate.ts";
import type { Transactions } from "./transactions.ts";

/** An import would otherwise write the same pages to the log again and again. */
const cacheKibibytes = 128 * 1024;

/** What an import works on. */
export interface WriterLoadParts {
  database: DatabaseSync;
  collections: ReadonlyMap<number, NumberedCollection>;
  heads: Heads;
  ids: IdBlocks;
  commits: Commits;
  declarations: Declarations;
  transactions: Transactions;
}

interface UnderWay {
  /** The collections so far, their sequences before, and what is left to be done for each before all is written. */
  parts: readonly { collection: NumberedCollection; sequence: number; complete(): void }[];
  /** The one that imported are for. */
  collection: NumberedCollection;
  among: readonly string[];
  at: number;
  origin: Origin;
}

/** Carries out imports, one at a time. It is cancelled by taking the transaction back. */
export class WriterLoad {
  readonly #parts: WriterLoadParts;
  readonly #usualCacheSize: number;
  #underWay: UnderWay | undefined;

  constructor(parts: WriterLoadParts) {
    this.#parts = parts;
    this.#usualCacheSize = Number(parts.database.prepare("pragma cache_size").get()?.cache_size);
  }

  /**
   * Begins an import into a collection, or into one that it makes to be as given, and gives the collection's number. Goes on
   * with one more where an import is under way. References to the collections `among` are judged when it finishes.
   */
  begin(into: number | CollectionRecord, at: number, among: readonly string[]): number {
    const { collections, declarations, heads, transactions } = this.#parts;
    const before = this.#underWay ?? this.#open(at);
    const number = typeof into === "number" ? into : declarations.takeOver(into);
    const collection = collectionOf(collections, number);
    const { sequence } = heads.of(number);
    const parts = [...before.parts, { collection, sequence, complete: this.#prepare(collection) }];
    this.#underWay = { ...before, parts, collection, among: [...among, collection.name] };
    transactions.keepOpen();
    return number;
  }

  #open(at: number): Omit<UnderWay, "collection" | "among"> {
    const { commits, ids, transactions } = this.#parts;
    transactions.begin();
    transactions.onRollBack(ids.remember());
    transactions.onRollBack(() => this.#end());
    this.#setCacheSize(-cacheKibibytes);
    return { parts: [], at, origin: { principal: null, group: commits.nextGroup() } };
  }

  /** Adds imported, given as ids and texts in turn. Gives those that are not added, and why. */
  add(cells: readonly string[]): Refused[] {
    const { commits, heads } = this.#parts;
    const { collection, at, origin, among } = this.#require();
    const imported: ImportedResource[] = [];
    for (let cell = 0; cell < cells.length; cell += 2)
      imported.push({ id: cells[cell] as string, text: cells[cell + 1] as string });
    const { sequence } = heads.of(collection.number);
    const importing = { collection, sequence, among, at, origin };
    return commits.decide((judging) => judgeImported(judging, importing, imported)).result;
  }

  /** Writes everything, or takes everything back and gives why. */
  finish(): Refusal | undefined {
    const { commits, transactions } = this.#parts;
    const { parts, among } = this.#require();
    const { result: refusal } = commits.decide((judging) => refuseLost(judging, parts, among));
    if (refusal !== undefined) {
      transactions.rollBack();
      return refusal;
    }
    for (const { complete } of parts) complete();
    transactions.commit();
    this.#end();
    return undefined;
  }

  /** Indexes that are made at the end cost a third of those that are kept up for each resource. */
  #prepare(collection: NumberedCollection): () => void {
    const { database, heads } = this.#parts;
    const isEmpty = heads.of(collection.number).count === 0;
    return isEmpty ? suspendIndexes(database, collection) : () => {};
  }

  #require(): UnderWay {
    if (this.#underWay === undefined) throw new Mistake("No import is in progress.");
    return this.#underWay;
  }

  #end(): void {
    this.#underWay = undefined;
    this.#setCacheSize(this.#usualCacheSize);
  }

  #setCacheSize(size: number): void {
    this.#parts.database.exec(`pragma cache_size = ${size}`);
  }
}
