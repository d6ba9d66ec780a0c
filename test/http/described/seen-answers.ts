/**
 * Collects which responses were documented and which were seen, in a whole run of the tests. Each process writes its
 * part into a folder. A run of single files has no folder.
 */
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The variable that names the folder. */
export const folderVariable = "ANSWERS_SEEN";

const documented = new Set<string>();
const seen = new Set<string>();

/** Records the responses that a document describes. */
export function noteDocumented(names: readonly string[]): void {
  for (const name of names) documented.add(name);
}

/** Records a response. */
export function noteSeen(name: string): void {
  seen.add(name);
}

/** Writes the recorded names into the folder, if there is one. */
export function leaveNames(): void {
  const folder = process.env[folderVariable];
  if (folder === undefined) return;
  const names = JSON.stringify({ documented: [...documented], seen: [...seen] });
  writeFileSync(join(folder, `${randomUUID()}.json`), names);
}

/** The responses that were documented but never seen, according to all files in a folder. */
export function neverSeen(folder: string): string[] {
  const all = readdirSync(folder).map(
    (file) =>
      JSON.parse(readFileSync(join(folder, file), "utf8")) as { documented: string[]; seen: string[] },
  );
  const found = new Set(all.flatMap((each) => each.seen));
  return [...new Set(all.flatMap((each) => each.documented))].filter((name) => !found.has(name)).sort();
}
