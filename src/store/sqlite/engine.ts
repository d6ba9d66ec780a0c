/** The engine for SQLite files. */
import { existsSync, lstatSync, realpathSync } from "node:fs";
import { StartError } from "../../errors.ts";
import type { Engine } from "../engine.ts";
import { describeError } from "./file/failures.ts";
import { mayExist, requireFile } from "./file/open-file.ts";
import { openSqliteKeys } from "./keys.ts";
import { joinSqliteStore, openSqliteStore } from "./open-store.ts";
import { openSqliteReader } from "./read/open-reader.ts";
import type { SqliteAttachment } from "./store.ts";

/** Opens SQLite files. Only one process can open a file for writing. */
export const sqliteEngine: Engine<{ path: string }> = {
  open: async (address, options) =>
    options.attachment === undefined
      ? openSqliteStore(realPath(address), options)
      : joinSqliteStore(options.attachment as SqliteAttachment, options),
  openReader: async (address) => openSqliteReader(realPath(address)),
  openKeys: async (address) => openSqliteKeys(realPath(address)),
  openSource: async (address) => (await import("./copy/source.ts")).openSqliteSource(realPath(address)),
  backUp: async (address, { path }, options) =>
    (await import("./copy/backup.ts")).backUpSqlite(realPath(address), path, options),
  openTarget: async (address) => (await import("./copy/target.ts")).openSqliteTarget(realPath(address)),
  mayExist: ({ path }) => mayExist(path),
  requireStore: ({ path }) => requireFile(path),
  describeError,
};

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
