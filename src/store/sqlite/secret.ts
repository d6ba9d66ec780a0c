/** The store's secret in its file. */
import type { DatabaseSync } from "node:sqlite";
import { newSecret, secretNames } from "../secret.ts";

/** Draws the secret of a file that has none yet. */
export function addSecret(database: DatabaseSync): void {
  if (readSecret(database).length === secretNames.length) return;
  const parts = newSecret();
  const rows = secretNames.map((name, n) => `('${name}', ${parts[n]})`);
  database.exec(`insert or ignore into meta values ${rows.join(", ")}`); // another program may have been faster
}

/** The parts of the secret; none where the file has none yet. */
export function readSecret(database: DatabaseSync): readonly number[] {
  const find = database.prepare("select value from meta where name = ?");
  return secretNames.flatMap((name) => {
    const row = find.get(name);
    return row === undefined ? [] : [Number(row.value)];
  });
}

/** Puts the secret of another store in the place of this one's. */
export function replaceSecret(database: DatabaseSync, parts: readonly number[]): void {
  const put = database.prepare("update meta set value = ? where name = ?");
  for (const [n, name] of secretNames.entries()) put.run(parts[n] as number, name);
}
