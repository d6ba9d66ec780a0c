/** Opens the store at an address. No other file outside an engine's folder imports an engine. */
import { Problem, StoreFull } from "../errors.ts";
import { type StoreAddress, shownAddress } from "./address.ts";
import type { CopySource, CopyTarget } from "./core/copy/contents.ts";
import type { BackupOptions } from "./core/copy/copy.ts";
import type { VerifiedContents } from "./core/copy/verify.ts";
import type { Engine } from "./core/driver.ts";
import { Store } from "./core/store.ts";
import type { OpenKeys } from "./port/keys.ts";
import { resolveOptions, type StoreOptions } from "./port/options.ts";
import type { Store as OpenStore, StoreReader } from "./port/store.ts";
import { postgresEngine } from "./postgres/engine.ts";
import { sealFile, sqliteEngine } from "./sqlite/engine.ts";

export type { StoreAddress } from "./address.ts";
export type { StoreOptions } from "./port/options.ts";
export type { StoreReader } from "./port/store.ts";

type Kind = StoreAddress["kind"];
type AddressOf<K extends Kind> = Extract<StoreAddress, { kind: K }>;

const engines: { [K in Kind]: Engine<AddressOf<K>> } = { sqlite: sqliteEngine, postgres: postgresEngine };

function engineOf<K extends Kind>({ kind }: { kind: K }): Engine<AddressOf<K>> {
  return engines[kind];
}

/** Opens a store for reading and writing. No other process can then write to a SQLite file. Throws StartError. */
export async function openStore(address: StoreAddress, options: StoreOptions = {}): Promise<OpenStore> {
  const resolved = resolveOptions(options);
  return new Store(await engineOf(address).open(address, resolved), resolved);
}

/** Opens a store for reading. A service can have it open at the same time. Throws StartError. */
export function openReader(address: StoreAddress): Promise<StoreReader> {
  return engineOf(address).openReader(address);
}

/**
 * Opens the API keys of a store, and creates the store if it does not exist. A service can have it open at the same time.
 * Throws StartError.
 */
export function openKeys(address: StoreAddress): Promise<OpenKeys> {
  return engineOf(address).openKeys(address);
}

/** Opens a store as the source of a copy. Throws StartError, also if a service is known to have it open for writing. */
export function openSource(address: StoreAddress): Promise<CopySource> {
  return engineOf(address).openSource(address);
}

/** Backs up one moment of a store into a new SQLite file. A service can have the store open. Throws StartError. */
export function backUpStore(
  address: StoreAddress,
  path: string,
  options: BackupOptions,
): Promise<VerifiedContents> {
  const file = { path, openTarget: () => openTarget({ kind: "sqlite", path }) };
  return engineOf(address).backUp(address, file, options);
}

/** Seals a backup: every command then refuses the file if it has changed. Throws StartError. */
export async function sealBackup(path: string): Promise<void> {
  await sealFile(path);
}

/** Opens a store as the target of a copy, and creates it if it does not exist. Throws StartError. */
export function openTarget(address: StoreAddress): Promise<CopyTarget> {
  return engineOf(address).openTarget(address);
}

/** Whether a store can exist at an address. A file must have content. For a database, only opening it shows this. */
export function mayExist(address: StoreAddress): boolean {
  return engineOf(address).mayExist(address);
}

/** Throws StartError if there is certainly no store at an address. */
export function requireStore(address: StoreAddress): void {
  engineOf(address).requireStore(address);
}

/** The technical reason for an error of a store, in one line for the log. A client gets less: the error's message. */
export function reasonOf(address: StoreAddress, { cause, message }: Problem): string {
  return cause instanceof Error ? engineOf(address).describeError(cause) : message;
}

/** Waits for work on a store. Throws StartError with the address if the work fails because the disk is full. */
export async function onStoreOf<T>(address: StoreAddress, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "STORAGE_FULL") throw error;
    throw new StoreFull(shownAddress(address));
  }
}
