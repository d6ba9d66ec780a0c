/** A temporary database on disk, for data that would not fit into memory. */
import { DatabaseSync } from "node:sqlite";

/** Creates tables in an unnamed temporary file. Only this connection can use the file. Closing the connection removes it. */
export function openTemporaryDatabase(tables: string): DatabaseSync {
  const database = new DatabaseSync("");
  database.exec(`pragma journal_mode = off; ${tables}; begin`);
  return database;
}
