/**
 * Plans: work on a store, written once for all kinds of stores. A plan is a generator. It yields statements, which are data, and
 * receives their results. SQLite runs it at once (`runNow`), and PostgreSQL while it waits for responses (`runLater`).
 */

/** A value of a parameter. */
export type Value = string | number | bigint | null | Uint8Array;

/** A row: its values in the order of the columns. A number can be a text. */
export type Row = readonly unknown[];

/** The text of a statement. There is one object for each text, so a connection prepares it once. */
export interface Text {
  readonly sql: string;
}

/** A statement with its values. */
export interface Statement<T> {
  readonly text: Text;
  /** With several lists of values, the statement runs once for each of them. */
  readonly values: readonly (readonly Value[])[];
  /** Makes the result from the rows of all runs. */
  readonly read: (rows: readonly Row[]) => T;
  /** Whether it returns no rows. Then `read` gets one row for each run, with the number of rows that it changed. @default false */
  readonly isSilent?: true;
}

/** What a plan yields: a statement, or several that do not depend on each other. */
export type Step = Statement<unknown> | readonly Statement<unknown>[];

/** Work on a store with the result `T`. */
export type Plan<T> = Generator<Step, T, unknown>;

/** Runs one statement. */
export function* ask<T>(statement: Statement<T>): Plan<T> {
  return (yield statement) as T;
}

/** Runs plans side by side: first the first statement of each, then the second ones, and so on. */
export function* together<T extends readonly unknown[]>(...plans: { [N in keyof T]: Plan<T[N]> }): Plan<T> {
  const results: unknown[] = [];
  let open = plans.map((plan: Plan<unknown>, place) => ({ plan, place, step: plan.next() }));
  for (;;) {
    for (const { place, step } of open) if (step.done === true) results[place] = step.value;
    open = open.filter(({ step }) => step.done !== true);
    if (open.length === 0) return results as unknown as T;
    const steps = open.map(({ step }) => statementsOf(step.value as Step));
    const found = (yield steps.flat()) as unknown[];
    let from = 0;
    for (const [n, each] of open.entries()) {
      const own = found.slice(from, from + (steps[n]?.length ?? 0));
      from += own.length;
      each.step = each.plan.next(Array.isArray(each.step.value) ? own : own[0]);
    }
  }
}

function statementsOf(step: Step): readonly Statement<unknown>[] {
  return isSeveral(step) ? step : [step];
}

function isSeveral(step: Step): step is readonly Statement<unknown>[] {
  return Array.isArray(step);
}

/** A plan without statements. */
export function* done<T>(result: T): Plan<T> {
  yield* together();
  return result;
}

/** Runs a plan on a connection that responds at once. */
export function runNow<T>(plan: Plan<T>, run: <R>(statement: Statement<R>) => R): T {
  let step = plan.next();
  while (step.done !== true) {
    const asked = step.value;
    step = plan.next(isSeveral(asked) ? asked.map((each) => run(each)) : run(asked));
  }
  return step.value;
}

/** Runs a plan on a connection that responds later. Statements that the plan yields together are sent together. */
export async function runLater<T>(
  plan: Plan<T>,
  run: <R>(statement: Statement<R>) => Promise<R>,
): Promise<T> {
  let step = plan.next();
  while (step.done !== true) {
    const asked = step.value;
    step = plan.next(await (isSeveral(asked) ? Promise.all(asked.map((each) => run(each))) : run(asked)));
  }
  return step.value;
}
