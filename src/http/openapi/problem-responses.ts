/** The schemas of errors and the responses with them, made from the table of error codes. */
import { Problem, type ProblemCode, problems, type Violation } from "../../errors.ts";
import { problemBody } from "../problem.ts";
import { STATUS_CODES } from "../protocol/node-http.ts";
import { closedObject, count, media, type Part, ref, text } from "./described.ts";
import { headersOf, type ResponseHeader } from "./response-headers.ts";

/** Statuses that any request can have. */
export const anywhere = [405, 408, 414, 417, 421, 431, 500, 503] as const;

/** The additional headers of a response with an error, by status. */
const fields: Readonly<Record<number, { must?: ResponseHeader[]; may?: ResponseHeader[] }>> = {
  400: { may: ["Accept-Query"] },
  401: { must: ["WWW-Authenticate"] },
  403: { may: ["WWW-Authenticate"] },
  404: { may: ["Holdfast-Hint"] },
  405: { must: ["Allow"] },
  409: { may: ["Retry-After", "Location"] },
  412: { may: ["ETag"] },
  415: { may: ["Accept", "Accept-Patch", "Accept-Query", "Accept-Encoding"] },
  429: { must: ["Retry-After"] },
};

/** The name of a status as the name of a component. */
export function responseName(status: number): string {
  return phraseOf(status).replaceAll(/[^A-Za-z]/g, "");
}

/** Node has the names of older RFCs for these. */
const phrases: Readonly<Record<number, string>> = { 413: "Content Too Large", 422: "Unprocessable Content" };

function phraseOf(status: number): string {
  return phrases[status] ?? STATUS_CODES[status] ?? String(status);
}

/** The statuses of errors whose responses have a body. */
export const problemStatuses: readonly number[] = [
  ...new Set(Object.values(problems).map(({ status }) => status)),
];

/** The name of the schema of the errors with a status. */
function schemaName(status: number): string {
  return `${responseName(status)}Problem`;
}

/** The schemas of errors, by their names: of all, of those with each status, and of a violation. */
export function problemSchemas(): Record<string, Part> {
  const all = "An error (RFC 9457). Programs can rely on `code`.";
  return {
    Problem: problemSchema(all, { minimum: 400, maximum: 599 }, Object.keys(problems)),
    ...Object.fromEntries(
      problemStatuses.map((status) => [
        schemaName(status),
        problemSchema(
          `An error with status ${status}. ${sentences[status]}`,
          { const: status },
          codesOf([status]),
        ),
      ]),
    ),
    Violation: violation,
  };
}

/** An error. Each response has a schema of its own: some tools cannot read an `allOf` that narrows a member. */
function problemSchema(description: string, status: Part, codes: readonly string[]): Part {
  return {
    description,
    type: "object",
    required: ["type", "title", "status", "detail", "instance", "code", "message"],
    properties: {
      type: { type: "string", format: "uri-reference" },
      title: text,
      status: { type: "integer", ...status },
      detail: { description: "What is wrong and how to correct it, for people.", ...text },
      instance: { description: "The id of the request in the service's log.", type: "string", format: "uri" },
      code: { type: "string", enum: codes },
      message: { description: "The same as `detail`.", ...text },
      operation: {
        description: "The index of the batch operation with the error, from 0.",
        type: "integer",
        minimum: 0,
      },
      resource: {
        description: "The path of the resource with the error, if the request changes many.",
        type: "string",
        format: "uri-reference",
      },
      holder: {
        description:
          "The path of the resource that has the same unique values; `null` if the caller cannot read it. Left out if the same request makes it.",
        type: ["string", "null"],
        format: "uri-reference",
      },
      matched: {
        description: "The number of resources that match, if they are too many.",
        ...count,
      },
      errors: {
        description: "The errors of single attributes, by dotted path.",
        type: "object",
        additionalProperties: text,
      },
      violations: { type: "array", maxItems: 50, items: ref("schemas", "Violation") },
      report: {
        description: "What an import or a rewind would have done.",
        anyOf: [ref("schemas", "ImportReport"), ref("schemas", "RewindReport")],
      },
      "violated-policies": { type: "array", items: text },
    },
  };
}

