/** A place on the disk for what would be too much for memory. */
import { DatabaseSync } from "node:sqlite";

/** Makes tables that only the caller can see, and of which nothing is left once they are closed. */
export function openScratch(tables: string): DatabaseSync {
  const database = new DatabaseSync(""); // a file without a name, which only this connection can open
  database.exec(`pragma journal_mode = off; ${tables}; begin`);
  return database;
}
