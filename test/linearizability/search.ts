/** The search of Wing and Gong for an order in which a history could have happened. It remembers what it has tried. */

/** One operation of a history. All clients share the clock of its times. */
export interface Timed {
  outcome: { kind: string };
  calledAt: number;
  /** Infinity if the outcome is `unknown`: the operation can still happen after everything else. */
  answeredAt: number;
}

/** The object that the operations change, if one client uses it at a time. */
export interface Machine<State, Operation> {
  initial: State;
  /**
   * The state after the operation; `undefined` if the object would have responded differently. Returns the same state if the
   * operation changes nothing.
   */
  apply(state: State, operation: Operation): State | undefined;
  /** A name that differs between different states after the same operations. */
  nameOf(state: State): string;
  /** Whether the history can end in this state. Operations with unknown outcomes can be left. @default always */
  mayEnd?(state: State): boolean;
}

/** The result: an order of the whole history, or the longest order of a part of it. */
export interface Found<State, Operation> {
  isWhole: boolean;
  order: readonly Operation[];
  end: State;
}

/** Searches for an order that explains all responses of a history. */
export function findOrder<State, Operation extends Timed>(
  history: readonly Operation[],
  { initial, apply, nameOf, mayEnd = () => true }: Machine<State, Operation>,
): Found<State, Operation> {
  const operations = history.map((operation, index) => ({ operation, bit: 1n << BigInt(index) }));
  const tried = new Set<string>();
  const order: Operation[] = [];
  let best: Found<State, Operation> = { isWhole: false, order: [], end: initial };

  const search = (done: bigint, state: State): boolean => {
    const rest = operations.filter(({ bit }) => (done & bit) === 0n);
    // An operation with an unknown outcome may not have happened.
    const isWhole = rest.every(({ operation }) => operation.outcome.kind === "unknown") && mayEnd(state);
    if (isWhole || order.length > best.order.length) best = { isWhole, order: [...order], end: state };
    if (isWhole) return true;
    const memo = `${done} ${nameOf(state)}`;
    if (tried.has(memo)) return false;
    tried.add(memo);
    const firstAnswer = Math.min(...rest.map(({ operation }) => operation.answeredAt));
    for (const { operation, bit } of rest) {
      // It was called after the response to another operation that has no place yet, so it cannot be the next one.
      if (operation.calledAt > firstAnswer) continue;
      const next = apply(state, operation);
      if (next === undefined) continue;
      order.push(operation);
      if (search(done | bit, next)) return true;
      order.pop();
      // An operation that changes nothing has no effect on others, so another place for it would not help.
      if (next === state && operation.outcome.kind !== "unknown") return false;
    }
    return false;
  };

  search(0n, initial);
  return best;
}
