/** Makes the response of a route from what its function has returned or thrown. */
import { Problem } from "../../../errors.ts";
import { notFound, type Result } from "../../../http/operations/result.ts";
import type { HttpRequest, HttpResponse } from "../../../http/protocol/message.ts";
import { jsonType, noStore, withBody } from "../../../http/protocol/message.ts";
import type { CodeOutcome } from "../calls/code-runner.ts";
import { refusalProblem } from "../refusal-problem.ts";
import type { RouteResponse } from "./respond.ts";
import type { RouteSettings } from "./route-options.ts";
import type { RouteValidators } from "./route-schemas.ts";

/** The largest body of a response, in bytes. */
const maxBody = 16 * 1024 * 1024;

/** What a response needs to know of its route. */
interface Of {
  route: RouteSettings;
  validators: Pick<RouteValidators, "response">;
  /** Gets the sentence about a result that cannot be a response. */
  onWrong: (message: string) => void;
}

/** The result of a call. Throws CODE_FAILED, OUTCOME_UNKNOWN, and what the function, or the service to the caller, has refused. */
export function routeResult(outcome: CodeOutcome, request: HttpRequest, of: Of): Result {
  if (outcome.kind === "done") return { kind: "response", response: responseOf(outcome, request, of) };
  if (outcome.passedOn?.kind === "not found") return notFound;
  throw failure(of.route, outcome);
}

function responseOf(
  { value, response }: Extract<CodeOutcome, { kind: "done" }>,
  request: HttpRequest,
  { route, validators, onWrong }: Of,
): HttpResponse {
  try {
    if (response !== undefined) return declaredResponse(response, request, validators);
    requireValid(value, validators);
    if (value === undefined) return { status: 204, headers: { "cache-control": noStore }, body: undefined };
    const headers = { "content-type": jsonType, "cache-control": noStore };
    return withBody(request, requireShort(JSON.stringify(value)), { status: 200, headers });
  } catch (error) {
    if (!(error instanceof WrongResponse)) throw error;
    onWrong(error.message);
    throw codeFailed(route, error.message);
  }
}

/** A result that cannot be a response. */
class WrongResponse extends Error {
  override readonly name = "WrongResponse";
}

function declaredResponse(
  { status, headers: own, body }: RouteResponse,
  request: HttpRequest,
  validators: Of["validators"],
): HttpResponse {
  if (!Number.isInteger(status) || status < 200 || status > 499)
    throw new WrongResponse(`respond(${status}, …): the status must be a whole number from 200 to 499.`);
  const headers: Record<string, string> = { "cache-control": noStore, ...requireAllowed(own) };
  const type = headers["content-type"];
  if (headers["content-encoding"] !== undefined && !(body instanceof Uint8Array))
    throw new WrongResponse(
      'respond: only bytes can have the header "content-encoding". The service compresses texts itself. Leave it out.',
    );
  if (status === 204 || status === 205 || status === 304) {
    if (body !== undefined) throw new WrongResponse(`respond(${status}, …): such a response has no body.`);
    return {
      status,
      headers: status === 205 ? { ...headers, "content-length": "0" } : headers,
      body: undefined,
    };
  }
  if (body === undefined) return { status, headers: { ...headers, "content-length": "0" }, body: undefined };
  if (type === undefined)
    throw new WrongResponse('respond: a text or bytes need the header "content-type", such as "text/plain".');
  if (typeof body === "string" && status < 300 && /^application\/json[\t ]*(?:;|$)/i.test(type))
    requireValid(parsed(body), validators);
  const isHtml = /^(?:text\/html|application\/xhtml\+xml)\b/i.test(type);
  const policy =
    isHtml && headers["content-security-policy"] === undefined
      ? { "content-security-policy": withoutScripts }
      : {};
  const content =
    typeof body === "string" ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return withBody(request, requireShort(content), { status, headers: { ...headers, ...policy } });
}

/** For pages of routes that do not state a policy: their own styles, images and forms, and no scripts. */
const withoutScripts =
  "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new WrongResponse("respond: the body is not JSON, but its content-type says so.");
  }
}

function requireValid(value: unknown, { response }: Of["validators"]): void {
  const [first] = response(value as Record<string, unknown>);
  if (first === undefined) return;
  throw new WrongResponse(`The response does not match its schema: ${first.pointer} ${first.detail}.`);
}

function requireShort<Body extends string | Buffer>(body: Body): Body {
  if (Buffer.byteLength(body) <= maxBody) return body;
  throw new WrongResponse("The response is larger than 16 MiB.");
}

/** Headers that belong to the connection, or that the service itself sets. */
const refused =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|date|server|set-cookie2?|clear-site-data|access-control-.*|cross-origin-.*|strict-transport-security|x-content-type-options|x-frame-options|referrer-policy|x-request-id|vary|ratelimit.*|holdfast-.*)$/;

/** RFC 9110: a name is a token, and a value has no control characters, which could begin another header. */
const nameShape = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const valueShape = /^(?![ \t])[\t\x20-\x7e\x80-\xff]*(?<![ \t])$/;

function requireAllowed(headers: RouteResponse["headers"]): Record<string, string> {
  for (const [name, value] of Object.entries(headers)) {
    if (refused.test(name))
      throw new WrongResponse(`respond: the header "${name}" belongs to the service. Leave it out.`);
    if (!nameShape.test(name) || !valueShape.test(value))
      throw new WrongResponse(
        `respond: the header ${JSON.stringify(name)} has a name or a value that HTTP does not allow.`,
      );
  }
  return { ...headers };
}

/** The problem of a call that has failed. The client learns nothing about the code; the log has the reason. */
function failure(
  route: RouteSettings,
  { reason, message, refusal, passedOn }: Extract<CodeOutcome, { kind: "failed" }>,
): Problem {
  if (refusal !== undefined) return refusalProblem(refusal, "The body");
  if (passedOn?.kind === "problem") return new Problem(passedOn.code, passedOn.detail);
  if (reason === "throw" || reason === "result" || reason === "promise" || reason === "load")
    return codeFailed(route, message);
  return new Problem(
    "OUTCOME_UNKNOWN",
    "The code of this path did not end in time, or its thread has ended. It may have changed something. Look at what it has changed before you repeat the request.",
    { cause: causeOf(route, message) },
  );
}

function codeFailed(route: RouteSettings, message: string): Problem {
  return new Problem("CODE_FAILED", "The code of this path failed. It may have changed something before.", {
    cause: causeOf(route, message),
  });
}

function causeOf({ name }: RouteSettings, message: string): string {
  return `routes.${name}.run: ${message}`;
}