const violation: Part = closedObject(
  {
    in: { type: "string", enum: ["body", "query", "path", "header"] },
    pointer: { description: "A JSON Pointer into the body, as a URI fragment.", ...text },
    name: { description: "The name of the parameter or header.", ...text },
    code: { description: "The rule that the value breaks.", ...text },
    detail: text,
  },
  { optional: ["pointer", "name"] },
);

/** The responses with errors of these statuses, and the one for errors of any request, as components. */
export function problemParts(
  statuses: readonly number[],
  common: readonly ResponseHeader[],
): Record<string, Part> {
  const named = statuses.map((status) => [responseName(status), responseOf(status, common)] as const);
  return { ...Object.fromEntries(named), AnyProblem: anyProblem(common) };
}

function responseOf(status: number, common: readonly ResponseHeader[]): Part {
  const { must = [], may = [] } = fields[status] ?? {};
  const headers = headersOf([...common, ...must], may);
  if (status === 404)
    return { description: "The resource does not exist. The response has no body.", headers };
  const codes = codesOf([status]);
  return {
    description: `${sentences[status]} ${codes.map((code) => `\`${code}\`: ${problems[code].meaning}`).join(" ")}`,
    headers,
    content: contentOf(ref("schemas", schemaName(status)), exampleOf(status, codes)),
  };
}

function anyProblem(common: readonly ResponseHeader[]): Part {
  const codes = codesOf(anywhere);
  return {
    description: `Any other error. Every request can get: ${codes.map((code) => `${problems[code].status} \`${code}\``).join(", ")}.`,
    headers: headersOf(common, ["Retry-After", "Allow", "Accept", "Accept-Encoding"]),
    content: contentOf(ref("schemas", "Problem"), exampleOf(503, ["UNAVAILABLE"])),
  };
}

function codesOf(statuses: readonly number[]): ProblemCode[] {
  return (Object.keys(problems) as ProblemCode[]).filter((code) => statuses.includes(problems[code].status));
}

/** What went wrong, by status. */
const sentences: Readonly<Record<number, string>> = {
  400: "The request is invalid.",
  401: "The credential is missing or invalid.",
  403: "The credential does not allow this operation.",
  405: "The path does not support this method.",
  406: "No format of the response matches `Accept`.",
  408: "The request took too long.",
  409: "The request conflicts with the current state.",
  410: "The feed cannot continue from this position.",
  412: "A precondition failed: the resource is not in the expected state.",
  413: "The body is too large.",
  414: "The URL is too long.",
  415: "The service does not accept this kind of body.",
  417: "The service does not support this `Expect` header.",
  421: "The host name does not belong to this service.",
  422: "The Idempotency-Key was used before, for another request.",
  428: "The collection requires `If-Match` or `If-Unmodified-Since` for this operation.",
  429: "The quota is used up.",
  431: "The headers are too large.",
  500: "The service failed.",
  503: "The service cannot handle the request now.",
};

/** Problem details as the service sends them. */
function exampleOf(status: number, codes: readonly ProblemCode[]): Part {
  const code = usual[status] ?? codes[0] ?? "INTERNAL";
  const { detail = problems[code].meaning, violations } = exampleDetails[code] ?? {};
  const problem = new Problem(code, detail, violations === undefined ? {} : { violations });
  return problemBody(problem, "01980f3e-8b1c-7d42-9c5a-4f1e2d3c4b5a");
}

/** The most common error code of a status, if it is not the first one in the table. */
const usual: Readonly<Record<number, ProblemCode>> = { 400: "INVALID_PARAMETER", 409: "UNIQUE_VIOLATION" };

const exampleDetails: Readonly<Partial<Record<ProblemCode, { detail: string; violations?: Violation[] }>>> = {
  INVALID_PARAMETER: {
    detail: "limit must be a whole number from 1.",
    violations: [
      { in: "query", name: "limit", code: "minimum", detail: "limit must be a whole number from 1." },
    ],
  },
};

/** Both media types have the same content. */
function contentOf(schema: Part, example: Part): Part {
  const content = media(schema, example);
  return { "application/json": content, "application/problem+json": content };
}
