/** The search of Wing and Gong, with a memo of what was tried: in which order could this have happened? */

/** One operation of a history. The moments are those of one clock that all clients share. */
export interface Timed {
  outcome: { kind: string };
  calledAt: number;
  /** Infinity when the outcome is `unknown`: it may still happen after everything else. */
  answeredAt: number;
}

/** What the operations are about, used by one client at a time. */
export interface Machine<State, Operation> {
  initial: State;
  /**
   * The state after the operation, or `undefined` when it would have been answered differently. Gives the state itself
   * back where the operation changed nothing.
   */
  apply(state: State, operation: Operation): State | undefined;
  /** Tells states apart that the same operations may have led to. */
  nameOf(state: State): string;
  /** Whether the history may end here, with all but unknown operations done. @default wherever it comes to that */
  mayEnd?(state: State): boolean;
}

/** What was found: an order of the whole history, or the longest one that something can be said of. */
export interface Found<State, Operation> {
  isWhole: boolean;
  order: readonly Operation[];
  end: State;
}

/** Looks for an order that explains all the answers of a history. */
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
    // What nobody was told of may as well not have happened.
    const isWhole = rest.every(({ operation }) => operation.outcome.kind === "unknown") && mayEnd(state);
    if (isWhole || order.length > best.order.length) best = { isWhole, order: [...order], end: state };
    if (isWhole) return true;
    const memo = `${done} ${nameOf(state)}`;
    if (tried.has(memo)) return false;
    tried.add(memo);
    const firstAnswer = Math.min(...rest.map(({ operation }) => operation.answeredAt));
    for (const { operation, bit } of rest) {
      // Called only after another one, still to be placed, had its answer: cannot be the next.
      if (operation.calledAt > firstAnswer) continue;
      const next = apply(state, operation);
      if (next === undefined) continue;
      order.push(operation);
      if (search(done | bit, next)) return true;
      order.pop();
      // What changes nothing stands in nobody's way here, so that its place is not to blame.
      if (next === state && operation.outcome.kind !== "unknown") return false;
    }
    return false;
  };

  search(0n, initial);
  return best;
}
