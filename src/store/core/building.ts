/**
 * Builds what is derived from the resources of a collection: the keys in its indexes, and its search words. The head of a collection
 * has the key up to which it is built. A step takes the next resources, adds their keys and words, and moves this key, in one
 * transaction. The first step is part of the transaction that changes the declaration, and completes a small collection. The others
 * run in the background, also after a restart. Reads do not use an
 * index before it is complete. Writes keep its keys from the beginning.
 */
import { formatKey } from "../../collection/indexes.ts";
import type { Attributes } from "../../collection/resource.ts";
import { isObject } from "../../json/values.ts";
import { wordsVersion } from "../../query/search-words.ts";
import type { ResolvedStoreOptions } from "../port/options.ts";
import { isEqualJson } from "../port/record.ts";
import type { Dialect } from "../sql/dialect.ts";
import type { Plan, Row, Value } from "../sql/plans.ts";
import { command, numberOf, numbersOf, query } from "../sql/table.ts";
import { type CataloguePlans, type NumberedCollection, renumbered } from "./catalogue.ts";
import { type Damage, damageOf, nameOfResource } from "./checksums.ts";
import { type Building, withBuilding } from "./entries.ts";
import type { LogPlans } from "./log-plans.ts";
import { wordsAreSplitAgain } from "./search-index.ts";

/** A resource that was read to be built. */
export interface ReadResource {
  /** Its key in the store. */
  key: Value;
  attributes: Attributes;
}

/** What one kind of store adds. The caller keeps a transaction open. */
export interface BuildingDriver {
  readonly dialect: Dialect;
  readonly catalogue: CataloguePlans;
  readonly logs: LogPlans;
  /** A key before the keys of all resources. */
  readonly beforeAll: Value;
  /** Adds the keys of resources in the indexes that are being built, except those that exist. */
  addKeys(collection: NumberedCollection, resources: readonly ReadResource[]): Plan<void>;
  /** Removes entries that nothing uses. Returns how many it has removed. */
  removeEntries(collection: NumberedCollection, slot: number, most: number): Plan<number>;
  /** Makes the table of search words new and empty. A collection without search has none. */
  clearWords(collection: NumberedCollection): Plan<void>;
  /** Removes all search words. The table stays, because a service may be unable to create one. */
  emptyWords(collection: NumberedCollection): Plan<void>;
  /** Adds the search words of resources, or replaces them. */
  addWords(collection: NumberedCollection, resources: readonly ReadResource[]): Plan<void>;
  /** Locks the head of a collection. Returns whether this is still its declaration. */
  lockHead(collection: NumberedCollection): Plan<boolean>;
  /** Tells other instances that declarations have changed. */
  raiseDeclared(numbers: readonly number[]): Plan<void>;
}

/** The most that one step reads, but always one resource. Other writes wait until the step is over. */
const slice = { resources: 500, bytes: 256 * 1024 };

/** The pause between two steps, in milliseconds. */
export const buildPauseMs = 2;

/** How far a collection is built. */
export interface BuildState {
  number: number;
  /** The key of the last resource that is built; null if the collection is complete. */
  builtTo: Value;
  /** The version of its search words; undefined if it has none, or while they are gathered. */
  words: string | undefined;
}

/** A step that was taken. */
interface Step {
  /** The collection after it. */
  after: NumberedCollection;
  report: StepReport;
}

/** What a step tells the operator. */
export interface StepReport {
  number: number;
  name: string;
  /** What is being built; empty if only entries are removed. */
  what: string;
  /** The number of resources. */
  count: number;
  /** Whether the collection is complete now. */
  isComplete: boolean;
  /** Whether another version of the service has made the search words, so that they are made again. */
  isOutdated: boolean;
  /** Messages about resources that have no keys and words, because their texts are no JSON. */
  damage: readonly string[];
}

/** Another instance has changed the declaration or has taken the step. Roll the transaction back, and read the declarations again. */
export class StepTaken extends Error {}

/** The plans that build. */
export class BuildingPlans {
  readonly #driver: BuildingDriver;
  readonly #sql: ReturnType<typeof makeTexts>;

  constructor(driver: BuildingDriver) {
    this.#driver = driver;
    this.#sql = makeTexts(driver.dialect);
  }

  /** The collections that are not complete, in the order of their numbers. */
  incomplete(): Plan<readonly BuildState[]> {
    return this.#sql.incomplete(wordsVersion);
  }

