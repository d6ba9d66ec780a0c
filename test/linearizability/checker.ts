/**
 * Judges whether a recorded history of one resource is linearizable: whether every operation can be given one
 * moment between its call and its answer such that, taken in that order, the answers are those of a resource
 * that is used by one client at a time.
 */
import { findOrder, type Timed } from "./search.ts";

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

/** One operation of a history. */
export interface Recorded extends Timed {
  client: number;
  call: Call;
  outcome: Outcome;
}

type State = { kind: "unborn" } | { kind: "present"; version: number; value: number } | { kind: "gone" };

/** An order that explains all the answers of a history, or `undefined` when there is none. */
export function linearize(history: readonly Recorded[]): readonly Recorded[] | undefined {
  const unborn: State = { kind: "unborn" };
  const { isWhole, order } = findOrder(history, { initial: unborn, apply, nameOf: JSON.stringify });
  return isWhole ? order : undefined;
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
