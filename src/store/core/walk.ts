/**
 * A slow walk through all rows of a store, after a start and once a week. It finds damage that no request reads: rows whose
 * checksums are wrong, rows that are missing, resources that an index lacks, and rows of an index that match no resource. Each
 * slice has its own snapshot and takes a few milliseconds. The service continues to write in between.
 */
import { isDeepStrictEqual } from "node:util";
import { idIn } from "../../collection/ids.ts";
import { comparePositions } from "../../query/sort.ts";
import { isInternal } from "../port/record.ts";
import type { Plan, Row, Value } from "../sql/plans.ts";
import { query, textsOf } from "../sql/table.ts";
import type { NumberedCollection } from "./catalogue.ts";
import type { LoggedRowKey } from "./changes-since.ts";
import { damageOf, nameOfResource } from "./checksums.ts";
import {
  type Cell,
  type Contents,
  damagedIn,
  endMissing,
  gapBefore,
  hasGap,
  type Item,
  lacksEnd,
  type PageSize,
  placeOf,
  type Section,
} from "./copy/contents.ts";
import { type ContentsDriver, StoredContents } from "./copy/stored-contents.ts";
import { referencesOf } from "./entries.ts";
import type { CollectionCounts } from "./log-plans.ts";
import { searchedWords } from "./search-index.ts";

/** When walks begin, and how long they pause after each slice. In milliseconds. */
export const walkTimes = { initialDelayMs: 250, pauseMs: 100, everyMs: 7 * 24 * 3_600_000 };

/** The most that one slice reads. On a slow machine, this takes 10 ms. */
export const sliceSize: PageSize = { items: 250, bytes: 256 * 1024 };

/** A walk reports at most this many findings. */
const maxReported = 20;

/** If more resources change while a walk reads their collection, their number is not compared. */
const maxChanged = 50_000;

/** A resource whose checksum is right. */
export interface IntactResource {
  id: string;
  text: string;
}

/** What can be wrong with the rows that are made from a resource. Completes a sentence about the resource. */
const derivedFaults = {
  keys: "has wrong keys in the store, so lists with an index can lack it",
  references: "has wrong references in the store, so the delete of another resource can miss it",
  words: "has wrong search words in the store, so searches can lack it",
} as const;

/** The reads of one slice. All of them see one snapshot. */
export interface SliceReads extends Pick<Contents, "items"> {
  collections(): Promise<readonly NumberedCollection[]>;
  /** The numbers of collections that have only a declaration, or only a head. */
  lost(): Promise<readonly { number: number; hasDeclaration: boolean }[]>;
  counts(collection: NumberedCollection): Promise<CollectionCounts>;
  /** The ids of the resources whose derived rows are wrong, by what is wrong. */
  faults(
    collection: NumberedCollection,
    resources: readonly IntactResource[],
  ): Promise<Readonly<Record<keyof typeof derivedFaults, readonly string[]>>>;
  /** Looks at rows of a table that is made from the resources, after a place; from the first one without it. */
  surplus(kind: DerivedRows, collection: NumberedCollection, after: unknown): Promise<Surplus>;
  /** What is wrong with the search words of a collection. */
  brokenWords(collection: NumberedCollection): Promise<string | undefined>;
  /** The ids of deletes in a part of the log that the table of deleted ids lacks, or has with an earlier version. */
  forgottenDeletes(
    collection: NumberedCollection,
    range: { after: number; upTo: number },
  ): Promise<readonly string[]>;
  /** The changes after a sequence, in order. Throws DATA_DAMAGED. */
  changes(collection: NumberedCollection, after: number, limit: number): Promise<readonly LoggedRowKey[]>;
}

/** Rows that are made from the resources. */
type DerivedRows = "references" | "entries";

/** Rows that match no resource. */
export interface Surplus {
  /** Their number. */
  rows: number;
  /** The place of the last row that was read; `undefined` at the end. */
  last: unknown;
}

const noSurplus: Surplus = { rows: 0, last: undefined };

/** How one kind of store reads a slice. The collections are those of the snapshot. */
export interface SliceDriver extends ContentsDriver {
  /** The ids of the resources whose keys in the declared indexes do not match their texts. The collection has an index. */
  misindexed(
    collection: NumberedCollection,
    resources: readonly IntactResource[],
  ): Promise<readonly string[]>;
  /** The number of search words that the store has of each of these resources, by id. The collection has search words. */
  wordCounts(
    collection: NumberedCollection,
    resources: readonly IntactResource[],
  ): Promise<ReadonlyMap<string, number>>;
  /** As `SliceReads.surplus`, if entries are rows of their own. */
  surplusEntries?(collection: NumberedCollection, after: unknown): Promise<Surplus>;
  /** As in `SliceReads`. The collection has search words. */
  brokenWords?(collection: NumberedCollection): Promise<string | undefined>;
}

