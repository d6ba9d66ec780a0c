/** The problem of what `refuse` or `forbid` refuses. */
import { Problem, toSentence, type Violation } from "../../errors.ts";
import { subjectAt, toFragment } from "../../json/pointer.ts";
import type { Refusal } from "./public.ts";

/** The problem of a refusal. `whole`: what a refusal without a path is about. */
export function refusalProblem(refusal: Refusal, whole: "The body" | "The resource"): Problem {
  if (refusal.kind === "forbidden") return new Problem("INSUFFICIENT_SCOPE", toSentence(refusal.detail));
  const { path, code, detail } = refusal;
  const pointer = toFragment(path);
  const violations: Violation[] = [{ in: "body", pointer, code, detail }];
  const message =
    path.length === 0 ? toSentence(detail) : `${subjectAt(pointer, whole)} ${toSentence(detail)}`;
  return new Problem("VALIDATION_FAILED", message, { violations });
}
