/** What a kind of store provides to the rest of the program. `open.ts` has the table of engines. */

import type { OpenKeys } from "../port/keys.ts";
import type { ResolvedStoreOptions } from "../port/options.ts";
import type { StoreReader } from "../port/reader.ts";
import type { BackedUp, BackupFile, BackupOptions } from "./copy/backup.ts";
import type { CopySource, CopyTarget } from "./copy/contents.ts";
import type { Driver } from "./driver.ts";

/** An engine. Each method throws StartError if the store at the address cannot be used. */
export interface Engine<Address> {
  /** Opens the store for reading and writing, and creates it if it does not exist. */
  open(address: Address, options: ResolvedStoreOptions): Promise<Driver>;

  /** Opens the store for reading. A service can have it open at the same time. */
  openReader(address: Address): Promise<StoreReader>;

  /**
   * Opens the API keys of the store, and creates the store if it does not exist. A service can have it open at the same
   * time.
   */
  openKeys(address: Address): Promise<OpenKeys>;

  /** Opens the store as the source of a copy. */
  openSource(address: Address): Promise<CopySource>;

  /** Backs up one moment of the store into a new SQLite file. A service can have the store open at the same time. */
  backUp(address: Address, file: BackupFile, options: BackupOptions): Promise<BackedUp>;

  /** Opens the store as the target of a copy, and creates it if it does not exist. */
  openTarget(address: Address): Promise<CopyTarget>;

  /** Whether the store can exist. The answer is exact for a file. For a database, only opening it gives the answer. */
  mayExist(address: Address): boolean;

  /** Throws StartError if the store certainly does not exist. */
  requireStore(address: Address): void;

  /** The technical reason for an error of the engine, in one line for the log. It contains no data of clients. */
  describeError(error: unknown): string;
}