/** The reads of one slice, in an open snapshot. */
export function sliceReads(driver: SliceDriver): SliceReads {
  const { catalogue, logs, historyOf } = driver.plans.store;
  const contents = new StoredContents(driver);
  return {
    collections: () => driver.run(catalogue.all()),
    items: (...args) => contents.items(...args),
    lost: () => driver.run(lostCollections(driver)),
    counts: ({ number }) => driver.run(logs.counts(number)),
    async faults({ name }, resources) {
      const collection = await contents.find(name);
      const { slots, uniqueSlots, references, search, numbers } = collection;
      const isGathered = search.length > 0 && numbers.building?.words === undefined;
      return {
        keys: slots.length + uniqueSlots.length === 0 ? [] : await driver.misindexed(collection, resources),
        references:
          references.length === 0 ? [] : await driver.run(misreferred(driver, collection, resources)),
        words: isGathered
          ? miscounted(collection, resources, await driver.wordCounts(collection, resources))
          : [],
      };
    },
    async surplus(kind, { name }, after) {
      const collection = await contents.find(name);
      if (kind === "entries") return (await driver.surplusEntries?.(collection, after)) ?? noSurplus;
      return collection.references.length === 0
        ? noSurplus
        : driver.run(surplusReferences(driver, collection, after as Value | undefined));
    },
    async brokenWords({ name }) {
      const collection = await contents.find(name);
      return collection.search.length === 0 ? undefined : driver.brokenWords?.(collection);
    },
    forgottenDeletes: ({ number }, range) => driver.run(forgottenDeletes(driver, number, range)),
    changes: (collection, ...page) => driver.run(historyOf(collection).keysAfter(...page)),
  };
}

function lostCollections({ plans }: ContentsDriver): Plan<{ number: number; hasDeclaration: boolean }[]> {
  const { tablePrefix } = plans.store.dialect;
  const [collections, heads] = [`${tablePrefix}collections`, `${tablePrefix}heads`];
  return query<[], { number: number; hasDeclaration: boolean }[]>(
    `select number, 1 from ${collections} where number not in (select number from ${heads})
      union all select number, 0 from ${heads} where number not in (select number from ${collections})`,
    (rows) => rows.map(([number, has]) => ({ number: Number(number), hasDeclaration: Number(has) === 1 })),
  )();
}

function forgottenDeletes(
  { plans }: ContentsDriver,
  number: number,
  { after, upTo }: { after: number; upTo: number },
): Plan<readonly string[]> {
  const { tablePrefix } = plans.store.dialect;
  return query<[number, number], readonly string[]>(
    `select change.id from ${tablePrefix}changes_${number} as change
      left join ${tablePrefix}deleted_${number} as deleted on deleted.id = change.id
      where change.sequence > $1::bigint and change.sequence <= $2::bigint and change.kind = 'deleted'
        and (deleted.version is null or deleted.version < change.version)`,
    textsOf,
  )(after, upTo);
}

/** The ids of the resources whose rows in the table of references do not match their texts. */
function* misreferred(
  { plans }: ContentsDriver,
  { number, idKind, references }: NumberedCollection,
  resources: readonly IntactResource[],
): Plan<readonly string[]> {
  const { tablePrefix, keyColumn, keyOf, idOf, among, list } = plans.store.dialect;
  const column = `resource.${keyColumn}`;
  const rows = yield* query<[Value], readonly Row[]>(
    `select ${column}, refers.attribute, refers.target from ${tablePrefix}resources_${number} as resource
      join ${tablePrefix}refers_${number} as refers on refers.key = resource.key where ${among(column, 1)}`,
    (found) => found,
  )(list(resources.map(({ id }) => keyOf(idKind, id))));
  const found = Map.groupBy(rows, ([key]) => idOf(idKind, key));
  return resources
    .filter(({ id, text }) => {
      const wanted = referencesOf(JSON.parse(text), references);
      const stored = (found.get(id) ?? []).map(([, ...names]) => names);
      return !isDeepStrictEqual(namesOf(wanted), namesOf(stored));
    })
    .map(({ id }) => id);
}

