/** An import in the writer thread: one transaction over many requests. */
import type { DatabaseSync } from "node:sqlite";
import type { Arrival, Refused } from "../../load.ts";
import { describeLost, shownLost } from "../../lost.ts";
import type { CollectionRecord } from "../../record.ts";
import { collectionOf, type NumberedCollection } from "../catalogue.ts";
import { Mistake } from "../failures.ts";
import type { Refusal } from "../protocol.ts";
import type { Constraints } from "./constraints.ts";
import type { Declarations } from "./declarations.ts";
import type { Groups } from "./groups.ts";
import type { Heads } from "./heads.ts";
import type { IdBlocks } from "./id-blocks.ts";
import { suspendIndexes } from "./migrate.ts";
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
  /** The collections so far, and what is left to be done for each before all is written. */
  parts: readonly { collection: NumberedCollection; complete(): void }[];
  /** The one that arrivals are for. */
  collection: NumberedCollection;
  among: readonly string[];
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
    const { collections, declarations, transactions } = this.#parts;
    const before = this.#underWay ?? this.#open(at);
    const number = typeof into === "number" ? into : declarations.takeOver(into);
    const collection = collectionOf(collections, number);
    const parts = [...before.parts, { collection, complete: this.#prepare(collection) }];
    this.#underWay = { ...before, parts, collection, among: [...among, collection.name] };
    transactions.keepOpen();
    return number;
  }

  #open(at: number): Omit<UnderWay, "collection" | "among"> {
    const { ids, groups, transactions } = this.#parts;
    transactions.begin();
    transactions.onRollBack(ids.remember());
    transactions.onRollBack(() => this.#end());
    this.#setCacheSize(-cacheKibibytes);
    return { parts: [], origin: { at, principal: null, group: groups.next() } };
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
    const { parts, among } = this.#require();
    const lost = parts.flatMap(({ collection }) =>
      constraints.references.lostTo(among, collection, shownLost),
    );
    if (lost.length > 0) {
      transactions.rollBack();
      return { code: "REFERENCE_NOT_FOUND", detail: describeLost(lost) };
    }
    for (const { complete } of parts) complete();
    transactions.commit();
    this.#end();
    return undefined;
  }

  #addOne(arrival: Arrival, { collection, origin, among }: UnderWay): Omit<Refused, "position"> | undefined {
    const { resources, constraints } = this.#parts;
    const key = resources.place(collection, arrival, origin.at);
    if (key === undefined) return { pointer: undefined };
    const broken = constraints.brokenBy(collection, arrival, among);
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
