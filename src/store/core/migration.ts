/** Carries out a declaration: creates its collection, or changes it. Never removes data of resources. */
import { StartError } from "../../errors.ts";
import { type CollectionRecord, isEqualJson } from "../port/record.ts";
import type { Plan } from "../sql/plans.ts";
import { numberOf, query, references as referenceColumns } from "../sql/table.ts";
import { type BuildingDriver, BuildingPlans } from "./building.ts";
import { idKindChanged, type NumberedCollection, redeclared, renumbered, undeclared } from "./catalogue.ts";
import { referencesOf, withBuilding } from "./entries.ts";

/** What one kind of store adds to a migration. */
export interface MigrationDriver extends BuildingDriver {
  /** Creates the tables of a new collection, and its head. */
  create(number: number): Plan<void>;
  /** Whether new indexes are complete at once, in any collection. Other writes wait for it. @default false */
  readonly buildsAtOnce?: boolean;
  /** Adds the keys of all resources in these places, at once. */
  addAll(collection: NumberedCollection, places: NumberedCollection["places"]): Plan<void>;
  /** Creates the indexes of the database for the numbers that are only in `after`, and drops those that are only in `before`. */
  changeIndexes(number: number, before: readonly number[], after: readonly number[]): Plan<void>;
  /** Makes the table of references empty. */
  clearReferences(collection: NumberedCollection): Plan<void>;
  /** Locks the heads of collections. Returns the number of resources of the first one. */
  lockHeads(numbers: readonly number[]): Plan<number>;
}

/** The plans that change declarations. */
export class MigrationPlans {
  readonly building: BuildingPlans;
  readonly #driver: MigrationDriver;
  readonly #nextNumber: () => Plan<number>;
  readonly #countOf: (number: number) => Plan<number>;

  constructor(driver: MigrationDriver) {
    this.#driver = driver;
    this.building = new BuildingPlans(driver);
    this.#countOf = (number) => driver.logs.countOf(number);
    this.#nextNumber = query<[], number>(
      `select coalesce(max(number), 0) + 1 from ${driver.dialect.tablePrefix}heads`,
      numberOf,
    );
  }

  /**
   * Carries out a declaration. `known`: the present declarations. Unique values and references are complete afterwards. Indexes and
   * search words of a large collection are not (`building.ts`). Throws StartError.
   *
   * Changes of tables and indexes come before the lock of the head, because they wait for writers, and the writers may wait for the
   * head.
   */
  *migrate(
    record: CollectionRecord,
    known: ReadonlyMap<string, NumberedCollection>,
  ): Plan<NumberedCollection> {
    const driver = this.#driver;
    const before = known.get(record.name);
    const number = before?.number ?? (yield* this.#nextNumber());
    const after = this.#declared(record, before ?? { number, ...undeclared });
    const { next, used } = (before ?? undeclared).numbers;
    if (before === undefined) yield* driver.create(number);
    else if (before.idKind !== after.idKind && (yield* this.#countOf(number)) > 0)
      throw new StartError(idKindChanged(before, after));
    const added = [...after.slots, ...after.uniqueSlots].filter(({ slot }) => slot >= next);
    if (before !== undefined && added.length > 0) yield* driver.addAll(after, added);
    yield* driver.changeIndexes(number, used, after.numbers.used);
    const targets = targetNumbers(before === undefined ? [after] : [before, after], known);
    const count = yield* driver.lockHeads([number, ...targets]);
    if (before !== undefined && before.idKind !== after.idKind && count > 0)
      throw new StartError(idKindChanged(before, after));
    if (!isEqualJson(before?.references ?? [], after.references)) yield* this.#addReferences(after);
    const built = yield* this.building.begin(before, after);
    yield* driver.raiseDeclared(before === undefined ? targets : [number, ...targets]);
    return built;
  }

  #declared(...args: Parameters<typeof redeclared>): NumberedCollection {
    const after = redeclared(...args);
    const { numbers } = after;
    if (numbers.building === undefined || this.#driver.buildsAtOnce !== true) return after;
    return renumbered(after, withBuilding(numbers, { ...numbers.building, slots: [] }));
  }

  /** Makes the references of all resources again. */
  *#addReferences(collection: NumberedCollection): Plan<void> {
    const { dialect } = this.#driver;
    const { number, references } = collection;
    yield* this.#driver.clearReferences(collection);
    if (references.length === 0) return;
    const table = `${dialect.tablePrefix}refers_${number}`;
    yield* this.building.withAll(
      collection,
      (resources) =>
        dialect.insertNew(
          table,
          referenceColumns,
          resources.flatMap(({ key, attributes }) =>
            referencesOf(attributes, references).map(([attribute, target]) => ({
              attribute,
              target,
              key: key as string,
            })),
          ),
        ),
      refuse,
    );
  }
}

/** Refuses a declaration because a text is damaged. */
export function refuse(message: string): never {
  throw new StartError(message);
}

/** The numbers of the collections that declarations refer to. Their writers must know of the references. */
export function targetNumbers(
  declarations: readonly Pick<CollectionRecord, "references">[],
  known: ReadonlyMap<string, NumberedCollection>,
): number[] {
  const names = declarations.flatMap(({ references = [] }) => references.map(({ collection }) => collection));
  return [...new Set(names.flatMap((name) => known.get(name)?.number ?? []))];
}
