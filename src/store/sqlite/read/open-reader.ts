/** Reads a store's file while another process can write to it. */
import { walkAtOnce } from "../../core/walk.ts";
import type { StoreReader } from "../../port/reader.ts";
import { walkedFile } from "../copy/walked-file.ts";
import { readCatalogue } from "../file/catalogue.ts";
import { openForReading, requireFile, requireSafeSqlite } from "../file/open-file.ts";
import { keyPlans, PlanRunner } from "../sqlite-dialect.ts";
import { Reader } from "./reader.ts";
import { Scans } from "./scan.ts";

/** Opens the store at `path` for reading. A service can have it open at the same time. Throws StartError. */
export function openSqliteReader(path: string): StoreReader {
  requireSafeSqlite();
  requireFile(path);
  const database = openForReading(path);
  const reader = new Reader(database);
  const scans = new Scans(path);
  const catalogue = readCatalogue(database);
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
    async findDamage(report) {
      const own = openForReading(path);
      try {
        return await walkAtOnce(walkedFile(own), report);
      } finally {
        own.close();
      }
    },
    keys: () => new PlanRunner(database).run(keyPlans.all()),
    async close() {
      scans.close();
      database.close();
    },
  };
}
