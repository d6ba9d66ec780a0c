/** What the service learns about code that has failed. */
import { nameOf, WrongResult } from "./plain-values.ts";
import { type Refusal, refusalOf } from "./public.ts";

/** Why code failed, as the metrics name it. */
export type FailureReason = "throw" | "promise" | "result" | "time" | "memory" | "exit" | "load";

/** A call that has failed. `message`: for the log. `refusal`: the code has called `refuse` or `forbid`. */
export interface Failure {
  readonly kind: "failed";
  readonly reason: FailureReason;
  readonly message: string;
  readonly refusal?: Refusal;
}

/** The failure of a call that the stop of the service has ended, or that came after it. */
export const serviceStopped: Failure = {
  kind: "failed",
  reason: "exit",
  message: "The service has stopped.",
};

/** The failure of code that has thrown a value. Never throws, although an error of the user can do so when its members are read. */
export function failureOf(thrown: unknown): Failure {
  try {
    if (thrown instanceof WrongResult)
      return { kind: "failed", reason: thrown.reason, message: thrown.message };
    const refusal = refusalOf(thrown);
    return { kind: "failed", reason: "throw", message: messageOf(thrown), ...(refusal && { refusal }) };
  } catch {
    return { kind: "failed", reason: "throw", message: "It threw a value that cannot be read." };
  }
}

/** The longest message, in characters. */
const maxMessage = 10_000;

function messageOf(thrown: unknown): string {
  if (typeof thrown === "string") return `It threw a text: ${thrown.slice(0, maxMessage)}`;
  if (!(thrown instanceof Error)) return `It threw ${nameOf(thrown)}. Throw an Error.`;
  return String(thrown.stack ?? thrown.message).slice(0, maxMessage);
}
