/** Temporary tables on disk, for data that would not fit into memory. */
import { DatabaseSync } from "node:sqlite";

/** Creates tables in a file that has no name. Only this connection can use it, and closing the connection removes it. */
export function openScratch(tables: string): DatabaseSync {
  const database = new DatabaseSync("");
  database.exec(`pragma journal_mode = off; ${tables}; begin`);
  return database;
}
