/** What a walk reads in a store's file (`store/core/walk.ts`). Each slice is a transaction of its own. */
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { Slot } from "../../core/access-path.ts";
import type { NumberedCollection } from "../../core/catalogue.ts";
import { checksumOfResource } from "../../core/checksums.ts";
import { entryOf, type UniqueSlot } from "../../core/entries.ts";
import { type Fault, nameOfPlace } from "../../core/findings.ts";
import { searchedWords } from "../../core/search-index.ts";
import {
  type IntactResource,
  type SliceDriver,
  type Surplus,
  sliceReads,
  sliceSize,
} from "../../core/slice-reads.ts";
import type { WalkedStore } from "../../core/walk.ts";
import { describeError, failureOf, resultCode } from "../file/failures.ts";
import { entriesTable, resourcesTable, toSqliteId, valueColumns } from "../file/tables.ts";
import { withBigIntsIfNeeded } from "../file/wide-integers.ts";
import { searchTable } from "../list/search.ts";
import { entryCells } from "../writer/entry-tables.ts";
import { sqliteContents } from "./file-copy.ts";
import { brokenWords } from "./walked-words.ts";

/** The place of an entry in its table. */
interface EntryPlace {
  slot: number;
  k: Uint8Array<ArrayBuffer>;
}

const beforeAll = new Uint8Array();

/**
 * The rows of the file, on a connection that nothing else uses. Throws the errors of SQLite. `isThorough`: also compares all search words
 * with the resources, and counts all stored responses, in one long read each.
 */
export function walkedFile(database: DatabaseSync, { isThorough = false } = {}): WalkedStore {
  const driver: SliceDriver = {
    ...sqliteContents(database),
    isThorough,
    ownCounters: ["built_to"],
    derivedTables: { keys: "entries", words: "search" },
    miscounted: async (collection, resources) => miscounted(database, collection, resources),
    keyFaults: async (collection, resources) => entryFaults(database, collection, resources),
    surplusEntries: async (collection, after) =>
      surplusEntries(database, collection, (after ?? { slot: 0, k: beforeAll }) as EntryPlace),
    brokenWords: async (collection) => brokenWords(database, collection, isThorough),
    wrongKeys: async ({ number }) =>
      ["key < 1", `key > ${Number.MAX_SAFE_INTEGER}`].flatMap((condition) =>
        database
          .prepare(`select cast(id as text) as id from ${resourcesTable(number)} where ${condition} limit 20`)
          .all()
          .map(({ id }) => String(id)),
      ),
  };
  return {
    async slice(work) {
      database.exec("begin");
      try {
        return await work(sliceReads(driver));
      } finally {
        if (database.isTransaction) database.exec("commit"); // some errors end the transaction
      }
    },
    damageIn: (error) => (isPassing(error) ? undefined : describeError(error)),
  };
}

/** Whether an error says nothing about the file: it is locked, the disk is full, or there is too little memory. */
function isPassing(error: unknown): boolean {
  return ["busy", "full"].includes(failureOf(error)) || resultCode(error) === outOfMemory;
}

/** SQLITE_NOMEM */
const outOfMemory = 7;

/** The most that SQLite says about a file. */
const maxFaults = 20;

/** Reads every page of the file. Calls `report` with a text for each fault, and returns whether there was one. Throws the errors of SQLite. */
export function findBrokenPages(
  database: DatabaseSync,
  path: string,
  report: (text: string) => void,
): boolean {
  let isBroken = false;
  const note = (reason: string) => {
    isBroken = true;
    report(
      `The file ${path} is damaged: ${reason}. Requests that read this part of it fail, or lack data. Restore a backup.`,
    );
  };
  try {
    const rows = database.prepare(`pragma integrity_check(${maxFaults})`);
    for (const { integrity_check: fault } of rows.iterate())
      if (fault !== "ok") note(String(fault).replaceAll("\n", ", "));
  } catch (error) {
    if (isPassing(error)) throw error;
    note(describeError(error));
  }
  return isBroken;
}

