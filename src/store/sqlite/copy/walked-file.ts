/** What a walk reads in a store's file (`store/core/walk.ts`). Each slice is a transaction of its own. */
import type { DatabaseSync } from "node:sqlite";
import { entryChanges } from "../../core/entries.ts";
import { type SliceDriver, sliceReads, type WalkedStore } from "../../core/walk.ts";
import { entriesTable, resourcesTable, toSqliteId } from "../file/tables.ts";
import { historyOf } from "../sqlite-dialect.ts";
import { sqliteContents } from "./contents.ts";

/** The rows of the file, on a connection that nothing else uses. Throws the errors of SQLite. */
export function walkedFile(database: DatabaseSync): WalkedStore {
  const driver: SliceDriver = {
    ...sqliteContents(database),
    historyOf,
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
