/** The engine for SQLite files. */
import { existsSync, lstatSync, realpathSync } from "node:fs";
import { StartError } from "../../errors.ts";
import type { Engine } from "../core/engine.ts";
import { describeError } from "./file/failures.ts";
import { mayExist, openError, requireFile } from "./file/open-file.ts";
import { requireIntact } from "./file/seal.ts";
import { openSqliteKeys } from "./keys.ts";
import { joinSqliteStore, openSqliteStore } from "./open-store.ts";
import { openSqliteReader } from "./read/open-reader.ts";
import type { SqliteAttachment } from "./sqlite-driver.ts";

/** Opens SQLite files. Only one process can open a file for writing. */
export const sqliteEngine: Engine<{ path: string }> = {
  open: async (address, options) =>
    options.attachment === undefined
      ? openSqliteStore(await intactPath(address), options)
      : joinSqliteStore(options.attachment as SqliteAttachment, options),
  openReader: async (address) => openSqliteReader(await intactPath(address)),
  openKeys: async (address) => openSqliteKeys(await intactPath(address)),
  openSource: async (address) =>
    (await import("./copy/source.ts")).openSqliteSource(await intactPath(address)),
  backUp: async (address, { path }, options) =>
    (await import("./copy/backup.ts")).backUpSqlite(await intactPath(address), path, options),
  openTarget: async (address) => (await import("./copy/target.ts")).openSqliteTarget(realPath(address)),
  mayExist: ({ path }) => mayExist(path),
  requireStore: ({ path }) => requireFile(path),
  describeError,
};

/** Seals the file of a backup, from a store of any kind. Throws StartError. */
export async function sealFile(path: string): Promise<void> {
  await (await import("./copy/backup.ts")).sealBackup(path);
}

/** As `realPath`. Throws StartError also if the file is a backup that was changed. */
async function intactPath(address: { path: string }): Promise<string> {
  const path = realPath(address);
  try {
    await requireIntact(path);
  } catch (error) {
    throw openError(path, error);
  }
  return path;
}

/** The target of a symbolic link. SQLite follows the link, so its log and our lock file must be next to the target. */
function realPath({ path }: { path: string }): string {
  if (existsSync(path)) return realpathSync(path);
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
    throw new StartError(
      `${path} is a link to a file that does not exist. Create that file empty, or choose another store.`,
    );
  }
  return path;
}
