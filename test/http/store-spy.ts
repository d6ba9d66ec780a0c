/** Watches how the service uses its store. Every read is carried out as usual. */
import type { TestContext } from "node:test";
import { PostgresStore } from "../../src/store/postgres/store.ts";
import { SqliteStore } from "../../src/store/sqlite/store.ts";
import { isOnPostgres } from "./test-store.ts";

/** The reads so far, and a function that runs before the next read. */
export interface LogReads {
  /** How often the changes after a place were read. */
  count: number;
  /** Called before each read, which waits for it. */
  before: () => Promise<void> | void;
}

const watched = () => (isOnPostgres ? PostgresStore : SqliteStore).prototype;

/** Watches all stores of this process until the test ends. */
export function watchLogReads(t: TestContext): LogReads {
  const reads: LogReads = { count: 0, before: () => {} };
  const store = watched();
  const { changesAfter } = store;
  store.changesAfter = async function (this: typeof store, ...query: Parameters<typeof changesAfter>) {
    reads.count++;
    await reads.before();
    return changesAfter.apply(this, query);
  };
  t.after(() => {
    store.changesAfter = changesAfter;
  });
  return reads;
}

const queries = ["read", "list", "referring", "figures", "count", "receipt", "version", "versionAt"] as const;

/** Records the names of all queries to the stores of this process until the test ends. */
export function watchQueries(t: TestContext): string[] {
  const made: string[] = [];
  const store = watched() as Record<(typeof queries)[number], unknown>;
  for (const name of queries) {
    const query = store[name] as (...values: unknown[]) => unknown;
    store[name] = function (this: unknown, ...values: unknown[]) {
      made.push(name);
      return query.apply(this, values);
    };
    t.after(() => {
      store[name] = query;
    });
  }
  return made;
}
