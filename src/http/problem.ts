/**
 * Makes an answer of anything that was thrown: the only catch on the path of a request ends here.
 *
 * The body is a problem object (RFC 9457) with what front-end libraries read besides: `message`, and `errors`
 * as a flat map. What is not a `Problem` is a fault of ours: logged once, and answered without details.
 */
import { STATUS_CODES } from "node:http";
import { Problem, type ProblemCode, type Violation } from "../errors.ts";
import { dottedPath } from "../json/pointer.ts";
import { acceptsProblemJson } from "./protocol/media-types.ts";
import { type HttpRequest, type HttpResponse, jsonType } from "./protocol/message.ts";
import type { Log } from "./service.ts";

/** At most so many violations are told at once. */
const maxViolations = 50;

/** The last segment of a problem's `type`: its code in lower case with hyphens. */
export function problemSlug(code: ProblemCode): string {
  return code.toLowerCase().replaceAll("_", "-");
}

/** The answer to a request that threw. */
export function problemResponse(request: HttpRequest, error: unknown, log: Log): HttpResponse {
  const problem = error instanceof Problem ? error : internalProblem;
  if (problem.status >= 500) {
    const cause = error instanceof Problem ? error.cause : error;
    log.error({ requestId: request.id, code: problem.code, err: cause }, problem.message);
  }
  return toResponse(request, problem);
}

const internalProblem = new Problem(
  "INTERNAL",
  'The service failed. Its log has the cause, marked with the "instance" of this problem.',
);

function toResponse(request: HttpRequest, problem: Problem): HttpResponse {
  const body = JSON.stringify(problemBody(problem, request.id));
  return {
    status: problem.status,
    headers: {
      "content-type": acceptsProblemJson(request.headers.accept) ? "application/problem+json" : jsonType,
      "content-length": String(Buffer.byteLength(body)),
      "cache-control": "no-store",
      ...(problem.status === 503 ? { "retry-after": "1" } : {}),
      ...problem.headers,
    },
    body: request.method === "HEAD" ? undefined : body,
  };
}

/** The problem object; `requestId` is the service's own id of the request. */
export function problemBody(problem: Problem, requestId: string): Record<string, unknown> {
  const { status, code, message } = problem;
  const violations = problem.violations.slice(0, maxViolations);
  return {
    type: code === "QUOTA_EXCEEDED" ? quotaExceededType : `/problems/${problemSlug(code)}`,
    title: STATUS_CODES[status],
    status,
    detail: message,
    instance: `urn:uuid:${requestId}`,
    code,
    message,
    ...(problem.operation === undefined ? {} : { operation: problem.operation }),
    ...(code === "QUOTA_EXCEEDED" ? { "violated-policies": ["default"] } : {}),
    ...(patchCodes.has(code) ? {} : memberErrors(violations)),
    ...(violations.length === 0 ? {} : { violations }),
  };
}

/** The type that the registry of problem types has for it (RFC 9457 §4.2). */
const quotaExceededType = "https://iana.org/assignments/http-problem-types#quota-exceeded";

/** Their pointers lead into the patch, not into the resource whose attributes a form shows. */
const patchCodes: ReadonlySet<ProblemCode> = new Set(["INVALID_PATCH", "PATCH_CONFLICT"]);

/** `errors`: dotted path to the first detail, the shape that form libraries show beside a field. */
function memberErrors(violations: readonly Violation[]): { errors?: Record<string, string> } {
  const errors = new Map<string, string>();
  for (const { pointer, detail } of violations) {
    if (pointer === undefined) continue;
    const path = dottedPath(pointer);
    if (path !== "" && !errors.has(path)) errors.set(path, detail);
  }
  return errors.size === 0 ? {} : { errors: Object.fromEntries(errors) };
}