  /**
   * Stores a declaration that has changed, and takes the first step. `before`: the declaration until now, if the collection existed.
   * Returns the collection with what is still to be built.
   */
  *begin(before: NumberedCollection | undefined, after: NumberedCollection): Plan<NumberedCollection> {
    const { number, numbers, search } = after;
    const { building } = numbers;
    const known = before?.numbers.building;
    const hasNewSearch = !isEqualJson(before?.search ?? [], search);
    const isNew = (slot: number) => known?.slots.includes(slot) !== true;
    const beginsAgain = known === undefined || hasNewSearch || building?.slots.some(isNew) === true;
    // Writes keep words only up to the place that is built, which goes back to the beginning.
    if (hasNewSearch || (beginsAgain && building?.words !== undefined)) {
      yield* this.#driver.clearWords(after);
      yield* this.#sql.setWords(number, null);
    }
    if (before === undefined || building === undefined) return yield* this.#complete(after);
    yield* this.#driver.catalogue.put(after);
    if (!beginsAgain) return after;
    yield* this.#sql.setBuilt(number, this.#driver.beforeAll);
    return yield* this.#slice(after, { from: this.#driver.beforeAll, isFirst: true });
  }

  /**
   * Takes the next step of a collection that is not complete. `isFirst`: as in `begin`, the step leaves damage to a later one, which
   * reports it. Throws StepTaken.
   */
  *step(collection: NumberedCollection, state: BuildState, isFirst = false): Plan<Step> {
    const { number, name, numbers } = collection;
    const { builtTo } = state;
    const { building } = numbers;
    const count = yield* this.#driver.logs.countOf(number);
    const damage: string[] = [];
    const isOutdated = hasOldWords(collection, state);
    if (!isOutdated && (builtTo === null || building === undefined)) throw new StepTaken();
    const after = isOutdated
      ? yield* this.gatherAgain(collection)
      : yield* this.#slice(collection, { from: builtTo, damage, isFirst });
    const isComplete = after.numbers.building === undefined;
    const what = namesOf(isOutdated ? after : collection);
    return { after, report: { number, name, what, count, isComplete, isOutdated, damage } };
  }

