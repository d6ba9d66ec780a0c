/** What a walk reads in a store's file (`store/core/walk.ts`). Each slice is a transaction of its own. */
import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import type { NumberedCollection } from "../../core/catalogue.ts";
import { checksumOfResource } from "../../core/checksums.ts";
import { entryChanges, entryOf } from "../../core/entries.ts";
import { searchedWords } from "../../core/search-index.ts";
import {
  type IntactResource,
  type SliceDriver,
  type Surplus,
  sliceReads,
  sliceSize,
  type WalkedStore,
} from "../../core/walk.ts";
import { describeError, failureOf, resultCode } from "../file/failures.ts";
import { entriesTable, resourcesTable, toSqliteId } from "../file/tables.ts";
import { patternOf, searchTable } from "../list/search.ts";
import { sqliteContents } from "./file-copy.ts";

/** The place of an entry in its table. */
interface EntryPlace {
  slot: number;
  k: Uint8Array<ArrayBuffer>;
}

const beforeAll = new Uint8Array();

/**
 * The rows of the file, on a connection that nothing else uses. Throws the errors of SQLite. `isThorough`: also compares all search words
 * with the resources, in one long read.
 */
export function walkedFile(database: DatabaseSync, { isThorough = false } = {}): WalkedStore {
  const driver: SliceDriver = {
    ...sqliteContents(database),
    wordCounts: async (collection, resources) => wordCounts(database, collection, resources),
    async misindexed({ number, idKind, slots, uniqueSlots }, resources) {
      const places = [...slots, ...uniqueSlots];
      if (places.length === 0) return [];
      const entry = database.prepare(
        `select 1 from ${entriesTable(number)} as entry cross join ${resourcesTable(number)} as resource on resource.key = entry.row
         where entry.slot = ? and entry.k = ? and resource.id = ?`,
      );
      const hasEntries = ({ id, text }: { id: string; text: string }) =>
        entryChanges(places, undefined, JSON.parse(text)).added.every(
          ({ slot, key }) => entry.get(slot, key, toSqliteId(idKind, id)) !== undefined,
        );
      return resources.filter((each) => !hasEntries(each)).map(({ id }) => id);
    },
    surplusEntries: async (collection, after) =>
      surplusEntries(database, collection, (after ?? { slot: 0, k: beforeAll }) as EntryPlace),
    async brokenWords(collection) {
      const table = searchTable(collection.number);
      const row = database.prepare("select * from pragma_integrity_check(?)").get(table);
      const [result] = Object.values(row ?? {});
      if (result !== "ok") return String(result);
      searchOnce(database, collection);
      const isCompared = isThorough && collection.numbers.building?.words === undefined;
      return isCompared && !hasAllWords(database, collection)
        ? "they are not the words of the resources"
        : undefined;
    },
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
    report(`The file ${path} is damaged: ${reason}. Restore a backup.`);
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

/** The number of search words of resources. */
function wordCounts(
  database: DatabaseSync,
  { number, idKind }: NumberedCollection,
  resources: readonly IntactResource[],
): ReadonlyMap<string, number> {
  const size = database.prepare(
    `select sz from ${searchTable(number)}_docsize as docsize
      join ${resourcesTable(number)} as resource on resource.key = docsize.id where resource.id = ?`,
  );
  return new Map(
    resources.flatMap(({ id }) => {
      const stored = size.get(toSqliteId(idKind, id));
      return stored === undefined ? [] : [[id, varintOf(stored.sz as Uint8Array)] as const];
    }),
  );
}

/** Whether the index has exactly the words of the resources. Compares the sums of their checksums, and so needs little memory. */
function hasAllWords(database: DatabaseSync, { number, search }: NumberedCollection): boolean {
  let sum = 0;
  const resources = database.prepare(`select key, doc from ${resourcesTable(number)} where json_valid(doc)`);
  for (const { key, doc } of resources.iterate())
    for (const [place, word] of searchedWords(JSON.parse(String(doc)), search).entries())
      sum = (sum + sumOfWord(word, key, place)) | 0;
  // A table of the connection, so the file stays as it is.
  database.exec(
    `create virtual table temp.words_in_index using fts5vocab(main, ${searchTable(number)}, instance)`,
  );
  try {
    const words = database.prepare(
      'select term, doc, "offset" from temp.words_in_index where col is not null',
    );
    for (const { term, doc, offset } of words.iterate())
      sum = (sum - sumOfWord(String(term), doc, offset)) | 0;
  } finally {
    database.exec("drop table temp.words_in_index");
  }
  return sum === 0;
}

function sumOfWord(word: string, key: unknown, place: unknown): number {
  return crc32(`${word} ${place}`, Number(key));
}

/** The number in the form of FTS5: seven bits in each byte, and the eighth one says that another follows. */
function varintOf(bytes: Uint8Array): number {
  return bytes.reduce((sum, byte) => sum * 128 + (byte & 127), 0);
}

/** Makes a search, because the check of FTS5 does not read all of its tables. Throws the error of SQLite. */
function searchOnce(database: DatabaseSync, { number, search }: NumberedCollection): void {
  const some = database.prepare(`select doc from ${resourcesTable(number)} where json_valid(doc) limit 20`);
  const [word] = some.all().flatMap(({ doc }) => searchedWords(JSON.parse(String(doc)), search));
  if (word === undefined) return;
  const table = searchTable(number);
  const found = database.prepare(`select bm25(${table}) from ${table} where ${table} match ? limit 1`);
  found.get(patternOf([word]));
}

/** Counts the entries of one index after a place that match no resource. */
function surplusEntries(
  database: DatabaseSync,
  { name, number, slots, uniqueSlots }: NumberedCollection,
  { slot: from, k }: EntryPlace,
): Surplus {
  const [next] = [...slots, ...uniqueSlots]
    .filter(({ slot }) => slot >= from)
    .sort((a, b) => a.slot - b.slot);
  if (next === undefined) return { rows: 0, last: undefined };
  const { slot } = next;
  const select = database.prepare(
    `select entry.k, id, version, updated_at, doc, checksum from ${entriesTable(number)} as entry
     left join ${resourcesTable(number)} as resource on resource.key = entry.row
     where entry.slot = ? and entry.k > ? order by entry.k limit ?`,
  );
  let [rows, bytes, last] = [0, 0, { slot: slot + 1, k: beforeAll }];
  for (const row of select.iterate(slot, slot === from ? k : beforeAll, sliceSize.items)) {
    last = { slot, k: row.k as Uint8Array<ArrayBuffer> };
    const text = String(row.doc);
    const resource = {
      id: String(row.id),
      version: Number(row.version),
      updatedAt: Number(row.updated_at),
      text,
    };
    // The walk has reported a damaged resource. Its text does not say what key it has.
    const isIntact = row.id !== null && checksumOfResource(name, resource) === row.checksum;
    if (row.id === null || (isIntact && entryOf(JSON.parse(text), next)?.key.equals(last.k) !== true)) rows++;
    bytes += Buffer.byteLength(text);
    if (bytes > sliceSize.bytes) break;
  }
  return { rows, last };
}
