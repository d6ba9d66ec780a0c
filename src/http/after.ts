/** Continues with a value that may still be on its way. */

/**
 * Calls `next` with the value: at once if it is there, otherwise when it arrives. An `await` would always wait for a turn of
 * its own, which the most frequent requests do not need.
 */
export function after<T, U>(value: T | Promise<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