  /** Begins to gather the search words of a collection again. Returns the collection. Throws StepTaken. */
  *gatherAgain(collection: NumberedCollection): Plan<NumberedCollection> {
    const { number, numbers } = collection;
    const { slots = [], unused = [] }: Partial<Building> = numbers.building ?? {};
    const after = renumbered(collection, withBuilding(numbers, { slots, unused, words: wordsVersion }));
    if (!(yield* this.#driver.lockHead(collection))) throw new StepTaken();
    yield* this.#driver.emptyWords(after);
    yield* this.#sql.setWords(number, null);
    yield* this.#driver.catalogue.put(after);
    yield* this.#sql.setBuilt(number, this.#driver.beforeAll);
    yield* this.#driver.raiseDeclared([number]);
    return after;
  }

  /** Does work with all resources of a collection. Calls `onDamage` with the message for each resource whose text is no JSON. */
  *withAll(
    collection: NumberedCollection,
    work: (resources: readonly ReadResource[]) => Plan<unknown>,
    onDamage: (message: string) => void,
  ): Plan<void> {
    for (let from: Value | undefined = this.#driver.beforeAll; from !== undefined; ) {
      const read: Slice = yield* this.#read(collection, from, "");
      for (const message of read.damage) onDamage(message);
      yield* work(read.resources);
      from = read.to;
    }
  }

  /** `isFirst`: the step is part of the transaction that changes the declaration. Without it, other instances can build too. */
  *#slice(
    collection: NumberedCollection,
    { from, isFirst = false, damage = [] }: { from: Value; isFirst?: boolean; damage?: string[] },
  ): Plan<NumberedCollection> {
    const { number, numbers } = collection;
    const { slots, words, unused } = numbers.building as Building;
    for (const slot of unused)
      if ((yield* this.#driver.removeEntries(collection, slot, slice.resources)) > 0) return collection;
    const hasWork = slots.length > 0 || words !== undefined;
    const read = hasWork ? yield* this.#read(collection, from, this.#driver.dialect.lockRows) : nothing;
    const { resources, to } = read;
    if (isFirst && read.damage.length > 0) return collection; // a later step reports it
    damage.push(...read.damage);
    if (!isFirst && !(yield* this.#driver.lockHead(collection))) throw new StepTaken();
    if (slots.length > 0) yield* this.#driver.addKeys(collection, resources);
    if (words !== undefined) yield* this.#driver.addWords(collection, resources);
    if ((yield* this.#sql.moveBuilt(number, from, to ?? null)) === 0) throw new StepTaken();
    if (to !== undefined) return collection;
    if (!isFirst) yield* this.#driver.raiseDeclared([number]);
    return yield* this.#complete(collection);
  }

  *#complete(collection: NumberedCollection): Plan<NumberedCollection> {
    const { number, numbers } = collection;
    const after = renumbered(collection, withBuilding(numbers, undefined));
    yield* this.#driver.catalogue.put(after);
    yield* this.#sql.setBuilt(number, null);
    if (numbers.building?.words !== undefined) yield* this.#sql.setWords(number, numbers.building.words);
    return after;
  }

  *#read({ number, name, idKind }: NumberedCollection, from: Value, lock: string): Plan<Slice> {
    const { dialect } = this.#driver;
    const sql = this.#sql.of(number);
    const most = mostOf(yield* sql.sizes(from, slice.resources));
    const rows = yield* sql.resources(lock)(from, most);
    const resources: ReadResource[] = [];
    const damage: string[] = [];
    for (const [key, id, text] of rows) {
      const attributes = attributesOf(String(text));
      if (attributes !== undefined) resources.push({ key: key as Value, attributes });
      else damage.push(damageOf(nameOfResource(name, dialect.idOf(idKind, id))));
    }
    return { resources, damage, to: rows.length < most ? undefined : (rows.at(-1)?.[0] as Value) };
  }
}

/** Whether another version of the service has made the search words, or is making them. */
export function hasOldWords({ numbers }: NumberedCollection, { words }: BuildState): boolean {
  return (words ?? numbers.building?.words ?? wordsVersion) !== wordsVersion;
}

/** The next resources of a collection. */
interface Slice {
  resources: readonly ReadResource[];
  damage: readonly string[];
  /** The key of the last one; `undefined` at the end of the collection. */
  to: Value | undefined;
}

const nothing: Slice = { resources: [], damage: [], to: undefined };

function mostOf(sizes: readonly number[]): number {
  let bytes = 0;
  for (const [n, size] of sizes.entries()) {
    bytes += size;
    if (bytes > slice.bytes) return n + 1;
  }
  return slice.resources;
}

/** `undefined`: the text is damaged. */
function attributesOf(text: string): Attributes | undefined {
  try {
    const value = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function makeTexts({ tablePrefix, keyColumn, doc, docBytes }: Dialect) {
  const heads = `${tablePrefix}heads`;
  return {
    incomplete: query<[string], readonly BuildState[]>(
      `select number, built_to, words_version from ${heads}
        where built_to is not null or words_version <> $1::text order by number`,
      (rows) =>
        rows.map(([number, builtTo, words]) => ({
          number: Number(number),
          builtTo: builtTo as Value,
          words: words === null ? undefined : String(words),
        })),
    ),
    setBuilt: command<[number, Value]>(`update ${heads} set built_to = $2 where number = $1::integer`),
    setWords: command<[number, Value]>(
      `update ${heads} set words_version = $2::text where number = $1::integer`,
    ),
    /** Returns 0 if another instance has moved it first. */
    moveBuilt: query<[number, Value, Value], number>(
      `update ${heads} set built_to = $3 where number = $1::integer and built_to = $2 returning number`,
      numberOf,
    ),
    of(number: number) {
      const after = (columns: string) =>
        `select ${columns} from ${tablePrefix}resources_${number} as resource where key > $1 order by key limit $2::bigint`;
      const read = (rows: readonly Row[]) => rows;
      return {
        sizes: query<[Value, number], number[]>(after(docBytes("resource")), numbersOf),
        resources: (lock: string) =>
          query<[Value, number], readonly Row[]>(after(`key, ${keyColumn}, ${doc}`) + lock, read),
      };
    },
  };
}

/** Tells the operator what is built in the background. */
export class BuildReports {
  readonly #store: Pick<ResolvedStoreOptions, "onInfo" | "onWarning"> & { damage: Damage };
  /** The collections that are being built, by number. */
  readonly #begun = new Set<number>();
  readonly #failures = new Set<string>();
  #hasWarned = false;

  constructor(store: Pick<ResolvedStoreOptions, "onInfo" | "onWarning"> & { damage: Damage }) {
    this.#store = store;
  }

  /** Tells once that the building of a collection has failed. It is tried again. */
  noteFailure(reason: string): void {
    if (!this.#failures.has(reason)) this.#store.onWarning(reason);
    this.#failures.add(reason);
  }

  /** Tells about the first and the last step of a collection, and about damage. */
  note({ number, name, what, count, isComplete, isOutdated, damage }: StepReport): void {
    const { onInfo, onWarning } = this.#store;
    if (isOutdated && !this.#hasWarned) onWarning(wordsAreSplitAgain);
    this.#hasWarned ||= isOutdated;
    if (damage.length > 0) this.#store.damage.set(true);
    for (const text of damage) onWarning(text);
    if (what === "") return;
    if (!this.#begun.has(number))
      onInfo(`${name}: building ${what} from ${count} resources. Reads cannot use it yet`);
    this.#begun.add(number);
    if (!isComplete) return;
    this.#begun.delete(number);
    onInfo(`${name}: built ${what} from ${count} resources`);
  }
}

/** What is being built in a collection, as its configuration names it. */
function namesOf({ indexes, numbers: { used, building } }: NumberedCollection): string {
  const named = indexes
    .filter((_, n) => building?.slots.includes(used[n] as number))
    .map((index) => index.map(formatKey));
  const names = named.map((keys) => `the index ${JSON.stringify(keys)}`);
  return [...names, ...(building?.words === undefined ? [] : ["the search words"])].join(" and ");
}
