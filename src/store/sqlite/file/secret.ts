/** The secret of a store in its file. */
import type { DatabaseSync } from "node:sqlite";
import { newSecret, secretNames } from "../../core/secret.ts";

/** Adds a secret to a new file. */
export function addSecret(database: DatabaseSync): void {
  const insert = database.prepare("insert into meta values (?, ?)");
  for (const [n, part] of newSecret().entries()) insert.run(secretNames[n] as string, part);
}

/** The parts of the secret. */
export function readSecret(database: DatabaseSync): readonly number[] {
  const find = database.prepare("select value from meta where name = ?");
  return secretNames.map((name) => Number(find.get(name)?.value));
}

/** Replaces the secret with that of another store. */
export function replaceSecret(database: DatabaseSync, parts: readonly number[]): void {
  const update = database.prepare("update meta set value = ? where name = ?");
  for (const [n, name] of secretNames.entries()) update.run(parts[n] as number, name);
}
