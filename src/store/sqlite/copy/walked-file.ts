/** What a walk reads in a store's file (`store/core/walk.ts`). Each slice is a transaction of its own. */
import type { DatabaseSync } from "node:sqlite";
import type { NumberedCollection } from "../../core/catalogue.ts";
import { checksumOfResource } from "../../core/checksums.ts";
import { entryChanges, entryOf } from "../../core/entries.ts";
import { type SliceDriver, type Surplus, sliceReads, sliceSize, type WalkedStore } from "../../core/walk.ts";
import { entriesTable, resourcesTable, toSqliteId } from "../file/tables.ts";
import { searchTable } from "../list/search.ts";
import { sqliteContents } from "./file-copy.ts";

/** The place of an entry in its table. */
interface EntryPlace {
  slot: number;
  k: Uint8Array<ArrayBuffer>;
}

const beforeAll = new Uint8Array();

/** The rows of the file, on a connection that nothing else uses. Throws the errors of SQLite. */
export function walkedFile(database: DatabaseSync): WalkedStore {
  const driver: SliceDriver = {
    ...sqliteContents(database),
    wordCountOf: (number) => `${searchTable(number)}_docsize as words where words.id = resource.key`,
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
    async brokenWords({ number }) {
      const row = database.prepare("select * from pragma_integrity_check(?)").get(searchTable(number));
      const [result] = Object.values(row ?? {});
      return result === "ok" ? undefined : String(result);
    },
  };
  return {
    async slice(work) {
      database.exec("begin");
      try {
        return await work(sliceReads(driver));
      } finally {
        database.exec("commit");
      }
    },
  };
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