/** The ids of the resources with another number of search words than the store has. */
function miscounted(
  { search }: NumberedCollection,
  resources: readonly IntactResource[],
  counts: ReadonlyMap<string, number>,
): readonly string[] {
  return resources
    .filter(({ id, text }) => counts.get(id) !== searchedWords(JSON.parse(text), search).length)
    .map(({ id }) => id);
}

function namesOf(rows: readonly Row[]): Set<string> {
  return new Set(rows.map((row) => JSON.stringify(row)));
}

function* surplusReferences(
  { plans }: ContentsDriver,
  { number }: NumberedCollection,
  after: Value | undefined,
): Plan<Surplus> {
  const { tablePrefix } = plans.store.dialect;
  const table = `${tablePrefix}refers_${number}`;
  const rows = yield* query<readonly Value[], readonly Row[]>(
    `select refers.key, case when resource.key is null then 1 else 0 end
      from (select key from ${table} ${after === undefined ? "" : "where key > $1"} order by key limit ${sliceSize.items}) as refers
      left join ${tablePrefix}resources_${number} as resource on resource.key = refers.key order by refers.key`,
    (found) => found,
  )(...(after === undefined ? [] : [after]));
  return { rows: rows.filter(([, isSurplus]) => Number(isSurplus) === 1).length, last: rows.at(-1)?.[0] };
}

/** What a walk reads. */
export interface WalkedStore {
  /** Does the work of one slice in a snapshot. */
  slice<T>(work: (reads: SliceReads) => Promise<T>): Promise<T>;
  /** What an error of a slice says about damage. `undefined`: it ends the walk. */
  damageIn(error: unknown): string | undefined;
}

/** Walks through a store, and yields after each slice. Calls `report` with a text for each finding. Returns whether it found damage. */
export async function* walk(
  store: WalkedStore,
  report: (text: string) => void,
): AsyncGenerator<void, boolean> {
  let damages = 0;
  const onDamage = (text: string) => {
    if (++damages <= maxReported) report(text);
  };
  const parts = { store, onDamage };
  /** What lies behind a part that cannot be read is walked too. */
  async function* walkPart(what: string, steps: AsyncGenerator<void>): AsyncGenerator<void> {
    try {
      yield* steps;
    } catch (error) {
      const reason = error instanceof OutOfOrder ? error.message : store.damageIn(error);
      if (reason === undefined) throw error;
      onDamage(
        /Restore a backup\.$/.test(reason)
          ? reason
          : `${what} cannot be read in the store: ${reason}. Restore a backup.`,
      );
    }
  }
  for (const kind of ["keys", "receipts"] as const)
    yield* walkPart(kind === "keys" ? "An API key" : "A stored response", walkRows(parts, { kind }));
  let collections: readonly NumberedCollection[] = [];
  async function* readCatalogue(): AsyncGenerator<void> {
    const lost = await store.slice(async (reads) => {
      collections = await reads.collections();
      return reads.lost();
    });
    for (const { number, hasDeclaration } of lost)
      onDamage(
        `The collection with the number ${number} has lost its ${hasDeclaration ? "counters" : "declaration"} in the store. Restore a backup.`,
      );
  }
  yield* walkPart("The declaration of a collection", readCatalogue());
  for (const collection of collections) {
    const { name } = collection;
    yield* walkPart(`A resource of ${name}`, walkCollection(parts, collection));
    yield* walkPart(`A reference or an index of ${name}`, walkDerived(parts, collection));
    yield* walkPart(`The search words of ${name}`, walkWords(parts, collection));
    yield* walkPart(`The change log of ${name}`, walkLog(parts, collection));
    yield* walkPart(`A deleted id of ${name}`, walkRows(parts, { kind: "deleted", collection: name }));
  }
  if (damages > maxReported)
    report(`The walk found damage in ${damages - maxReported} more places of the store.`);
  return damages > 0;
}

/** A whole walk without pauses. */
export async function walkAtOnce(store: WalkedStore, report: (text: string) => void): Promise<boolean> {
  const walking = walk(store, report);
  for (;;) {
    const step = await walking.next();
    if (step.done === true) return step.value;
  }
}

/** The rows of a table come in another order than that of their keys, so a walk would never end. */
class OutOfOrder extends Error {
  constructor() {
    super("the rows are not in the order of their keys");
  }
}

