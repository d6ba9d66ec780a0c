/** Read-only stores. */
import { Problem } from "../../errors.ts";
import type { Keys } from "../port/keys.ts";
import type { Store } from "../port/store.ts";
import { delegateTo } from "./delegate.ts";

/** The same store, but all its writes throw UNAVAILABLE. */
export function withoutWrites(store: Store): Store {
  return {
    ...delegateTo(store),
    keys: keysWithoutWrites(store.keys),
    commit: refuse,
    erase: refuse,
    reserveIds: refuse,
    migrate: refuse,
    load: refuse,
    exclusively: refuse,
  };
}

function keysWithoutWrites(keys: Keys): Keys {
  return {
    find: (prefix) => keys.find(prefix),
    all: () => keys.all(),
    add: refuse,
    invalidate: refuse,
    noteUse: refuse,
  };
}

async function refuse(): Promise<never> {
  throw new Problem("UNAVAILABLE", "The service is read-only now. Nothing was written. Try again later.");
}
