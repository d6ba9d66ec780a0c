import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { StartError } from "../errors.ts";
import type { StoreAddress } from "../store/open.ts";

/** What a store that is closed weighs on the disk. */
export async function bytesOnDisk({ path }: StoreAddress): Promise<number> {
  const sizes = await Promise.all([path, `${path}-wal`].map(sizeOf));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch(() => undefined);
  return found?.size ?? 0;
}

/** Throws StartError when a file is one of the store's own: to open or replace it would lose what the store holds. */
export function requireNoStoreFile(file: string, { path }: StoreAddress): void {
  if (!["", "-wal", "-shm", ".lock"].some((ending) => resolve(file) === `${path}${ending}`)) return;
  throw new StartError(`${file} belongs to the store itself. To copy a store, export its collections.`);
}
