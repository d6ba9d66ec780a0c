/** Read-only stores. */
import { Problem } from "../errors.ts";
import type { Keys } from "./keys.ts";
import type { Store } from "./store.ts";

/** The same store, but all its writes throw UNAVAILABLE. */
export function withoutWrites(store: Store): Store {
  return {
    read: (key) => store.read(key),
    list: (query) => store.list(query),
    count: (collection) => store.count(collection),
    changesAfter: (...args) => store.changesAfter(...args),
    changeAt: (...args) => store.changeAt(...args),
    logHeads: (collections) => store.logHeads(collections),
    onCommit: (listener) => store.onCommit(listener),
    changesOf: (...args) => store.changesOf(...args),
    version: (...args) => store.version(...args),
    versionAt: (...args) => store.versionAt(...args),
    receipt: (...args) => store.receipt(...args),
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
