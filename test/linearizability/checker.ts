/**
 * Judges whether a recorded history of one resource is linearizable: whether every operation can be given one
 * moment between its call and its answer such that, taken in that order, the answers are those of a resource
 * that is used by one client at a time. The search is that of Wing and Gong, with a memo of what was tried.
 */

/** What a client asked for. `ifMatch` is the version in its If-Match. */
export type Call =
  | { kind: "create"; value: number }
  | { kind: "read" }
  | { kind: "update"; value: number; ifMatch?: number }
  | { kind: "delete"; ifMatch?: number };

/** What came back. `unknown`: the client never learned whether its operation happened. */
export type Outcome =
  | { kind: "read"; version: number; value: number }
  | { kind: "written"; version: number }
  | { kind: "deleted" }
  | { kind: "absent" }
  | { kind: "failed precondition" }
  | { kind: "unknown" };

/** One operation of a history. The moments are those of one clock that all clients share. */
export interface Recorded {
  client: number;
  call: Call;
  outcome: Outcome;
  calledAt: number;
  /** Infinity when the outcome is unknown: it may still happen after everything else. */
  answeredAt: number;
}

type State = { kind: "unborn" } | { kind: "present"; version: number; value: number } | { kind: "gone" };

/** An order that explains all the answers of a history, or `undefined` when there is none. */
export function linearize(history: readonly Recorded[]): readonly Recorded[] | undefined {
  const operations = history.map((recorded, index) => ({ recorded, bit: 1n << BigInt(index) }));
  const tried = new Set<string>();
  const order: Recorded[] = [];

  const search = (done: bigint, state: State): boolean => {
    const rest = operations.filter(({ bit }) => (done & bit) === 0n);
    // What nobody was told of may as well not have happened.
    if (rest.every(({ recorded }) => recorded.outcome.kind === "unknown")) return true;
    const memo = `${done} ${JSON.stringify(state)}`;
    if (tried.has(memo)) return false;
    tried.add(memo);
    const firstAnswer = Math.min(...rest.map(({ recorded }) => recorded.answeredAt));
    for (const { recorded, bit } of rest) {
      // Called only after another one, still to be placed, had its answer: cannot be the next.
      if (recorded.calledAt > firstAnswer) continue;
      const next = apply(state, recorded);
      if (next === undefined) continue;
      order.push(recorded);
      if (search(done | bit, next)) return true;
      order.pop();
    }
    return false;
  };

  return search(0n, { kind: "unborn" }) ? order : undefined;
}

/** The state after the operation, or `undefined` when it would have been answered differently. */
function apply(state: State, { call, outcome }: Recorded): State | undefined {
  const expected = carryOut(state, call);
  if (outcome.kind === "unknown") return expected.next;
  return isSame(expected.outcome, outcome) ? expected.next : undefined;
}

/** The resource as its documentation has it, used by one client at a time. */
function carryOut(state: State, call: Call): { outcome: Outcome; next: State } {
  if (call.kind === "create") {
    // One create per history; its id is given once and never again.
    if (state.kind !== "unborn") return { outcome: { kind: "absent" }, next: state };
    return {
      outcome: { kind: "written", version: 1 },
      next: { kind: "present", version: 1, value: call.value },
    };
  }
  if (state.kind !== "present") return { outcome: { kind: "absent" }, next: state };
  const { version, value } = state;
  if (call.kind === "read") return { outcome: { kind: "read", version, value }, next: state };
  if (call.ifMatch !== undefined && call.ifMatch !== version)
    return { outcome: { kind: "failed precondition" }, next: state };
  if (call.kind === "delete") return { outcome: { kind: "deleted" }, next: { kind: "gone" } };
  return {
    outcome: { kind: "written", version: version + 1 },
    next: { kind: "present", version: version + 1, value: call.value },
  };
}

function isSame(one: Outcome, other: Outcome): boolean {
  if (one.kind === "read")
    return other.kind === "read" && one.version === other.version && one.value === other.value;
  if (one.kind === "written") return other.kind === "written" && one.version === other.version;
  return one.kind === other.kind;
}
