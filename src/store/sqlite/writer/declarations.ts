/**
 * The declarations of all collections, in the writer's memory and in its transactions. `migrate.ts` changes the tables of a
 * collection.
 */
import type { BuildState, StepReport } from "../../core/building.ts";
import { Catalogue, type NumberedCollection } from "../../core/catalogue.ts";
import type { CollectionRecord } from "../../port/record.ts";
import { collectionOf, readCatalogue } from "../sqlite-dialect.ts";
import type { TaskParts } from "./commits.ts";
import { declarationError, removeUnused } from "./migrate.ts";

/** The parts of the writer that declarations use. */
interface DeclarationsParts
  extends Pick<TaskParts, "database" | "migrations" | "plans" | "search" | "marks" | "transactions"> {
  /** The collections by number. `Declarations` keeps this map equal to the catalogue. */
  collections: Map<number, NumberedCollection>;
}

/** Reads and changes the declarations of all collections. */
export class Declarations {
  readonly #parts: DeclarationsParts;
  /** How often the steps of a collection have failed, by its number. */
  readonly #failures = new Map<number, number>();
  #catalogue: Catalogue | undefined;

  constructor(parts: DeclarationsParts) {
    this.#parts = parts;
    this.#read();
  }

  /** The present declarations. */
  get catalogue(): Catalogue {
    this.#catalogue ??= new Catalogue(this.#parts.collections.values());
    return this.#catalogue;
  }

  /**
   * Creates the collections of a plan, or changes their declarations. Returns only these collections, and `Marks.catalogue`
   * before the change. A store can have thousands of collections, and open mode creates them one by one.
   */
  migrate(plan: readonly CollectionRecord[]): { collections: readonly NumberedCollection[]; before: number } {
    const { transactions, marks } = this.#parts;
    const before = marks.catalogue;
    const known = new Map(this.catalogue.byName);
    const collections = transactions.run(() => plan.map((record) => this.#declare(record, known)));
    return { collections, before };
  }

  /** Declares a collection in the open transaction, and undoes that if the transaction is rolled back. Returns its number. */
  takeOver(record: CollectionRecord): number {
    return this.#declare(record, new Map(this.catalogue.byName)).number;
  }

  /** Takes the next step of what is built in the background. Returns what it did; `undefined`: everything is complete. */
  buildNext(): StepReport | undefined {
    const { plans, migrations, collections, transactions } = this.#parts;
    const failuresOf = ({ number }: BuildState) => this.#failures.get(number) ?? 0;
    const incomplete = [...plans.run(migrations.building.incomplete())];
    const [state] = incomplete.sort((a, b) => failuresOf(a) - failuresOf(b)); // one that fails does not stop the others
    if (state === undefined) return undefined;
    const { number } = state;
    try {
      return transactions.run(() => {
        const step = plans.run(migrations.building.step(collectionOf(collections, number), state));
        this.#keep(step.after);
        return step.report;
      });
    } catch (error) {
      this.#failures.set(number, failuresOf(state) + 1);
      throw error;
    }
  }

  /** Removes what other tables still have of erased resources: entries of removed indexes, and words in the segments of FTS5. */
  removeTraces(number: number): void {
    const { plans, migrations, collections, database } = this.#parts;
    const collection = collectionOf(collections, number);
    removeUnused(database, collection);
    if (collection.search.length === 0) return;
    const emptied = plans.run(migrations.building.gatherAgain(collection));
    const state = { number, builtTo: 0, words: undefined };
    this.#keep(plans.run(migrations.building.step(emptied, state, true)).after);
  }

  #declare(record: CollectionRecord, known: Map<string, NumberedCollection>): NumberedCollection {
    const { database, migrations, plans } = this.#parts;
    try {
      const collection = plans.run(migrations.migrate(record, known));
      known.set(record.name, collection);
      this.#keep(collection);
      return collection;
    } catch (error) {
      throw declarationError(database, record.name, error);
    }
  }

  /** Keeps a collection in memory as the open transaction has changed it. */
  #keep(collection: NumberedCollection): void {
    const { collections, search, transactions } = this.#parts;
    transactions.onRollBack(() => this.#read());
    search.readState();
    if (collections.get(collection.number) === collection) return;
    transactions.noteDeclared();
    collections.set(collection.number, collection);
    this.#catalogue = undefined;
  }

  #read(): void {
    const { database, collections, search } = this.#parts;
    collections.clear();
    for (const collection of readCatalogue(database).values()) collections.set(collection.number, collection);
    this.#catalogue = undefined;
    search.readState();
  }
}
