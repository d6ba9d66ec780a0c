/** What the service refuses in a form of an administrator. */
import { ProblemError } from "holdfast-client";
import { messageOf } from "../parts/problem.tsx";
import { otherProblems, type Refusal, sortViolations } from "../resource/violations.ts";

/** The sentence for a field, and the sentences that belong to no field. */
export function refusalOf(error: unknown, fields: readonly string[]) {
  if (error === null || error === undefined) return { at: () => undefined, others: [] };
  const violations = error instanceof ProblemError ? (error.problem.violations ?? []) : [];
  const refusal: Refusal =
    violations.length > 0 ? sortViolations(violations) : { byName: new Map(), others: [messageOf(error)] };
  return {
    at: (name: string) => refusal.byName.get(name)?.join(" "),
    others: otherProblems(refusal, new Set(fields)),
  };
}
