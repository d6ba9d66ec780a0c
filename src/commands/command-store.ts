/**
 * Opens stores for commands and closes them again. Also measures the files of a store, and keeps commands from using them as
 * input or output.
 */
import { existsSync, realpathSync, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { Config } from "../config.ts";
import { StartError } from "../errors.ts";
import { onStoreOf, openStore, type StoreAddress } from "../store/open.ts";
import type { Store } from "../store/port/store.ts";
import { shell } from "./shell.ts";

/** Opens something, works with it, and closes it, also after an error. */
export async function withOpen<Opened extends { close(): Promise<void> }, Result>(
  opening: Promise<Opened>,
  work: (opened: Opened) => Promise<Result>,
): Promise<Result> {
  const opened = await opening;
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

/** Opens the configured store for writes, works with it, and closes it. Throws StartError. */
export async function withStore<Result>(
  { store: address, history }: Config,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  return withOpen(openStore(address, { history }), (store) => onStoreOf(address, work(store)));
}

/** The size of a closed store on disk; `undefined` for a database. */
export async function bytesOnDisk(address: StoreAddress): Promise<number | undefined> {
  if (address.kind !== "sqlite") return undefined;
  const files = [address.path, `${address.path}-wal`];
  const sizes = await Promise.all(
    files.map(async (file) => (await stat(file).catch(() => undefined))?.size ?? 0),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/**
 * Throws StartError if a file is one of the store's own files, or a link to one. If a command opened or replaced such a
 * file, data could be lost.
 */
export function requireNoStoreFile(file: string, address: StoreAddress): void {
  if (address.kind !== "sqlite") return;
  const path = realPathOf(resolve(shell().cwd(), file));
  const own = ["", "-wal", "-shm", "-journal", ".lock"].map(
    (ending) => `${realPathOf(address.path)}${ending}`,
  );
  if (!own.some((each) => each === path || isSameFile(each, path))) return;
  throw new StartError(`${file} is a file of the store itself. To copy a store, run npx holdfast copy.`);
}

/** The path of a file without symbolic links. The file itself need not exist. */
function realPathOf(file: string): string {
  if (existsSync(file)) return realpathSync(file);
  const folder = dirname(file);
  return join(existsSync(folder) ? realpathSync(folder) : resolve(folder), basename(file));
}

/** Whether two paths are hard links to one file. */
function isSameFile(one: string, other: string): boolean {
  const [first, second] = [one, other].map((file) => statSync(file, { bigint: true, throwIfNoEntry: false }));
  return first !== undefined && first.ino === second?.ino && first.dev === second.dev;
}
