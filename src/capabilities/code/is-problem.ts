/** How the code of a configuration recognises the errors of its clients. */
import type { ProblemBody, ProblemError } from "holdfast-client";

/** A code of an error, such as `UNIQUE_VIOLATION`. */
export type ProblemCode = ProblemBody["code"];

/**
 * Whether a client has thrown this because the service refused its request. With codes: only if it did so with one of them. A 404 has no
 * code: its `status` says so. Several copies of the client can be loaded, so `instanceof` would not do.
 */
export function isProblem(error: unknown, ...codes: readonly ProblemCode[]): error is ProblemError {
  if (!(error instanceof Error && "problem" in error && "status" in error && "code" in error)) return false;
  return codes.length === 0 || codes.some((code) => code === error.code);
}
