/**
 * Collects which responses were documented and which were seen, in a whole run of the tests. Each process writes its
 * part into a folder. A run of single files has no folder. `npm test` keeps what it has seen for the `npm run test:all` that follows.
 */
import { hash, randomUUID } from "node:crypto";
import { globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
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

interface Names {
  documented: readonly string[];
  seen: readonly string[];
}

/** What the processes have written into a folder. */
export function namesIn(folder: string): Names {
  const all = readdirSync(folder).map(
    (file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as Names,
  );
  return {
    documented: [...new Set(all.flatMap((each) => each.documented))],
    seen: [...new Set(all.flatMap((each) => each.seen))],
  };
}

/** The responses that were documented but never seen. */
export function neverSeen(all: readonly Names[]): string[] {
  const seen = new Set(all.flatMap((each) => each.seen));
  return [...new Set(all.flatMap((each) => each.documented))].filter((name) => !seen.has(name)).sort();
}

/** Keeps what a whole run has seen. */
export function keepNames(names: Names): void {
  mkdirSync("test-results", { recursive: true });
  writeFileSync(keptFile(), JSON.stringify(names));
}

/** What a whole run with the same sources and tests has seen; `undefined` if there was none. */
export function keptNames(): Names | undefined {
  const [file] = globSync(keptFile());
  return file === undefined ? undefined : (JSON.parse(readFileSync(file, "utf8")) as Names);
}

/** Other sources or tests have another file. */
function keptFile(): string {
  const texts = globSync("{src,test}/**/*.ts", { exclude: (path) => path.endsWith("node_modules") }).sort();
  const digest = hash("sha256", texts.map((file) => readFileSync(file, "utf8")).join("\0"), "hex");
  return join("test-results", `answers-${digest.slice(0, 16)}.json`);
}
