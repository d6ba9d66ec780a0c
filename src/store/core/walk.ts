/**
 * A slow walk through all rows of a store, after a start and once a week. It finds damage that no request reads: rows whose
 * checksums are wrong, rows that are missing, resources that an index lacks, and rows of an index that match no resource. Each
 * slice has its own snapshot and takes a few milliseconds. The service continues to write in between.
 */
import { idIn, integerOf } from "../../collection/ids.ts";
import { StartError } from "../../errors.ts";
import { comparePositions } from "../../query/sort.ts";
import { isInternal } from "../port/record.ts";
import type { NumberedCollection } from "./catalogue.ts";
import type { LoggedRowKey } from "./changes-since.ts";
import { isDamage } from "./checksums.ts";
import {
  type Cell,
  damagedIn,
  endMissing,
  gapBefore,
  hasGap,
  type Item,
  lacksEnd,
  placeOf,
  type Section,
  tableOfSection,
} from "./copy/contents.ts";
import {
  brokenWords,
  damagedRow,
  deleteForgotten,
  faultOf,
  laterChanges,
  lostRow,
  loweredLastId,
  missingChanges,
  surplusRows,
  unreadable,
  wrongContents,
  wrongCounters,
  wrongFolds,
  wrongKey,
  wrongNumber,
} from "./findings.ts";
import type { CollectionCounts } from "./log-plans.ts";
import { type SliceReads, sliceSize } from "./slice-reads.ts";
import { wrongNumbers } from "./store-numbers.ts";

/** When walks begin, and how long they pause after each slice. In milliseconds. */
export const walkTimes = { initialDelayMs: 250, pauseMs: 100, everyMs: 7 * 24 * 3_600_000 };

/** A finding about several rows names at most this many of them. */
const maxNamed = 3;

/** A walk reports at most this many findings. */
const maxReported = 20;

/** If more resources change while a walk reads their collection, their number is not compared. */
const maxChanged = 50_000;

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
  const parts: WalkParts = { store, onDamage, highest: { group: 0, ids: new Map() } };
  /** What lies behind a part that cannot be read is walked too. */
  async function* walkPart(what: string, steps: AsyncGenerator<void>): AsyncGenerator<void> {
    try {
      yield* steps;
    } catch (error) {
      const reason = error instanceof OutOfOrder ? error.message : store.damageIn(error);
      if (reason === undefined) throw error;
      const isWhole = error instanceof StartError || isDamage(error);
      onDamage(isWhole ? reason : unreadable(what, reason));
    }
  }
  for (const kind of ["keys", "receipts"] as const)
    yield* walkPart(kind === "keys" ? "An API key" : "A stored response", walkRows(parts, { kind }));
  let collections: readonly NumberedCollection[] = [];
  async function* readCatalogue(): AsyncGenerator<void> {
    await store.slice(async (reads) => {
      const found = await reads.catalogue();
      ({ collections } = found);
      for (const text of found.damage) onDamage(text);
      for (const { number, table } of await reads.lost()) onDamage(lostRow(number, table));
    });
  }
  yield* walkPart("The declaration of a collection", readCatalogue());
  for (const collection of collections) {
    const { name } = collection;
    yield* walkPart(`The counters of ${name}`, walkCounters(parts, collection));
    yield* walkPart(`A resource of ${name}`, walkCollection(parts, collection));
    yield* walkPart(`A reference or an index of ${name}`, walkDerived(parts, collection));
    yield* walkPart(`The search words of ${name}`, walkWords(parts, collection));
    yield* walkPart(`The change log of ${name}`, walkLog(parts, collection));
    yield* walkPart(
      `A deleted id of ${name}`,
      walkRows(parts, { kind: "deleted", collection: name }, collection),
    );
    yield* walkPart(`The last id of ${name}`, walkLastId(parts, collection));
  }
  yield* walkPart("A number of the store", walkNumbers(parts));
  yield* walkPart("A folded character", walkFolds(parts));
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

/**
 * The places at which slices ended. Throws OutOfOrder if they repeat. It keeps one place, and later ones ever more rarely, so it needs no more
 * memory for a large store (Brent's algorithm).
 */
class Places {
  #kept: string | undefined;
  #steps = 0;
  #most = 1;

