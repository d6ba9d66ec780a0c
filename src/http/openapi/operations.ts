/** What operations have in common: who can call, which errors they have, and the headers of every response. */
import { type Described, type Part, ref } from "./described.ts";
import { responseName } from "./problem-responses.ts";
import { commonHeaders, headersOf, type ResponseHeader } from "./response-headers.ts";

/** The tag of operations that belong to no collection. */
export const serviceTag = "Service";

/** The tag of webhooks. */
export const webhooksTag = "Webhooks";

/** A response on success. `must` are headers that it always has, and `may` are headers that it can have. */
export interface Success {
  readonly description: string;
  readonly must?: readonly ResponseHeader[];
  readonly may?: readonly ResponseHeader[];
  readonly content?: Part;
  /** Links to other operations. */
  readonly links?: Part;
}

/** An operation, before it is part of a document. */
export interface OperationPlan {
  id: string;
  tag: string;
  summary: string;
  description: string;
  /** Whether a caller needs a credential. With an optional one, the response can include more. */
  credential: "none" | "optional" | "required";
  parameters?: readonly Part[];
  requestBody?: Part;
  /** Whether requests are not counted against the caller's quota. */
  isFree?: boolean;
  /** Whether every valid credential is enough. */
  isNeverForbidden?: boolean;
  /** The responses on success, by status. */
  successes: Readonly<Record<number, Success>>;
  /** The statuses of its own errors. Any request can also have others. */
  problems: readonly number[];
}

/** An operation as a document has it. */
export function operationPart(plan: OperationPlan, described: Described): Part {
  const { id, tag, summary, description, parameters = [], requestBody, successes } = plan;
  const ofSuccesses = Object.entries(successes).map(([status, each]) => [
    status,
    successPart(each, described),
  ]);
  const problems = problemsOf(plan, described).map((status) => [
    status,
    ref("responses", responseName(status)),
  ]);
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: described.access === undefined ? description : `${description}\n\n${needs[plan.credential]}`,
    ...securityOf(plan, described),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: {
      ...Object.fromEntries([...ofSuccesses, ...problems]),
      default: ref("responses", "AnyProblem"),
    },
  };
}

/** The sentence about credentials in a description, if the service has `auth`. */
const needs: Readonly<Record<OperationPlan["credential"], string>> = {
  none: "It needs no credential.",
  optional: "It is public. With a credential, the response can include more.",
  required: "It needs a credential.",
};

/** Adds the errors of access rules, encryption and the rate limit to those of the operation. */
function problemsOf(plan: OperationPlan, { access, settings }: Described): number[] {
  const { credential, isFree, isNeverForbidden, problems } = plan;
  const all = new Set(problems);
  if (credential !== "none") {
    if (access !== undefined) all.add(401);
    if ((access !== undefined && isNeverForbidden !== true) || settings.requireTls) all.add(403);
  }
  if (settings.rate !== undefined && isFree !== true) all.add(429);
  return [...all].sort((a, b) => a - b);
}

function securityOf({ credential }: OperationPlan, { access }: Described): Part {
  if (access === undefined || credential === "required") return {};
  return { security: credential === "none" ? [] : [{}, { bearer: [] }] };
}

function successPart(
  { description, must = [], may = [], content, links }: Success,
  { settings }: Described,
): Part {
  const headers = headersOf([...commonHeaders(settings.rate !== undefined), ...must], may);
  return { description, headers, ...(content && { content }), ...(links && { links }) };
}

/** The 204 of a repeated request whose stored result the caller can no longer see. */
export const hiddenResult: Success = {
  description: "An earlier request with this key took effect. The caller cannot see its result.",
  must: ["Idempotent-Replayed"],
};
