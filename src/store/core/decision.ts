/**
 * Decisions that need data of a store, written once for a store that responds at once (SQLite) and for a store that
 * responds later (PostgreSQL).
 *
 * A decision is a generator. It yields lookups and receives their results. It must not change the store.
 */

/** A decision that looks things up in an `L` and returns a `T`. */
export type Decision<L, T> = Generator<(store: L) => unknown, T, unknown>;

/** Looks something up. Example: `const row = yield* lookUp((rows) => rows.first())`. */
export function* lookUp<L, T>(lookup: (store: L) => T | Promise<T>): Decision<L, T> {
  return (yield lookup as (store: L) => unknown) as T;
}

/** Runs a decision on a store that responds at once. */
export function decide<L, T>(decision: Decision<L, T>, store: L): T {
  let step = decision.next();
  while (step.done !== true) step = decision.next(step.value(store));
  return step.value;
}

/** Runs a decision on a store that can respond later. */
export async function decideAsync<L, T>(decision: Decision<L, T>, store: L): Promise<T> {
  let step = decision.next();
  while (step.done !== true) {
    const found = step.value(store);
    step = decision.next(found instanceof Promise ? await found : found);
  }
  return step.value;
}