  note(place: unknown): void {
    const name = JSON.stringify(place, (_, value) =>
      value instanceof Uint8Array ? [...value] : typeof value === "bigint" ? String(value) : value,
    );
    if (name === this.#kept) throw new OutOfOrder();
    if (++this.#steps < this.#most) return;
    this.#kept = name;
    this.#steps = 0;
    this.#most *= 2;
  }
}

interface WalkParts {
  store: WalkedStore;
  onDamage: (text: string) => void;
  /** The highest numbers that intact rows have: of a group, and of an integer id by collection. The store must know them. */
  highest: { group: number; ids: Map<string, number> };
}

/** Notes the integer id of a row. */
function noteId({ highest }: WalkParts, { name, idKind }: NumberedCollection, id: Cell | undefined): void {
  const integer = integerOf(idKind, String(id));
  if (integer !== undefined) highest.ids.set(name, Math.max(highest.ids.get(name) ?? 0, integer));
}

/** Compares the checksums of a section. */
async function* walkRows(
  parts: WalkParts,
  section: Exclude<Section, { kind: "resources" | "changes" }>,
  collection?: NumberedCollection,
): AsyncGenerator<void> {
  const { store, onDamage } = parts;
  const places = new Places();
  let after: Cell | undefined;
  for (;;) {
    const items = await store.slice(async (reads) => {
      const found = await reads.items(section, after, sliceSize);
      for (const item of found) {
        const damaged = damagedIn(section, item);
        const table = reads.table(tableOfSection(section, collection?.number));
        if (damaged !== undefined) onDamage(damagedRow(section, damaged, table));
        else if (collection !== undefined) noteId(parts, collection, item[0]);
      }
      return found;
    });
    after = items.at(-1)?.[0];
    if (after === undefined) return;
    places.note(after);
    yield;
  }
}

/** Looks at the row with the counters of a collection, and at the keys of its resources. */
async function* walkCounters(
  { store, onDamage }: WalkParts,
  collection: NumberedCollection,
): AsyncGenerator<void> {
  const { name } = collection;
  await store.slice(async (reads) => {
    const columns = await reads.wrongCounters(collection);
    if (columns.length > 0) onDamage(wrongCounters(name, columns, reads.table("heads")));
    const table = reads.table(`resources_${collection.number}`);
    for (const id of await reads.wrongKeys(collection)) onDamage(wrongKey(name, id, table));
  });
  yield;
}

/** Compares the checksums of the resources of a collection, and their number and sum with its head. */
async function* walkCollection(parts: WalkParts, collection: NumberedCollection): AsyncGenerator<void> {
  const { store, onDamage } = parts;
  const { name, idKind, number } = collection;
  const section = { kind: "resources", collection: name } as const;
  const [textAt, checksumAt] = [placeOf("resources", "doc"), placeOf("resources", "checksum")];
  const order = comparePositions([]);
  const position = (id: Cell) => [idIn(idKind, String(id))];
  const places = new Places();
  let counting: Counting | undefined;
  let after: Cell | undefined;
  let table = "";
  for (;;) {
    const { counts, changed, items } = await store.slice(async (reads) => {
      const now = await reads.counts(collection);
      const found = await reads.items(section, after, sliceSize);
      table = reads.table(tableOfSection(section, number));
      const intact = found.filter((item) => {
        const damaged = damagedIn(section, item);
        if (damaged !== undefined) onDamage(damagedRow(section, damaged, table));
        return damaged === undefined;
      });
      for (const [id] of intact) noteId(parts, collection, id);
      const resources = intact.map((item) => ({ id: String(item[0]), text: String(item[textAt]) }));
      for (const fault of await reads.faults(collection, resources))
        onDamage(faultOf(name, fault, reads.tableOf(fault.kind, collection)));
      return {
        counts: now,
        changed: counting === undefined ? [] : await changesSince(reads, collection, counting, now.sequence),
        items: found,
      };
    });
    counting ??= new Counting(counts);
    const end = after === undefined ? undefined : position(after);
    counting.skip(changed, counts.sequence, ({ id }) => end !== undefined && order(position(id), end) <= 0);
    for (const item of items) counting.add(item, Number(item[checksumAt]));
    after = items.at(-1)?.[0];
    if (after === undefined) break;
    places.note(after);
    yield;
  }
  const difference = counting.difference();
  if (difference !== undefined) onDamage(wrongContents(name, difference, table));
}

/** Looks for rows that are made from resources, but match none. */
async function* walkDerived(
  { store, onDamage }: WalkParts,
  collection: NumberedCollection,
): AsyncGenerator<void> {
  const { name } = collection;
  for (const kind of ["references", "entries", "words"] as const) {
    const places = new Places();
    let table = "";
    const rows: string[] = [];
    let count = 0;
    for (let after: unknown; ; yield) {
      const found = await store.slice((reads) => {
        table = reads.tableOf(kind, collection);
        return reads.surplus(kind, collection, after);
      });
      count += found.rows.length;
      rows.push(...found.rows.slice(0, maxNamed - rows.length));
      after = found.last;
      if (after === undefined) break;
      places.note(after);
    }
    if (count > 0) onDamage(surplusRows(kind, { count, rows }, { collection: name, table }));
  }
}

/** Looks for damaged search words. */
async function* walkWords(
  { store, onDamage }: WalkParts,
  collection: NumberedCollection,
): AsyncGenerator<void> {
  await store.slice(async (reads) => {
    const reason = await reads.brokenWords(collection);
    if (reason !== undefined)
      onDamage(brokenWords(collection.name, reason, reads.tableOf("words", collection)));
  });
  yield;
}

/** Compares the last id of a collection with the ids that the walk has seen. It is read after them, because it only grows. */
async function* walkLastId(
  { store, onDamage, highest }: WalkParts,
  collection: NumberedCollection,
): AsyncGenerator<void> {
  const { name } = collection;
  const seen = highest.ids.get(name);
  if (seen === undefined) return;
  await store.slice(async (reads) => {
    const lastId = await reads.lastId(collection);
    if (lastId < seen) onDamage(loweredLastId(name, { lastId, highest: seen }, reads.table(reads.lastIds)));
  });
  yield;
}

/** Looks at the numbers of the whole store. They are read after the logs, because the last group only grows. */
async function* walkNumbers({ store, onDamage, highest }: WalkParts): AsyncGenerator<void> {
  await store.slice(async (reads) => {
    const known = { groups: highest.group, receipts: await reads.receipts() };
    for (const wrong of wrongNumbers(await reads.numbers(), known))
      onDamage(wrongNumber(wrong, reads.table("meta")));
  });
  yield;
}

async function* walkFolds({ store, onDamage }: WalkParts): AsyncGenerator<void> {
  await store.slice(async (reads) => {
    const characters = await reads.wrongFolds();
    if (characters.length > 0) onDamage(wrongFolds(characters, reads.table("folds")));
  });
  yield;
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
async function* walkLog(parts: WalkParts, collection: NumberedCollection): AsyncGenerator<void> {
  const { store, onDamage, highest } = parts;
  const { name, number } = collection;
  if (isInternal(name)) return;
  const section = { kind: "changes", collection: name } as const;
  const [idAt, groupAt] = [placeOf("changes", "id"), placeOf("changes", "group")];
  let last = 0;
  let hasHole = false;
  for (;;) {
    const { items, counts, table, headsTable } = await store.slice(async (reads) => {
      const found = await reads.items(section, last, sliceSize);
      const range = { after: last, upTo: Number(found.at(-1)?.[0] ?? last) };
      for (const id of await reads.forgottenDeletes(collection, range))
        onDamage(deleteForgotten(name, id, reads.table(`deleted_${number}`)));
      return {
        items: found,
        counts: await reads.counts(collection),
        table: reads.table(tableOfSection(section, number)),
        headsTable: reads.table("heads"),
      };
    });
    const { sequence: end, gapsUpTo, unloggedUpTo, trimmedUpTo } = counts;
    // Reported with the other counters. Nothing can be compared with these.
    if ([gapsUpTo, unloggedUpTo, trimmedUpTo].some((each) => each < 0 || each > end)) return;
    const before = last;
    for (const item of items) {
      const sequence = Number(item[0]);
      if (sequence <= last) throw new OutOfOrder();
      const from = Math.max(last, trimmedUpTo) + 1;
      hasHole ||= from < sequence && from <= gapsUpTo;
      if (hasGap(last, sequence, counts)) onDamage(missingChanges(gapBefore(sequence, name), table));
      last = sequence;
      const damaged = damagedIn(section, item);
      if (damaged !== undefined) onDamage(damagedRow(section, damaged, table));
      else {
        noteId(parts, collection, item[idAt]);
        highest.group = Math.max(highest.group, Number(item[groupAt] ?? 0));
      }
    }
    if (items.length === 0) {
      if (lacksEnd(last, counts)) onDamage(missingChanges(endMissing(last, end, name), table));
      // An erase, or a time without history, leaves a hole.
      else if (gapsUpTo > trimmedUpTo && last >= gapsUpTo && !hasHole)
        onDamage(wrongCounters(name, ["gaps_up_to"], headsTable));
      return;
    }
    if (before <= end && last > end) onDamage(laterChanges(name, end, table));
    yield;
  }
}
