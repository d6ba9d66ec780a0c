/** Backs up a database: copies one snapshot of it into a new SQLite file, and compares the two. */
import type { BackedUp, BackupFile, BackupOptions } from "../../core/copy/backup.ts";
import { copyStore } from "../../core/copy/copy.ts";
import { openPostgresSource } from "./source.ts";

/** Backs up the store in the database at `url`. Throws StartError, and the reason of the signal if it is aborted. */
export async function backUpPostgres(
  url: string,
  { openTarget }: BackupFile,
  options: BackupOptions,
): Promise<BackedUp> {
  // It copies a single moment, so it does not look for later changes.
  const source = Object.assign(await openPostgresSource(url), { refresh: async () => {} });
  try {
    const target = await openTarget();
    try {
      return await copyStore(source, target, options);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}
