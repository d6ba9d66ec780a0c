import { stat } from "node:fs/promises";
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