/** The places at which slices ended. Throws OutOfOrder if there is one for the second time. */
class Places {
  readonly #seen = new Set<string>();

  note(place: unknown): void {
    const name = JSON.stringify(place, (_, value) => (value instanceof Uint8Array ? [...value] : value));
    if (this.#seen.has(name)) throw new OutOfOrder();
    this.#seen.add(name);
  }
}

interface WalkParts {
  store: WalkedStore;
  onDamage: (text: string) => void;
}

/** Compares the checksums of a section. */
async function* walkRows(
  { store, onDamage }: WalkParts,
  section: Exclude<Section, { kind: "resources" | "changes" }>,
): AsyncGenerator<void> {
  const places = new Places();
  let after: Cell | undefined;
  for (;;) {
    const items = await store.slice((reads) => reads.items(section, after, sliceSize));
    for (const item of items) {
      const damaged = damagedIn(section, item);
      if (damaged !== undefined) onDamage(damageOf(damaged));
    }
    after = items.at(-1)?.[0];
    if (after === undefined) return;
    places.note(after);
    yield;
  }
}

/** Compares the checksums of the resources of a collection, and their number and sum with its head. */
async function* walkCollection(
  { store, onDamage }: WalkParts,
  collection: NumberedCollection,
): AsyncGenerator<void> {
  const { name, idKind } = collection;
  const section = { kind: "resources", collection: name } as const;
  const [textAt, checksumAt] = [placeOf("resources", "doc"), placeOf("resources", "checksum")];
  const order = comparePositions([]);
  const position = (id: Cell) => [idIn(idKind, String(id))];
  const places = new Places();
  let counting: Counting | undefined;
  let after: Cell | undefined;
  for (;;) {
    const { counts, changed, items, faults } = await store.slice(async (reads) => {
      const now = await reads.counts(collection);
      const found = await reads.items(section, after, sliceSize);
      const intact = found.filter((item) => damagedIn(section, item) === undefined);
      const resources = intact.map((item) => ({ id: String(item[0]), text: String(item[textAt]) }));
      return {
        counts: now,
        changed: counting === undefined ? [] : await changesSince(reads, collection, counting, now.sequence),
        items: found,
        faults: await reads.faults(collection, resources),
      };
    });
    for (const kind of ["keys", "references", "words"] as const)
      for (const id of faults[kind])
        onDamage(`${nameOfResource(name, id)} ${derivedFaults[kind]}. Restore a backup.`);
    counting ??= new Counting(counts);
    const end = after === undefined ? undefined : position(after);
    counting.skip(changed, counts.sequence, ({ id }) => end !== undefined && order(position(id), end) <= 0);
    for (const item of items) {
      const damaged = damagedIn(section, item);
      if (damaged !== undefined) onDamage(damageOf(damaged));
      counting.add(item, Number(item[checksumAt]));
    }
    after = items.at(-1)?.[0];
    if (after === undefined) break;
    places.note(after);
    yield;
  }
  const difference = counting.difference();
  if (difference !== undefined)
    onDamage(`The collection ${name} is damaged in the store: ${difference}. Restore a backup.`);
}

/** Looks for rows that are made from resources, but match none. */
async function* walkDerived(
  { store, onDamage }: WalkParts,
  collection: NumberedCollection,
): AsyncGenerator<void> {
  const { name } = collection;
  for (const kind of ["references", "entries"] as const) {
    const places = new Places();
    let rows = 0;
    for (let after: unknown; ; yield) {
      const found = await store.slice((reads) => reads.surplus(kind, collection, after));
      rows += found.rows;
      after = found.last;
      if (after === undefined) break;
      places.note(after);
    }
    const what = kind === "references" ? "table of references" : "table of index entries";
    if (rows > 0)
      onDamage(
        `The ${what} of ${name} is damaged in the store: ${rows} of its rows match no resource. Restore a backup.`,
      );
  }
}

/** Looks for damaged search words. */
async function* walkWords(
  { store, onDamage }: WalkParts,
  collection: NumberedCollection,
): AsyncGenerator<void> {
  const reason = await store.slice((reads) => reads.brokenWords(collection));
  if (reason !== undefined)
    onDamage(`The search words of ${collection.name} are damaged in the store: ${reason}. Restore a backup.`);
}

/** The changes since the last slice; `undefined` if there are too many, or if the log does not have all of them. */
async function changesSince(
  reads: SliceReads,
  collection: NumberedCollection,
  { sequence, isComparable }: Counting,
  now: number,
): Promise<readonly LoggedRowKey[] | undefined> {
  if (now === sequence) return [];
  if (!isComparable || now - sequence > maxChanged) return undefined;
  try {
    const changes = await reads.changes(collection, sequence, now - sequence);
    return changes.length === now - sequence ? changes : undefined;
  } catch {
    return undefined; // the walk through the log reports the damage
  }
}

/**
 * Counts the resources of a collection as they were at the first slice. It leaves out each resource that changes during the walk,
 * both from the number that the walk finds and from the number in the head.
 */
class Counting {
  readonly #start: CollectionCounts;
  /** The resources that have changed since the first slice. */
  readonly #changed = new Set<unknown>();
  #expected: number;
  #found = 0;
  #checksums = 0;
  sequence: number;
  isComparable = true;

