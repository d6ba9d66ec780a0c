/** Facts about an open store, for the metrics and for administrators. */

/** The most time that a call of `Store.sizes` waits, in milliseconds. */
export const maxSizesWaitMs = 500;

/** What a store uses now. */
export interface StoreStatistics {
  /** The size of the database, in bytes. For PostgreSQL: with everything that others keep in it. */
  bytes: number;
  /** The size of the write-ahead log, in bytes. Absent if the log is not a file of the store. */
  logBytes?: number;
  /** The part of the log that no checkpoint has moved into the database, in bytes. Absent as `logBytes`. */
  logWaitingBytes?: number;
  /** The connections to a database, by the name of their pool. Absent without a database server. */
  pools?: Readonly<Record<string, PoolStatistics>>;
}

/** The connections of one pool. */
export interface PoolStatistics {
  /** How many can be open. */
  max: number;
  open: number;
  /** Open, and not in use. */
  idle: number;
  /** Callers that wait for a connection. */
  waiting: number;
}
