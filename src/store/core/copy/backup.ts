/** A backup: one moment of a store in a new SQLite file, made beside a running service. */
import type { CopyTarget } from "./contents.ts";
import type { CopyOptions } from "./copy.ts";
import type { VerifiedContents } from "./verify.ts";

/** The options of a backup. */
export type BackupOptions = Pick<CopyOptions, "watch" | "signal">;

/** The file of a backup. It does not exist yet. */
export interface BackupFile {
  path: string;
  /** Opens it as the target of a copy, for a store that is no file itself. */
  openTarget(): Promise<CopyTarget>;
}

/** What a backup contains. Every item was compared with the store. */
export type BackedUp = VerifiedContents;
