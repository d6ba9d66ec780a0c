/** `holdfast backup`: backs up one moment of a store into a new file, once or again and again. */
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { StartError } from "../errors.ts";
import { isPostgresUrl } from "../store/address.ts";
import { requireStore, type StoreAddress, sealBackup } from "../store/open.ts";
import { described } from "./copy-command.ts";
import { configOf, type Environment, type Flags, parseDuration } from "./flags.ts";
import { backUpInto, createFile, removeAbandoned, workFolderOf } from "./new-file.ts";
import { interruptible, say, shell } from "./shell.ts";
import { messageOf, sized, timeSince, toOneLine } from "./wording.ts";

/** Backs up the configured store. Throws StartError if the file exists, or if the backup fails. */
export async function runBackup(
  file: string,
  { every, keep, ...flags }: Flags,
  env: Environment,
): Promise<void> {
  requireFileName(file);
  const path = resolve(shell().cwd(), file);
  const everyMs = every === undefined ? undefined : readEvery(String(every));
  const kept = readKeep(keep, everyMs);
  const { store } = await configOf(flags, env);
  requireStore(store);
  const unfinished = everyMs === undefined ? "no backup was made" : "the last backup was not finished";
  await interruptible(`interrupted; ${unfinished}`, async (signal) => {
    if (everyMs === undefined) await backUp(store, { path, name: file }, signal);
    else await backUpAgainAndAgain(store, path, { everyMs, kept, signal });
  });
}

/** An address would become a file or a folder with a surprising name, such as `sqlite:shop.db`. */
function requireFileName(file: string): void {
  if (/^sqlite:/.test(file) || isPostgresUrl(file))
    throw new StartError(
      `A backup is a file, but "${file}" is the address of a store. Give the path of a new file, such as shop-backup.db.`,
    );
}

function readEvery(text: string): number {
  const everyMs = parseDuration(text, "--every");
  if (everyMs > 0) return everyMs;
  throw new StartError(`--every must be longer than "${text}", such as 6h.`);
}

function readKeep(keep: unknown, everyMs: number | undefined): number | undefined {
  if (keep === undefined) return undefined;
  if (everyMs === undefined) throw new StartError("--keep needs --every: one backup removes no others.");
  const kept = Number(keep);
  if (Number.isInteger(kept) && kept >= 1) return kept;
  throw new StartError(`--keep must be the number of backups to keep, such as 7, not "${keep}".`);
}

interface Repetition {
  everyMs: number;
  kept: number | undefined;
  signal: AbortSignal;
}

/** A backup that fails is reported, and the next one is made at its time. A signal between two backups is the normal end. */
async function backUpAgainAndAgain(
  store: StoreAddress,
  path: string,
  { everyMs, kept, signal }: Repetition,
): Promise<void> {
  while (!signal.aborted) {
    const start = Date.now();
    try {
      removeAbandonedFolders(path);
      await backUp(store, { path: withTime(path, start), name: withTime(path, start) }, signal);
      if (kept !== undefined) removeOlder(path, kept);
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      say(messageOf(error));
    }
    await sleepUntil(start + everyMs, signal);
  }
}

/** The longest time that a timer accepts, in milliseconds. A longer one ends at once. */
const maxSleepMs = 2 ** 31 - 1;

async function sleepUntil(time: number, signal: AbortSignal): Promise<void> {
  for (let ms = time - Date.now(); ms > 0 && !signal.aborted; ms = time - Date.now())
    await sleep(Math.min(ms, maxSleepMs), undefined, { signal }).catch(() => {});
}

/** `shop.db` at 18:30 becomes `shop-20261122T183000Z.db`. */
function withTime(path: string, now: number): string {
  const time = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const ending = extname(path);
  return join(dirname(path), `${basename(path, ending)}-${time}${ending}`);
}

/** The names in the folder of a path that `withTime` makes, with this suffix, oldest first. */
function namesWithTime(path: string, suffix = ""): string[] {
  const ending = `${extname(path)}${suffix}`;
  const start = `${basename(path, extname(path))}-`;
  const hasTime = (name: string) =>
    name.startsWith(start) &&
    name.endsWith(ending) &&
    /^\d{8}T\d{6}Z$/.test(name.slice(start.length, name.length - ending.length));
  return readdirSync(dirname(path)).filter(hasTime).sort();
}

/** Removes the folders that killed backups have left. The names have times, so no later backup would use them. */
function removeAbandonedFolders(path: string): void {
  if (!existsSync(dirname(path))) return;
  for (const name of namesWithTime(path, workFolderOf(""))) {
    const folder = join(dirname(path), name);
    try {
      if (removeAbandoned(folder)) say(`removed ${folder}, which a killed backup left`);
    } catch (error) {
      say(`${folder} could not be removed: ${toOneLine(String(error))}`);
    }
  }
}

/** Removes the oldest files with the names that `withTime` makes. */
function removeOlder(path: string, kept: number): void {
  const all = namesWithTime(path);
  for (const name of all.slice(0, Math.max(0, all.length - kept))) {
    rmSync(join(dirname(path), name));
    say(`removed ${join(dirname(path), name)}`);
  }
}

async function backUp(
  store: StoreAddress,
  { path, name }: { path: string; name: string },
  signal: AbortSignal,
): Promise<void> {
  const start = performance.now();
  const made = await createFile(path, async (file) => {
    const backedUp = await backUpInto(store, file, signal);
    await sealBackup(file);
    return backedUp;
  });
  const { size } = statSync(path);
  say(`${described(made)} backed up to ${name} (${sized(size)}) in ${timeSince(start)}`);
  say(`compared the backup with the store: their content is identical (sha256 ${made.checksum})`);
}
