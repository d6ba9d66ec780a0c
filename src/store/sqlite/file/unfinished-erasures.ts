/**
 * Erasures whose resource is gone, but whose text can still be in unused parts of the file and in its log. The transaction of an
 * erasure adds a row to `meta`, and the row stays until the file has been rewritten. A row names its resource by a hash.
 */
import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { PlanRunner, secretPlans } from "../sqlite-dialect.ts";

const prefix = "erased_";
const rows = `meta where name glob '${prefix}*'`;

/** The name of the row for a resource. */
export function erasureName(database: DatabaseSync, collection: number, id: string): string {
  const secret = new PlanRunner(database).run(secretPlans.read());
  const hash = createHash("sha256").update(JSON.stringify([secret, collection, id]));
  return `${prefix}${hash.digest("hex")}`;
}

/** Adds a row, within the transaction of the erasure. */
export function noteErasure(database: DatabaseSync, name: string): void {
  database.prepare("insert or ignore into meta values (?, 0)").run(name);
}

/** The names of all rows. */
export function unfinishedErasures(database: DatabaseSync): readonly string[] {
  return database
    .prepare(`select name from ${rows}`)
    .all()
    .map(({ name }) => String(name));
}

/** Removes all rows, after the file has been rewritten. */
export function forgetErasures(database: DatabaseSync): void {
  database.exec(`delete from ${rows}`);
}

/** Rewrites the file without its unused parts. Throws the error of SQLite. */
export function rewriteFile(database: DatabaseSync): void {
  database.limits.attach = 1; // VACUUM attaches a temporary database
  try {
    database.exec("vacuum");
  } finally {
    database.limits.attach = 0;
  }
}
