/** What a batch has made of the store so far, over what the store holds; nothing of it is written. */
import type { Change, Commit, Committed } from "../../store/commit.ts";
import type { Store } from "../../store/store.ts";
import type { Key, Stored } from "../../store/stored.ts";

/** A resource that operations of the batch have changed, or created, or deleted. */
interface Changed {
  /** From what the store holds to what the last of the operations left. */
  change: Change;
  version: number;
  stored: Stored | undefined;
  operation: number;
}

/**
 * A store whose commits stay in memory, and which shows them. However many commits change a resource, it is changed
 * once: its version rises by one.
 */
export interface Overlay {
  store: Store;
  /** The operation whose commits come next. */
  operation: number;
  /** One change for each resource that is not as it was, in the order in which they were first changed. */
  changes(): Change[];
  /** The last operation that changed the resource of this one of `changes`. */
  operationOf(change: number): number | undefined;
  /** The latest time of a change: later than the batch's where the clock was set back; 0 without changes. */
  latest(): number;
  /** The version that a resource gets; `undefined` while nothing has changed it. */
  versionOf(key: Key): number | undefined;
}

/** An overlay over `base`. Ids come from `reserveId`; collections that are missing are not made yet. */
export function createOverlay(base: Store, reserveId: (collection: string) => Promise<number>): Overlay {
  const changed = new Map<string, Changed>();
  const collections = new Map(base.collections());
  let latest = 0;

  function note(change: Change, { at }: Commit): { version: number; sequence: number } {
    const { key, next } = change;
    latest = Math.max(latest, at);
    const before = changed.get(nameOf(key));
    const first = before === undefined ? change : before.change;
    const version = (first.expect === "absent" ? (first.after ?? 0) : first.expect) + 1;
    changed.set(nameOf(key), {
      change: { ...first, next },
      version,
      stored: next === undefined ? undefined : { id: key.id, version, text: next, updatedAt: at },
      operation: overlay.operation,
    });
    return { version, sequence: 0 };
  }

  function countChanged(collection: string): number {
    return [...changed.values()].filter(
      ({ change }) => change.key.collection === collection && isChange(change),
    ).length;
  }

  const store: Store = {
    read(key) {
      const known = changed.get(nameOf(key));
      return known === undefined ? base.read(key) : Promise.resolve(known.stored);
    },
    async commit(commit): Promise<Committed> {
      return commit.changes.map((change) => note(change, commit));
    },
    async list(query) {
      const page = await base.list(query);
      return { ...page, sequence: page.sequence + countChanged(query.collection) };
    },
    collections: () => collections,
    collectionNames: async () => [...collections.keys()],
    async migrate(plan) {
      for (const record of plan) collections.set(record.name, record);
    },
    reserveIds: (collection) => reserveId(collection),
    count: (collection) => base.count(collection),
    changesAfter: (...query) => base.changesAfter(...query),
    changesOf: (...query) => base.changesOf(...query),
    version: (...query) => base.version(...query),
    versionAt: (...query) => base.versionAt(...query),
    receipt: (...query) => base.receipt(...query),
    scan: (collection) => base.scan(collection),
    keys: base.keys,
    secret: () => base.secret(),
    health: () => base.health(),
    load: () => notHere(),
    erase: () => notHere(),
    close: () => notHere(),
  };

  const kept = () => [...changed.values()].filter(({ change }) => isChange(change));
  const overlay: Overlay = {
    store,
    operation: 0,
    changes: () => kept().map(({ change }) => change),
    operationOf: (change) => kept()[change]?.operation,
    latest: () => latest,
    versionOf: (key) => changed.get(nameOf(key))?.version,
  };
  return overlay;
}

/** Not for what was created and is gone again. */
function isChange({ expect, next }: Change): boolean {
  return expect !== "absent" || next !== undefined;
}

function nameOf({ collection, id }: Key): string {
  return `${collection}/${id}`;
}

function notHere(): never {
  throw new Error("An operation of a batch does nothing of the kind.");
}