  constructor(start: CollectionCounts) {
    this.#start = start;
    this.#expected = start.count;
    this.sequence = start.sequence;
  }

  /** Leaves out changed resources. `isCounted`: whether the walk has passed the place of a resource. */
  skip(
    changes: readonly LoggedRowKey[] | undefined,
    sequence: number,
    isCounted: (change: LoggedRowKey) => boolean,
  ): void {
    this.sequence = sequence;
    for (const change of changes ?? []) {
      if (this.#changed.has(change.id)) continue;
      this.#changed.add(change.id);
      if (change.kind === "created") continue;
      this.#expected--;
      if (isCounted(change)) this.#found--;
    }
    if (changes === undefined || this.#changed.size > maxChanged) this.isComparable = false;
  }

  /** Counts a resource of the present slice. */
  add([id]: Item, checksum: number): void {
    if (this.#changed.has(id)) return;
    this.#found++;
    this.#checksums = (this.#checksums + checksum) | 0;
  }

  /** The difference between the resources and the head; `undefined` if they agree, or if the walk cannot compare them. */
  difference(): string | undefined {
    if (!this.isComparable) return undefined;
    const missing = this.#expected - this.#found;
    if (missing > 0) return `${missing} of its resources are missing`;
    if (missing < 0) return `it has ${-missing} resources more than were written`;
    const isOld = this.#changed.size === 0 && this.#checksums !== this.#start.checksums;
    return isOld ? "some of its resources are not those that were last written" : undefined;
  }
}

/** Compares the checksums of a change log, and looks for missing changes, and for some that the counter does not know. */
async function* walkLog(
  { store, onDamage }: WalkParts,
  collection: NumberedCollection,
): AsyncGenerator<void> {
  const { name } = collection;
  if (isInternal(name)) return;
  const section = { kind: "changes", collection: name } as const;
  let last = 0;
  for (;;) {
    const { items, counts, forgotten } = await store.slice(async (reads) => {
      const found = await reads.items(section, last, sliceSize);
      const range = { after: last, upTo: Number(found.at(-1)?.[0] ?? last) };
      return {
        items: found,
        counts: await reads.counts(collection),
        forgotten: await reads.forgottenDeletes(collection, range),
      };
    });
    const { sequence: end, gapsUpTo, unloggedUpTo, trimmedUpTo } = counts;
    if ([gapsUpTo, unloggedUpTo, trimmedUpTo].some((each) => each < 0 || each > end)) {
      onDamage(`The counters of the change log of ${name} are damaged in the store. Restore a backup.`);
      return;
    }
    for (const id of forgotten) onDamage(deleteForgotten(name, id));
    const before = last;
    for (const item of items) {
      const sequence = Number(item[0]);
      if (sequence <= last) throw new OutOfOrder();
      if (hasGap(last, sequence, counts)) onDamage(gapBefore(sequence, name));
      last = sequence;
      const damaged = damagedIn(section, item);
      if (damaged !== undefined) onDamage(damageOf(damaged));
    }
    if (items.length === 0) {
      if (lacksEnd(last, counts)) onDamage(endMissing(last, end, name));
      return;
    }
    if (before <= end && last > end)
      onDamage(
        `The change log of ${name} is damaged in the store: it has changes after ${end}, the last one that its counter knows. Restore a backup.`,
      );
    yield;
  }
}

/** What a message says about a delete in the log whose id, or a later version of it, is not in the table of deleted ids. */
function deleteForgotten(collection: string, id: string): string {
  return `The version of the last delete of ${collection}/${id} is missing in the store, so the id could get a version again. Restore a backup.`;
}
