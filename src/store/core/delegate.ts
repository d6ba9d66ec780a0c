/** A store as a plain object, of which some methods can be replaced. */

import type { Store } from "../port/store.ts";
import { historyOf } from "./logged-store.ts";

/** An object with the methods of a store. Each calls the method of the store. */
export function delegateTo(store: Store): Store {
  return {
    read: (key) => store.read(key),
    list: (query) => store.list(query),
    referring: (query) => store.referring(query),
    figures: (query) => store.figures(query),
    count: (collection) => store.count(collection),
    ...historyOf(store),
    receipt: (...args) => store.receipt(...args),
    collections: () => store.collections(),
    collectionNames: () => store.collectionNames(),
    scan: (collection) => store.scan(collection),
    secret: () => store.secret(),
    statistics: () => store.statistics(),
    sizes: (collections) => store.sizes(collections),
    health: () => store.health(),
    ...(store.attach && { attach: () => store.attach?.() }),
    ...(store.reach && { reach: () => store.reach?.() ?? Promise.resolve() }),
    close: () => store.close(),
    keys: store.keys,
    commit: (commit) => store.commit(commit),
    exclusively: (...args) => store.exclusively(...args),
    erase: (key) => store.erase(key),
    reserveIds: (...args) => store.reserveIds(...args),
    migrate: (plan) => store.migrate(plan),
    load: (...args) => store.load(...args),
  };
}