/** Compares the entries of resources with their texts. */
function entryFaults(
  database: DatabaseSync,
  { number, idKind, slots, uniqueSlots }: NumberedCollection,
  resources: readonly IntactResource[],
): readonly Fault[] {
  const places = [...slots, ...uniqueSlots];
  if (places.length === 0) return [];
  const select = database.prepare(
    `select ${valueColumns.map((name) => `entry.${name}`).join(", ")} from ${entriesTable(number)} as entry
     cross join ${resourcesTable(number)} as resource on resource.key = entry.row
     where entry.slot = ? and entry.k = ? and resource.id = ?`,
  );
  select.setReturnArrays(true);
  return resources.flatMap(({ id, text }) => {
    const attributes = JSON.parse(text);
    return places.flatMap((place): Fault[] => {
      const entry = entryOf(attributes, place);
      if (entry === undefined) return [];
      const of = nameOfPlace(place);
      const read = () => select.get(entry.slot, entry.key, toSqliteId(idKind, id)) as unknown as Cells;
      const stored = withBigIntsIfNeeded(select, read);
      if (stored === undefined) return [{ id, kind: "index" in place ? "entry" : "unique", of }];
      const values = entryCells(entry, 0).slice(-valueColumns.length);
      return values.every((value, n) => isSameCell(value, stored[n])) ? [] : [{ id, kind: "value", of }];
    });
  });
}

type Cells = readonly unknown[] | undefined;

function isSameCell(wanted: SQLInputValue, stored: unknown): boolean {
  if (!ArrayBuffer.isView(wanted)) return wanted === stored;
  return (
    stored instanceof Uint8Array &&
    Buffer.from(wanted.buffer, wanted.byteOffset, wanted.byteLength).equals(stored)
  );
}

/** The resources whose number of search words in the index is another one than in their texts. */
function miscounted(
  database: DatabaseSync,
  { number, idKind, search }: NumberedCollection,
  resources: readonly IntactResource[],
): readonly string[] {
  const size = database.prepare(
    `select sz from ${searchTable(number)}_docsize as docsize
      join ${resourcesTable(number)} as resource on resource.key = docsize.id where resource.id = ?`,
  );
  const countOf = (id: string) => {
    const stored = size.get(toSqliteId(idKind, id))?.sz;
    return stored instanceof Uint8Array ? varintOf(stored) : undefined;
  };
  return resources
    .filter(({ id, text }) => countOf(id) !== searchedWords(JSON.parse(text), search).length)
    .map(({ id }) => id);
}

/** The number in the form of FTS5: seven bits in each byte, and the eighth one says that another follows. */
function varintOf(bytes: Uint8Array): number {
  return bytes.reduce((sum, byte) => sum * 128 + (byte & 127), 0);
}

/** Looks for entries after a place that match no resource. Those that a build removes match none, and no read uses them. */
function surplusEntries(
  database: DatabaseSync,
  { name, number, places, numbers }: NumberedCollection,
  { slot: from, k }: EntryPlace,
): Surplus {
  const bySlot = new Map<number, Slot | UniqueSlot>(places.map((place) => [place.slot, place]));
  const unused = numbers.building?.unused ?? [];
  const select = database.prepare(
    `select entry.slot, entry.k, id, version, updated_at, doc, checksum from ${entriesTable(number)} as entry
     left join ${resourcesTable(number)} as resource on resource.key = entry.row
     where (entry.slot, entry.k) > (?, ?) order by entry.slot, entry.k limit ?`,
  );
  return withBigIntsIfNeeded(select, () => {
    const rows: string[] = [];
    let bytes = 0;
    let last: EntryPlace | undefined;
    for (const row of select.iterate(from, k, sliceSize.items)) {
      last = { slot: Number(row.slot), k: row.k as Uint8Array<ArrayBuffer> };
      const place = bySlot.get(last.slot);
      const text = String(row.doc);
      if (place === undefined && !unused.includes(last.slot))
        rows.push(`no index has the number ${last.slot}`);
      else if (place !== undefined && row.id === null) rows.push(`"${nameOfPlace(place)}", for no resource`);
      else if (place !== undefined) {
        const id = String(row.id);
        const resource = { id, version: Number(row.version), updatedAt: Number(row.updated_at), text };
        // The walk has reported a damaged resource. Its text does not say what key it has.
        const isIntact = checksumOfResource(name, resource) === Number(row.checksum);
        if (isIntact && entryOf(JSON.parse(text), place)?.key.equals(last.k) !== true)
          rows.push(`"${nameOfPlace(place)}", for the resource ${name}/${id}, which has another value`);
      }
      bytes += Buffer.byteLength(text);
      if (bytes > sliceSize.bytes) break;
    }
    return { rows, last };
  });
}
