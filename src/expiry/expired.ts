/**
 * Deletes expired resources, each as a client would delete it, but by `system:expiry`. The regular sweep (`sweeper.ts`) does this, and so
 * does a write that needs a unique value of an expired resource.
 */
import { expiryPrincipal, hasExpired } from "../collection/expiry.ts";
import { Problem } from "../errors.ts";
import { cursorValuesOf } from "../query/sort.ts";
import { isOvertaken } from "../records.ts";
import { allChangesOf, type Change, type Commit, type Committed } from "../store/port/commit.ts";
import type { ServingStore } from "../store/port/store.ts";
import type { Key, Stored } from "../store/port/stored.ts";
import { type ExpiryTerms, expiredAt } from "./live-store.ts";

/** The most resources that one commit of a sweep deletes, so that other writers do not wait for long. */
const atOnce = 100;

/** The most text that changes because of these deletes, in bytes. With more, each resource has a commit of its own. */
const maxCascadeText = 1024 * 1024;

/** The most expired resources that one commit deletes because it needs their values. */
const maxHolders = 100;

/** The store with all resources, and the collections whose resources expire. */
export interface ExpiryParts extends ExpiryTerms {
  store: Pick<ServingStore, "read" | "list" | "isQuick" | "commit">;
  warn: (message: string) => void;
}

/** The expired resources of one store. */
export interface Expired {
  /** Whether a resource with this text has expired. `at`: Unix time in milliseconds. @default now */
  isOver(collection: string, text: string, at?: number): boolean;
  /** Deletes all expired resources of some collections, in several commits. Throws what the store throws. */
  sweep(names: readonly string[]): Promise<void>;
  /** Deletes a resource if it has expired. Throws what the store throws. */
  release(key: Key): Promise<void>;
}

/** Without collections whose resources expire. */
export const nothingExpires: Expired = {
  isOver: () => false,
  sweep: async () => {},
  release: async () => {},
};

/** The expired resources of a store in which collections declare `expires`. */
export class Expiry implements Expired {
  readonly #parts: ExpiryParts;
  /** The resources that cannot be deleted, each with the reason that was logged. */
  readonly #stuck = new Map<string, string>();

  constructor(parts: ExpiryParts) {
    this.#parts = parts;
  }

  /** The names of the collections whose resources expire. */
  get names(): readonly string[] {
    return [...this.#parts.collections()].flatMap(([name, { expires }]) =>
      expires === undefined ? [] : [name],
    );
  }

  isOver(collection: string, text: string, at = this.#parts.now()): boolean {
    const declared = this.#parts.collections().get(collection);
    return declared !== undefined && hasExpired(declared, text, at);
  }

  async sweep(names: readonly string[] = this.names, signal?: AbortSignal): Promise<void> {
    for (const name of new Set(names)) await this.#sweepOne(name, signal);
  }

  async #sweepOne(collection: string, signal: AbortSignal | undefined): Promise<void> {
    const { store, collections, now } = this.#parts;
    const expires = collections().get(collection)?.expires;
    if (expires === undefined) return;
    const sort = [expires];
    const query = { collection, filter: expiredAt(expires, now(), "now"), sort, limit: atOnce };
    if (!store.isQuick(query)) return; // the index is still being built
    let page = await store.list(query);
    while (page.items.length > 0 && signal?.aborted !== true) {
      await this.#delete(collection, page.items);
      const last = page.items.at(-1) as Stored;
      if (!page.more) return;
      page = await store.list({ ...query, after: cursorValuesOf(JSON.parse(last.text), sort) });
    }
  }

  async release(key: Key): Promise<void> {
    const stored = await this.#parts.store.read(key);
    if (stored !== undefined && this.isOver(key.collection, stored.text))
      await this.#delete(key.collection, [stored]);
  }

  /**
   * Commits as the store does. If an expired resource has a unique value that the commit needs, the commit deletes that resource
   * too. The result has the changes of the commit only.
   */
  async commit(commit: Commit): Promise<Committed> {
    const holders: Change[] = [];
    let refused: unknown;
    for (let tries = 0; tries <= maxHolders; tries++) {
      try {
        const steps = holders.length === 0 ? commit.steps : [holders, ...(commit.steps ?? [])];
        return await this.#parts.store.commit({ ...commit, ...(steps && { steps }) });
      } catch (error) {
        // What refers to the holder can keep it from being deleted. Then its value is not free.
        const isOfHolder =
          error instanceof Problem && error.change !== undefined && error.change < holders.length;
        if (isOfHolder && refused !== undefined) throw refused;
        const own = withoutFirst(error, holders.length);
        const holder = await this.#holderIn(own, [...allChangesOf(commit), ...holders]);
        if (holder === undefined) throw own;
        refused = own;
        if (holder !== "gone") holders.push(holder);
      }
    }
    throw refused;
  }

  /**
   * The delete of the expired resource that has a unique value; `gone` if others have deleted it already; `undefined` if the error has
   * another reason.
   */
  async #holderIn(error: unknown, changes: readonly Change[]): Promise<Change | "gone" | undefined> {
    if (!(error instanceof Problem) || error.code !== "UNIQUE_VIOLATION" || error.takenBy === undefined)
      return undefined;
    const collection = changes[error.change ?? 0]?.key.collection ?? "";
    const key = { collection, id: error.takenBy };
    const stored = await this.#parts.store.read(key);
    const isChanged = changes.some((each) => each.key.collection === collection && each.key.id === key.id);
    if (isChanged) return undefined;
    if (stored === undefined) return "gone";
    return this.isOver(collection, stored.text) ? deleteOf(collection, stored) : undefined;
  }

  /** Deletes resources together, or one by one if one of them cannot be deleted. */
  async #delete(collection: string, resources: readonly Stored[]): Promise<void> {
    const { store, now, warn } = this.#parts;
    const at = Math.max(now(), ...resources.map(({ updatedAt }) => updatedAt));
    const terms = resources.length > 1 ? { maxCascadeText } : {};
    try {
      const changes = resources.map((each) => deleteOf(collection, each));
      await store.commit({ changes, at, principal: expiryPrincipal, ...terms });
    } catch (error) {
      if (!(error instanceof Problem) || (error.status >= 500 && error.code !== "DATA_DAMAGED")) throw error;
      if (resources.length > 1) {
        for (const each of resources) await this.#delete(collection, [each]);
        return;
      }
      if (isOvertaken(error)) return; // it is not expired any more, or others have deleted it
      const name = `${collection}/${resources[0]?.id}`;
      if (this.#stuck.get(name) !== error.message)
        warn(`the expired resource ${name} cannot be deleted: ${error.message}`);
      this.#stuck.set(name, error.message);
    }
  }
}

/** The same error of a commit without its first changes. */
function withoutFirst(error: unknown, count: number): unknown {
  if (!(error instanceof Problem) || error.change === undefined || count === 0) return error;
  const { code, message, cause, change } = error;
  return new Problem(code, message, { ...error, cause, change: change - count });
}

/** The delete of an expired resource. */
export function deleteOf(collection: string, { id, version, text }: Stored): Change {
  const key = { collection, id };
  return { key, expect: version, next: undefined, replaced: text.length, principal: expiryPrincipal };
}
