import { existsSync, realpathSync, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { StartError } from "../errors.ts";
import type { StoreAddress } from "../store/open.ts";

/** What a store that is closed weighs on the disk; `undefined` where it is not a file. */
export async function bytesOnDisk(address: StoreAddress): Promise<number | undefined> {
  if (address.kind !== "sqlite") return undefined;
  const { path } = address;
  const sizes = await Promise.all([path, `${path}-wal`].map(sizeOf));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch(() => undefined);
  return found?.size ?? 0;
}

/**
 * Throws StartError when a file is one of the store's own, also by way of a link: to open or replace it would lose
 * what the store holds.
 */
export function requireNoStoreFile(file: string, address: StoreAddress): void {
  if (address.kind !== "sqlite") return;
  const { path } = address;
  const given = placeOf(file);
  const own = ["", "-wal", "-shm", ".lock"].map((ending) => `${placeOf(path)}${ending}`);
  if (!own.some((each) => each === given || isSameFile(each, file))) return;
  throw new StartError(`${file} is a file of the store itself. To copy a store, run npx holdfast copy.`);
}

/** Where a file really is, or would be. */
function placeOf(file: string): string {
  if (existsSync(file)) return realpathSync(file);
  const folder = dirname(file);
  return join(existsSync(folder) ? realpathSync(folder) : resolve(folder), basename(file));
}

/** Whether two names lead to one file, as hard links do. */
function isSameFile(one: string, other: string): boolean {
  const [first, second] = [one, other].map((file) => statSync(file, { bigint: true, throwIfNoEntry: false }));
  return first !== undefined && first.ino === second?.ino && first.dev === second.dev;
}
