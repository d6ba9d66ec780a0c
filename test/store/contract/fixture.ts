import assert from "node:assert/strict";
import type { ProblemCode } from "../../../src/errors.ts";
import type { StoreAddress, StoreOptions } from "../../../src/store/open.ts";
import type { Change, Commit, Committed } from "../../../src/store/port/commit.ts";
import type { CollectionRecord } from "../../../src/store/port/record.ts";
import type { Store } from "../../../src/store/port/store.ts";

/** A store that is empty at first. */
export interface Fixture {
  store: Store;
  /** Its address, if another process can open it after it is closed. */
  address?: StoreAddress;
  /** Closes the store, if it is open, and opens it again; with some options changed. Throws EndsWhenClosed. */
  reopen(changed?: StoreOptions): Promise<Store>;
  /** Closes the store and removes its data. */
  cleanup(): Promise<void>;
}

/** The store cannot be opened again, because it is in memory. The test ends there. */
export class EndsWhenClosed extends Error {}

export type OpenFixture = (options?: StoreOptions) => Promise<Fixture>;

/** How many cases a property tries: as many as a variable of the environment says, or else a share of the usual number. */
export type Runs = (usual: number, variable?: string) => number;

/** The runs of a share. The first case of every seed is always tried. */
export function runsOf(share: number): Runs {
  return (usual, variable = "") => Number(process.env[variable] ?? Math.ceil(usual * share));
}

/** The record of a collection. @default ids are UUIDs, and nothing else is declared */
export function declaration(
  name: string,
  declared: Partial<Omit<CollectionRecord, "name">> = {},
): CollectionRecord {
  return { name, idKind: "uuid", schema: undefined, indexes: [], search: [], ...declared };
}

/** Two collections of texts and one of integers, in a new store. */
export function onStore(
  open: OpenFixture,
  run: (store: Store, reopen: Fixture["reopen"]) => Promise<void>,
  options?: StoreOptions,
): () => Promise<void> {
  return async () => {
    const { store, reopen, cleanup } = await open(options);
    try {
      await store.migrate([
        declaration("topics"),
        declaration("users"),
        declaration("numbers", { idKind: "integer" }),
      ]);
      await run(store, reopen);
    } catch (error) {
      if (!(error instanceof EndsWhenClosed)) throw error;
    } finally {
      await cleanup();
    }
  };
}

export const at = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

/** A time after all sweeps, which have the machine's clock. Until then, a store keeps a receipt. */
export const unexpired = Date.UTC(9999, 0);

export const topic = (id: string) => ({ collection: "topics", id });
export const user = (id: string) => ({ collection: "users", id });
export const number = (id: string) => ({ collection: "numbers", id });

/** The text of a resource. */
export const textOf = (id: string, attributes: Record<string, unknown> = {}) =>
  JSON.stringify({ id, ...attributes });

export function created(key: Change["key"], attributes?: Record<string, unknown>): Change {
  return { key, expect: "absent", next: textOf(key.id, attributes) };
}

export function updated(key: Change["key"], expect: number, attributes?: Record<string, unknown>): Change {
  return { key, expect, next: textOf(key.id, attributes) };
}

export function deleted(key: Change["key"], expect: number): Change {
  return { key, expect, next: undefined };
}

/** Commits changes with nothing else to say about them. */
export function commit(store: Store, changes: Change[], more: Partial<Commit> = {}): Promise<Committed> {
  return store.commit({ changes, at, ...more });
}

/** Fails unless the promise rejects with a problem of this code. */
export async function rejectsWith(code: ProblemCode, promise: Promise<unknown>): Promise<void> {
  await assert.rejects(promise, (error: { code?: unknown }) => {
    assert.equal(error.code, code, String(error));
    return true;
  });
}

/** The ids of a scan. */
export async function scannedIds(store: Pick<Store, "scan">, collection: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of store.scan(collection)) ids.push(id);
  return ids;
}
