/**
 * Turns any error that a request causes into a response.
 *
 * The body is a problem object (RFC 9457). For front-end libraries it also has `message`, and `errors` as a flat map. An
 * error that is not a `Problem` is a fault of the service: it is logged, and the response has no details of it.
 */
import { Problem, type ProblemCode, type Violation } from "../errors.ts";
import { dottedPath } from "../json/pointer.ts";
import { acceptsProblemJson } from "./protocol/media-types.ts";
import { type HttpRequest, type HttpResponse, jsonType } from "./protocol/message.ts";
import { STATUS_CODES } from "./protocol/node-http.ts";
import type { Log } from "./service.ts";

/** The most violations in one response. */
const maxViolations = 50;

/** The last segment of the `type` of a problem: its code in lower case with hyphens. */
export function problemSlug(code: ProblemCode): string {
  return code.toLowerCase().replaceAll("_", "-");
}

/** The response for an error. Logs the error if its status is 5xx. */
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

/** The problem object. `requestId` is the service's own id of the request. */
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
    ...(problem.resource === undefined ? {} : { resource: problem.resource }),
    ...(problem.holder === undefined ? {} : { holder: problem.holder }),
    ...(problem.matched === undefined ? {} : { matched: problem.matched }),
    ...(problem.report === undefined ? {} : { report: problem.report }),
    ...(code === "QUOTA_EXCEEDED" ? { "violated-policies": [problem.policy ?? "default"] } : {}),
    ...(patchCodes.has(code) ? {} : memberErrors(violations)),
    ...(violations.length === 0 ? {} : { violations }),
  };
}

/** The type in the registry of problem types (RFC 9457 §4.2). */
const quotaExceededType = "https://iana.org/assignments/http-problem-types#quota-exceeded";

/** The violations of these errors point into the patch, not into the resource, so they have no `errors`. */
const patchCodes: ReadonlySet<ProblemCode> = new Set(["INVALID_PATCH", "PATCH_CONFLICT"]);

/** `errors`: the first detail of each attribute by its dotted path. Form libraries show them next to the fields. */
function memberErrors(violations: readonly Violation[]): { errors?: Record<string, string> } {
  const errors = new Map<string, string>();
  for (const { pointer, detail } of violations) {
    if (pointer === undefined) continue;
    const path = dottedPath(pointer);
    if (path !== "" && !errors.has(path)) errors.set(path, detail);
  }
  return errors.size === 0 ? {} : { errors: Object.fromEntries(errors) };
}
