/** An import in the writer thread: one transaction over many requests. */
import type { DatabaseSync } from "node:sqlite";
import type { Arrival, CollectionRecord, Refused } from "../store.ts";
import { collectionOf, type NumberedCollection } from "./catalogue.ts";
import type { Constraints } from "./constraints.ts";
import type { Declarations } from "./declarations.ts";
import { Mistake } from "./failures.ts";
import type { Groups } from "./groups.ts";
import type { Heads } from "./heads.ts";
import type { IdBlocks } from "./id-blocks.ts";
import { suspendIndexes } from "./migrate.ts";
import type { Refusal } from "./protocol.ts";
import type { Origin, Resources } from "./resources.ts";
import type { Transactions } from "./transactions.ts";

/** An import would otherwise write the same pages to the log again and again. */
const cacheKibibytes = 128 * 1024;

/** What an import works on. */
export interface WriterLoadParts {
  database: DatabaseSync;
  collections: ReadonlyMap<number, NumberedCollection>;
  heads: Heads;
  ids: IdBlocks;
  resources: Resources;
  constraints: Constraints;
  groups: Groups;
  declarations: Declarations;
  transactions: Transactions;
}

interface UnderWay {
  collection: NumberedCollection;
  origin: Origin;
  /** What is left to be done before all is written. */
  complete(): void;
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

  /** Begins an import into a collection, or into one that it makes to be as given, and gives the collection's number. */
  begin(into: number | CollectionRecord, at: number): number {
    const { collections, ids, groups, declarations, transactions } = this.#parts;
    transactions.begin();
    transactions.onRollBack(ids.remember());
    transactions.onRollBack(() => this.#end());
    this.#setCacheSize(-cacheKibibytes);
    const number = typeof into === "number" ? into : declarations.takeOver(into);
    const origin = { at, principal: null, group: groups.next() };
    const collection = collectionOf(collections, number);
    this.#underWay = { collection, origin, complete: this.#prepare(collection) };
    transactions.keepOpen();
    return number;
  }

  /** Adds arrivals, given as ids and texts in turn. Gives those that are not added, and why. */
  add(cells: readonly string[]): Refused[] {
    const underWay = this.#require();
    const all: Refused[] = [];
    for (let position = 0; position * 2 < cells.length; position++) {
      const arrival = { id: cells[position * 2] as string, text: cells[position * 2 + 1] as string };
      const refused = this.#addOne(arrival, underWay);
      if (refused !== undefined) all.push({ position, ...refused });
    }
    return all;
  }

  /** Writes everything, or takes everything back and gives why. */
  finish(): Refusal | undefined {
    const { constraints, transactions } = this.#parts;
    const lost = constraints.references.danglingWithin(this.#require().collection);
    if (lost === undefined) {
      this.#require().complete();
      transactions.commit();
      this.#end();
      return undefined;
    }
    transactions.rollBack();
    const detail = `The resource ${JSON.stringify(lost)} refers to one of its collection that is not there.`;
    return { code: "REFERENCE_NOT_FOUND", detail };
  }

  #addOne(arrival: Arrival, { collection, origin }: UnderWay): Omit<Refused, "position"> | undefined {
    const { resources, constraints } = this.#parts;
    const key = resources.place(collection, arrival, origin.at);
    if (key === undefined) return { pointer: undefined };
    const broken = constraints.brokenBy(collection, arrival);
    if (broken === undefined) resources.settle(collection, { key, ...arrival }, origin);
    else resources.takeOut(collection, arrival.id);
    return broken;
  }

  /** Indexes that are made at the end cost a third of those that are kept up for each resource. */
  #prepare(collection: NumberedCollection): () => void {
    const { database, heads } = this.#parts;
    const isEmpty = heads.of(collection.number).count === 0;
    return isEmpty ? suspendIndexes(database, collection) : () => {};
  }

  #require(): UnderWay {
    if (this.#underWay === undefined) throw new Mistake("No import is under way.");
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
