/** The secret of a store in its file. */
import type { DatabaseSync } from "node:sqlite";
import { newSecret, secretNames } from "../../core/secret.ts";

/** Creates the secret if the file does not have one. */
export function addSecret(database: DatabaseSync): void {
  if (readSecret(database).length === secretNames.length) return;
  const parts = newSecret();
  const rows = secretNames.map((name, n) => `('${name}', ${parts[n]})`);
  database.exec(`insert or ignore into meta values ${rows.join(", ")}`); // another program can have inserted them first
}

/** The parts of the secret. Empty if the file does not have one yet. */
export function readSecret(database: DatabaseSync): readonly number[] {
  const find = database.prepare("select value from meta where name = ?");
  return secretNames.flatMap((name) => {
    const row = find.get(name);
    return row === undefined ? [] : [Number(row.value)];
  });
}

/** Replaces the secret with that of another store. */
export function replaceSecret(database: DatabaseSync, parts: readonly number[]): void {
  const update = database.prepare("update meta set value = ? where name = ?");
  for (const [n, name] of secretNames.entries()) update.run(parts[n] as number, name);
}
