/** A value of the page that components and other code share. */
import { useSyncExternalStore } from "react";

/** Keeps a value. Components that use it are made again after each `set`. */
export function shared<T>(value: T) {
  const listeners = new Set<() => void>();
  const get = () => value;
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  };
  return {
    get,
    set(next: T): void {
      value = next;
      for (const listener of listeners) listener();
    },
    /** The value, for components. */
    use: () => useSyncExternalStore(subscribe, get),
  };
}
