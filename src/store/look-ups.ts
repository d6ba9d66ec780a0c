/**
 * Decisions that need rows of a store, written once for stores that give them at once and for those that answer later.
 *
 * A decision is a generator. It yields functions that look something up, and gets what they give.
 */

/** A decision that makes look-ups on an `L` and gives a `T`. */
export type Decision<L, T> = Generator<(lookUps: L) => unknown, T, unknown>;

/** One look-up: `const row = yield* lookUp((rows: Rows) => rows.first())`. */
export function* lookUp<L, T>(ask: (lookUps: L) => T | Promise<T>): Decision<L, T> {
  return (yield ask as (lookUps: L) => unknown) as T;
}

/** Carries out a decision whose look-ups answer at once. */
export function decideNow<L, T>(decision: Decision<L, T>, lookUps: L): T {
  let step = decision.next();
  while (step.done !== true) step = decision.next(step.value(lookUps));
  return step.value;
}

/** Carries out a decision whose look-ups answer later. */
export async function decideLater<L, T>(decision: Decision<L, T>, lookUps: L): Promise<T> {
  let step = decision.next();
  while (step.done !== true) step = decision.next(await step.value(lookUps));
  return step.value;
}
