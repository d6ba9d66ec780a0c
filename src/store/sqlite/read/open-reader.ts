/** Reads a store's file beside the process that writes to it. */
import type { StoreReader } from "../../reader.ts";
import { type Catalogue, readCatalogue } from "../file/catalogue.ts";
import { openForReading, requireFile, requireSoundSqlite } from "../file/open-file.ts";
import { hasKeysTable, KeyTable } from "../key-table.ts";
import { Reader } from "./reader.ts";
import { Scans } from "./scan.ts";

/** Opens the store at `path` for reading, whether or not a service has it open. Throws StartError. */
export function openSqliteReader(path: string): StoreReader {
  requireSoundSqlite();
  requireFile(path);
  const database = openForReading(path);
  const reader = new Reader(database);
  const scans = new Scans(path);
  const catalogue: Catalogue = readCatalogue(database);
  return {
    collections: () => catalogue,
    count(name) {
      const collection = catalogue.get(name);
      return collection === undefined ? 0 : reader.head(collection).count;
    },
    async *scan(name) {
      const collection = catalogue.get(name);
      if (collection !== undefined) yield* scans.scan(collection);
    },
    keys: () => (hasKeysTable(database) ? new KeyTable(database).all() : []),
    async close() {
      scans.close();
      database.close();
    },
  };
}
