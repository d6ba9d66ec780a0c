/**
 * The seal of a backup: a checksum over all its tables, in a table of its own. It is in the file, so it cannot get lost. A file with a
 * seal must not change. When a service or a command opens it for writing, the seal is checked and removed: the file is a store.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { StartError } from "../../../errors.ts";
import { quoteName } from "./tables.ts";

const sealTable = "seal";

/** After so many rows, signals are handled. */
const rowsPerTurn = 1_000;

/** Seals a file that no other program uses. Throws the error of SQLite. */
export async function seal(path: string): Promise<void> {
  const database = new DatabaseSync(path, { limits: { attach: 0 } });
  try {
    const checksum = await checksumOf(database);
    database.exec(`begin; create table ${sealTable} (checksum text not null) strict`);
    database.prepare(`insert into ${sealTable} values (?)`).run(checksum);
    database.exec("commit");
  } finally {
    database.close();
  }
}

/** Removes the seal of a file, if it has one. */
export function removeSeal(database: DatabaseSync): void {
  database.exec(`drop table if exists ${sealTable}`);
}

/** Throws StartError if a file has a seal and differs from what was sealed. */
export async function requireIntact(path: string): Promise<void> {
  if (!hasSeal(path)) return;
  const database = openUnlocked(path);
  try {
    const expected = database.prepare(`select checksum from ${sealTable}`).get()?.checksum;
    if (expected === (await checksumOf(database))) return;
  } finally {
    database.close();
  }
  throw new StartError(
    `${path} differs from the backup that was made. It was changed, or its disk is damaged. Use another backup.`,
  );
}

/** Whether a file has a seal, and no program can have it open. */
export function hasSeal(path: string): boolean {
  if (mayBeOpen(path) || !existsSync(path)) return false;
  let database: DatabaseSync | undefined;
  try {
    database = openUnlocked(path);
    return database.prepare("select 1 from sqlite_schema where name = ?").get(sealTable) !== undefined;
  } catch {
    return false; // opening the store reports the error
  } finally {
    database?.close();
  }
}

/** Whether a program can have the file open. Each program that reads or writes it creates its log. */
export function mayBeOpen(path: string): boolean {
  return existsSync(`${path}-wal`);
}

/** Opens a file that nothing writes to. SQLite then needs no file beside it, so its folder can be read-only. */
export function openUnlocked(path: string): DatabaseSync {
  return new DatabaseSync(new URL("?immutable=1", pathToFileURL(path)), {
    readOnly: true,
    limits: { attach: 0 },
  });
}

/** SHA-256 of all tables without the seal. Tables of search words have tables inside them, which are listed too. */
async function checksumOf(database: DatabaseSync): Promise<string> {
  const checksum = createHash("sha256");
  const tables = database
    .prepare("select name, sql from sqlite_schema where type = 'table' and name <> ? order by name")
    .all(sealTable);
  let rows = 0;
  for (const { name, sql } of tables) {
    checksum.update(JSON.stringify([name, sql]));
    if (/^create virtual/i.test(String(sql))) continue;
    // The order of the table itself, which no index can change.
    const statement = database.prepare(`select * from ${quoteName(String(name))} not indexed`);
    statement.setReturnArrays(true);
    statement.setReadBigInts(true);
    for (const row of statement.iterate() as Iterable<unknown>) {
      checksum.update((row as unknown[]).map(encoded).join());
      if (++rows % rowsPerTurn === 0) await nextTurn();
    }
  }
  return checksum.digest("hex");
}

/** A value in an unambiguous form. */
function encoded(cell: unknown): string {
  const text = cell instanceof Uint8Array ? Buffer.from(cell).toString("hex") : String(cell);
  return `${typeof cell}:${text.length}:${text}`;
}
