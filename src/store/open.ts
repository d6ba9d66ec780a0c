/** Where a store's address becomes a store. A new kind of store is one more case here. */
import { existsSync, lstatSync, realpathSync } from "node:fs";
import { Problem, StartError } from "../errors.ts";
import { type StoreAddress, shownAddress } from "./address.ts";
import type { Source, Target } from "./copy/whole.ts";
import { defaultHistory, type History } from "./history.ts";
import type { OpenKeys } from "./keys.ts";
import type { PostgresOptions } from "./postgres/open-store.ts";
import { withoutWrites } from "./read-only.ts";
import type { StoreReader } from "./reader.ts";
import type { ReceiptBounds } from "./receipts.ts";
import { openSqliteSource } from "./sqlite/copy/source.ts";
import { openSqliteTarget } from "./sqlite/copy/target.ts";
import { openSqliteKeys } from "./sqlite/keys.ts";
import { isMade, requireFile } from "./sqlite/open-file.ts";
import { openSqliteReader } from "./sqlite/open-reader.ts";
import { openSqliteStore, type SqliteOptions } from "./sqlite/open-store.ts";
import type { Store } from "./store.ts";

export type { StoreAddress } from "./address.ts";
export type { StoreReader } from "./reader.ts";

/** How a store is run. */
export interface StoreOptions {
  /** Called once when the store has failed for good. @default nobody is told */
  onFailure?: (reason: string) => void;
  /** Whether a store that cannot be reached now is opened all the same, to be reached later. @default false */
  mayWait?: boolean;
  /** Told what a person should know of the store. @default nobody is told */
  onWarning?: (text: string) => void;
  /**
   * How many commits are answered in one turn of the event loop; asked once a turn. What follows on the answers to a
   * whole group would hold reads up for milliseconds. @default as many as there are
   */
  answersPerTurn?: () => number;
  /** Whether commits that arrive together are written together; `false` is for measurements. @default true */
  groupCommit?: boolean;
  /** How long a list that no index serves may take, in milliseconds. @default 2000 */
  queryMs?: number;
  /** How long changes are kept. @default 30 days or 1,000,000 changes of a collection, whichever is more */
  history?: History;
  /** How often it is looked for changes that are no longer to be kept, in milliseconds; and at the beginning. @default 60000 */
  sweepMs?: number;
  /** How many receipts are kept, and how much of their answers. @default the program's */
  receipts?: ReceiptBounds;
  /** Nothing is written; with a file, also by nobody else, and several may have it open so. @default false */
  readOnly?: boolean;
  /** `NORMAL` may lose acknowledged commits when the power fails; it is there to prove that tests see it. @default "FULL" */
  synchronous?: "FULL" | "NORMAL";
}

/** Opens a store for reading and writing; nobody else may write to a file meanwhile. Throws StartError. */
export async function openStore(address: StoreAddress, options: StoreOptions = {}): Promise<Store> {
  const all = {
    onFailure: () => {},
    onWarning: () => {},
    mayWait: false,
    answersPerTurn: () => Number.POSITIVE_INFINITY,
    groupCommit: true,
    queryMs: 2_000,
    history: defaultHistory,
    sweepMs: 60_000,
    readOnly: false,
    synchronous: "FULL",
    ...options,
  } as const;
  const store = await openWhole(address, all);
  return all.readOnly ? withoutWrites(store) : store;
}

async function openWhole(address: StoreAddress, options: SqliteOptions & PostgresOptions): Promise<Store> {
  if (address.kind === "sqlite") return openSqliteStore(realPath(address), options);
  const { openPostgresStore } = await postgres();
  return openPostgresStore(address.url, options);
}

/** Opens a store for reading beside whoever writes to it. Throws StartError. */
export async function openReader(address: StoreAddress): Promise<StoreReader> {
  if (address.kind === "sqlite") return openSqliteReader(realPath(address));
  const { openPostgresReader } = await postgres();
  return openPostgresReader(address.url);
}

/** Opens the API keys of a store beside whoever serves it, and makes the store where there is none. Throws StartError. */
export async function openKeys(address: StoreAddress): Promise<OpenKeys> {
  if (address.kind === "sqlite") return openSqliteKeys(realPath(address));
  const { openPostgresKeys } = await postgres();
  return openPostgresKeys(address.url);
}

/** Opens a store to be copied. Throws StartError, also where somebody has it open to write and that can be known. */
export async function openSource(address: StoreAddress): Promise<Source> {
  if (address.kind === "sqlite") return openSqliteSource(realPath(address));
  const { openPostgresSource } = await import("./postgres/copy/source.ts");
  return openPostgresSource(address.url);
}

/** Opens a store to be made like another, and makes it where there is none. Throws StartError. */
export async function openTarget(address: StoreAddress): Promise<Target> {
  if (address.kind === "sqlite") return openSqliteTarget(realPath(address));
  const { openPostgresTarget } = await import("./postgres/copy/target.ts");
  return openPostgresTarget(address.url);
}

/** Whether a store can exist at an address. A file must have content. For a database, only opening it shows this. */
export function mayExist(address: StoreAddress): boolean {
  return address.kind === "postgres" || isMade(address.path);
}

/** Throws StartError where there is certainly no store. */
export function requireStore(address: StoreAddress): void {
  if (address.kind === "sqlite") requireFile(address.path);
}

/** Does on a store what a person asked for. Where there is no room for it, throws StartError, which names the store. */
export async function onStoreOf<T>(address: StoreAddress, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "STORAGE_FULL") throw error;
    throw new StartError(
      `The disk of ${shownAddress(address)} is full. Free some space, or choose another store.`,
    );
  }
}

/** The driver is loaded by those who need it. */
function postgres() {
  return import("./postgres/open-store.ts");
}

/** SQLite follows a symbolic link, so its log and our lock must be looked for beside the file itself. */
function realPath({ path }: StoreAddress & { kind: "sqlite" }): string {
  if (existsSync(path)) return realpathSync(path);
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
    throw new StartError(
      `${path} is a link to a file that does not exist. Create that file empty, or choose another store.`,
    );
  }
  return path;
}
