/** A store that nothing is written to. */
import { Problem } from "../errors.ts";
import type { Keys } from "./keys.ts";
import type { Store } from "./store.ts";

/** The store without its writes: each of them throws UNAVAILABLE. */
export function withoutWrites(store: Store): Store {
  return {
    read: (key) => store.read(key),
    list: (query) => store.list(query),
    count: (collection) => store.count(collection),
    changesAfter: (...asked) => store.changesAfter(...asked),
    changeAt: (...asked) => store.changeAt(...asked),
    logHeads: (collections) => store.logHeads(collections),
    onCommit: (listener) => store.onCommit(listener),
    changesOf: (...asked) => store.changesOf(...asked),
    version: (...asked) => store.version(...asked),
    versionAt: (...asked) => store.versionAt(...asked),
    receipt: (...asked) => store.receipt(...asked),
    collections: () => store.collections(),
    collectionNames: () => store.collectionNames(),
    scan: (collection) => store.scan(collection),
    secret: () => store.secret(),
    health: () => store.health(),
    ...(store.reach && { reach: () => store.reach?.() ?? Promise.resolve() }),
    close: () => store.close(),
    keys: keysWithoutWrites(store.keys),
    commit: refuse,
    erase: refuse,
    reserveIds: refuse,
    migrate: refuse,
    load: refuse,
  };
}

function keysWithoutWrites(keys: Keys): Keys {
  return {
    find: (prefix) => keys.find(prefix),
    all: () => keys.all(),
    add: refuse,
    end: refuse,
    noteUse: refuse,
  };
}

async function refuse(): Promise<never> {
  throw new Problem("UNAVAILABLE", "The service is read-only now. Nothing was written. Try again later.");
}
