/**
 * Which answers were documented, and which of them were seen, in a whole run of the tests: each file runs in a process of its
 * own and leaves what it knows in a folder. A run of single files has no folder, and leaves nothing.
 */
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The variable that names the folder. */
export const folderVariable = "ANSWERS_SEEN";

const documented = new Set<string>();
const seen = new Set<string>();

/** Notes what a document tells of. */
export function noteDocumented(names: readonly string[]): void {
  for (const name of names) documented.add(name);
}

/** Notes an answer that was given. */
export function noteSeen(name: string): void {
  seen.add(name);
}

/** Leaves what was noted in the folder, where there is one. */
export function leaveNames(): void {
  const folder = process.env[folderVariable];
  if (folder === undefined) return;
  const names = JSON.stringify({ documented: [...documented], seen: [...seen] });
  writeFileSync(join(folder, `${randomUUID()}.json`), names);
}

/** What was documented and never seen, by all that was left in a folder. */
export function neverSeen(folder: string): string[] {
  const all = readdirSync(folder).map(
    (file) =>
      JSON.parse(readFileSync(join(folder, file), "utf8")) as { documented: string[]; seen: string[] },
  );
  const found = new Set(all.flatMap((each) => each.seen));
  return [...new Set(all.flatMap((each) => each.documented))].filter((name) => !found.has(name)).sort();
}
