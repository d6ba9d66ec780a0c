/** The store's secret in its file. */
import type { DatabaseSync } from "node:sqlite";
import { newSecret, secretNames } from "../../secret.ts";

/** Makes a secret for a file that has none yet. */
export function addSecret(database: DatabaseSync): void {
  if (readSecret(database).length === secretNames.length) return;
  const parts = newSecret();
  const rows = secretNames.map((name, n) => `('${name}', ${parts[n]})`);
  database.exec(`insert or ignore into meta values ${rows.join(", ")}`); // ignores what another program has just inserted
}

/** The parts of the secret; empty if the file has none yet. */
export function readSecret(database: DatabaseSync): readonly number[] {
  const find = database.prepare("select value from meta where name = ?");
  return secretNames.flatMap((name) => {
    const row = find.get(name);
    return row === undefined ? [] : [Number(row.value)];
  });
}

/** Replaces the secret with that of another store. */
export function replaceSecret(database: DatabaseSync, parts: readonly number[]): void {
  const put = database.prepare("update meta set value = ? where name = ?");
  for (const [n, name] of secretNames.entries()) put.run(parts[n] as number, name);
}
