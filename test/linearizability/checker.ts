/**
 * Decides whether a recorded history of one resource is linearizable. It is, if every operation can have a moment between its
 * call and its response, so that in the order of these moments one client at a time would get the same responses.
 */
import { findOrder, type Timed } from "./search.ts";

/** The request of a client. `ifMatch` is the version in its If-Match. */
export type Call =
  | { kind: "create"; value: number }
  | { kind: "read" }
  | { kind: "update"; value: number; ifMatch?: number }
  | { kind: "delete"; ifMatch?: number };

/** The response. `unknown`: the client never learned whether its operation happened. */
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

/** An order that explains all responses of a history; `undefined` if none exists. */
export function linearize(history: readonly Recorded[]): readonly Recorded[] | undefined {
  const unborn: State = { kind: "unborn" };
  const { isWhole, order } = findOrder(history, { initial: unborn, apply, nameOf: JSON.stringify });
  return isWhole ? order : undefined;
}

/** The state after the operation; `undefined` if the resource would have responded differently. */
function apply(state: State, { call, outcome }: Recorded): State | undefined {
  const expected = carryOut(state, call);
  if (outcome.kind === "unknown") return expected.next;
  return isSame(expected.outcome, outcome) ? expected.next : undefined;
}

/** The resource as the documentation describes it, if one client uses it at a time. */
function carryOut(state: State, call: Call): { outcome: Outcome; next: State } {
  if (call.kind === "create") {
    // A history has one create. The service never uses its id again.
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
