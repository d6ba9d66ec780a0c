/** The options of a store, the same for all engines. */
import type { CommitMeter } from "./commit-meter.ts";

/**
 * The change log keeps a change that is younger than `keepDays`, or among the last `keepChanges` of its collection. In both
 * cases the change must be among the newest `keepBytes` of its collection. `forever` keeps all changes, `none` keeps none.
 */
export type History = { keepDays: number; keepChanges: number; keepBytes?: number } | "forever" | "none";

/** The default of the configuration. */
export const defaultHistory: History = { keepDays: 30, keepChanges: 1_000_000 };

/** What a service without history does not have, for the message at its start. */
export const withoutHistory =
  "old versions cannot be read or restored, _events is 404, and webhooks deliver nothing";

/** The bytes of one change in `keepBytes`, in addition to its text. */
export const bytesOfChange = 100;

/** The path of a SQLite store in memory. Only code can have it: no configuration and no command can name it. */
export const memoryPath = ":memory:";

/** Options of an open store. Each has a default. */
export interface StoreOptions {
  /** Called once if the store fails permanently. The program must then end. @default does nothing */
  onFailure?: (reason: string) => void;
  /** Called with a text that the operator should read. @default does nothing */
  onWarning?: (text: string) => void;
  /** Called with a text about long work in the background. @default does nothing */
  onInfo?: (text: string) => void;
  /** Whether to open a store that cannot be reached yet. Call `reach` before you use it. @default false */
  mayWait?: boolean;
  /**
   * How many commits are confirmed in one turn of the event loop. The store calls this once a turn. To confirm a whole group
   * of commits at once would delay reads by milliseconds. @default no limit
   */
  answersPerTurn?: () => number;
  /** Whether commits that arrive together are written together. `false` is for measurements. @default true */
  groupCommit?: boolean;
  /** How long a list without a suitable index can take, in milliseconds. @default 2000 */
  queryMs?: number;
  /** If more bytes of SQLite's log wait for a checkpoint, the health of the store has a warning. @default 1 GB */
  maxLogBytes?: number;
  /** Which changes the change log keeps. @default `defaultHistory` */
  history?: History;
  /** How long the database of a store can take for the response to a quick statement, in milliseconds. @default 5000 */
  responseMs?: number;
  /** How long the database of a store can take for a new connection, in milliseconds. @default 3000 */
  connectMs?: number;
  /** How long a write waits for an import in progress, in milliseconds. Then it is refused. @default 5000 */
  importWaitMs?: number;
  /**
   * The time between two searches for old changes, in milliseconds. The first one is at the start. With `Infinity`, the store never
   * searches. @default 60000
   */
  sweepMs?: number;
  /** How many receipts the store keeps, and how many bytes of their responses. @default `receiptLimits` */
  receipts?: ReceiptLimits;
  /** Whether to refuse all writes. Several processes can open a SQLite file in this way. @default false */
  readOnly?: boolean;
  /** What `attach` of the store returned in another thread of the process. @default the store is opened anew */
  attachment?: unknown;
  /** Counts and times the commits. @default nothing is counted */
  meter?: CommitMeter;
  /** `NORMAL` can lose confirmed commits when the power fails. It exists so that tests can detect this. @default "FULL" */
  synchronous?: "FULL" | "NORMAL";
}

/** The options with their defaults. `receipts` has its default in the stores. `meter` and `attachment` can be absent. */
export type ResolvedStoreOptions = Required<Omit<StoreOptions, "receipts" | "meter" | "attachment">> &
  Pick<StoreOptions, "receipts" | "meter" | "attachment">;

/** Adds the defaults. */
export function resolveOptions(options: StoreOptions): ResolvedStoreOptions {
  return {
    onFailure: () => {},
    onWarning: () => {},
    onInfo: () => {},
    mayWait: false,
    answersPerTurn: () => Number.POSITIVE_INFINITY,
    groupCommit: true,
    queryMs: 2_000,
    maxLogBytes: 1_000_000_000,
    history: defaultHistory,
    responseMs: 5_000,
    connectMs: 3_000,
    importWaitMs: 5_000,
    sweepMs: 60_000,
    readOnly: false,
    synchronous: "FULL",
    ...options,
  };
}

/** The limits of receipts. */
export interface ReceiptLimits {
  /** The most receipts. At the limit, a store refuses new ones. If it removed an old one, a retry could repeat the write. */
  keys: number;
  /** The most bytes of all responses together. Above the limit, the oldest receipts lose their responses. */
  answers: number;
  /** The most bytes of one response. The store does not keep a longer response. */
  answer: number;
}

/** The default limits. A receipt without its response takes about 0.4 KB on the disk, so the receipts take at most 4 GB. */
export const receiptLimits: ReceiptLimits = {
  keys: 10_000_000,
  answers: 256 * 1024 ** 2,
  answer: 2 * 1024 ** 2,
};
