/** Checks what every response must have, and what a test expects in addition. */
import assert from "node:assert/strict";
import { type ProblemCode, problems, type Violation } from "../../src/errors.ts";
import { STATUS_CODES } from "../../src/http/protocol/node-http.ts";
import { until } from "../until.ts";
import type { Answer, Service } from "./service.ts";

/** The expected response. */
export interface Expected {
  status: number;
  /** Exact values or patterns. `undefined`: the response must not have the header. */
  headers?: Readonly<Record<string, string | RegExp | undefined>>;
  /** The exact body as a JSON value. */
  json?: unknown;
  /** The code of the problem that the body must be. */
  problem?: ProblemCode;
  /** Members of the violations, in order. Without it, only the form of violations is checked. */
  violations?: readonly Partial<Violation>[];
  /** Members that the problem can have in addition to the members of every problem. */
  more?: readonly string[];
}

const uuidUrn = /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const httpDate = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const bodyless = new Set([204, 304]);
const emptyStatuses = new Set([205, 404]);

/** Checks status, headers, framing and body. */
export function check(answer: Answer, expected: Expected): void {
  assert.equal(answer.status, expected.status, `status of ${answer.method}: ${answer.text}`);
  checkCommonHeaders(answer, expected.headers ?? {});
  checkHeaders(answer, expected.headers ?? {});
  checkFraming(answer);
  if (expected.problem !== undefined && answer.method !== "HEAD")
    checkProblem(answer, expected.problem, expected);
  if (expected.json !== undefined) {
    assert.equal(answer.headers["content-type"], "application/json; charset=utf-8");
    assert.deepEqual(answer.json, expected.json);
  }
}

/** Reads a resource when its response has Last-Modified. The service sends it only after the second of the change. */
export async function readDated(service: Pick<Service, "send">, path: string): Promise<Answer> {
  let answer = await service.send({ path });
  await until("the response has Last-Modified", async () => {
    if (answer.headers["last-modified"] === undefined) answer = await service.send({ path });
    return answer.headers["last-modified"] !== undefined;
  });
  return answer;
}

/** Checks the headers that every response has. */
export function checkCommonHeaders(answer: Answer, named: Expected["headers"] = {}): void {
  const { headers } = answer;
  assert.match(headers.date ?? "", httpDate);
  assert.match(headers["x-request-id"] ?? "", /^[\x21-\x7e]{1,128}$/);
  assert.equal(headers["x-content-type-options"], "nosniff");
  assert.equal(
    headers["content-security-policy"],
    "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  );
  assert.equal(headers["referrer-policy"], "no-referrer");
  for (const name of ["server", "x-powered-by", "set-cookie", "strict-transport-security"])
    assert.equal(headers[name], undefined, name);
  if (!Object.keys(named).some((name) => name.toLowerCase() === "cache-control"))
    assert.equal(headers["cache-control"], expectedCaching(answer));
}

/** The expected Cache-Control. A client can keep only responses to reads, and must validate them before each use. */
function expectedCaching({ method, status }: Answer): string {
  const isRead = method === "GET" || method === "HEAD" || method === "QUERY";
  return isRead && (status === 200 || status === 304) ? "no-cache" : "no-store";
}

function checkHeaders(answer: Answer, named: NonNullable<Expected["headers"]>): void {
  for (const [name, value] of Object.entries(named)) {
    const actual = answer.headers[name.toLowerCase()];
    if (value instanceof RegExp) assert.match(actual ?? "(absent)", value, name);
    else assert.equal(actual, value, name);
  }
}

function checkFraming(answer: Answer): void {
  const { method, status, headers, text, bytes } = answer;
  // A table is made while it is sent. Every other response has a length.
  const isTable = status === 200 && headers["content-type"]?.startsWith("text/csv") === true;
  const framing = isTable && method !== "HEAD" ? "chunked" : undefined;
  assert.equal(headers["transfer-encoding"], framing, "how the content is framed");
  if (bodyless.has(status)) {
    assert.equal(text, "");
    assert.equal(headers["content-type"], undefined);
    if (status === 204) assert.equal(headers["content-length"], undefined);
  } else if (emptyStatuses.has(status)) {
    assert.equal(text, "");
    assert.equal(headers["content-length"], "0");
    assert.equal(headers["content-type"], undefined);
  } else if (method === "HEAD") assert.equal(text, "");
  else if (isTable) assert.equal(headers["content-length"], undefined);
  else assert.equal(headers["content-length"], String(bytes.length));
}

/** Checks that the body is exactly the problem object of a code. */
export function checkProblem(answer: Answer, code: ProblemCode, expected: Partial<Expected> = {}): void {
  const asked = answer.headers["content-type"];
  assert.ok(
    asked === "application/json; charset=utf-8" || asked === "application/problem+json",
    `media type ${asked}`,
  );
  assert.ok(vary(answer).has("accept"), `Vary: ${answer.headers.vary}`);
  const body = answer.json as Record<string, unknown>;
  assert.equal(body.code, code, answer.text);
  const { status } = problems[code];
  assert.equal(answer.status, status);
  assert.equal(body.status, status);
  const types: Record<string, string> = {
    QUOTA_EXCEEDED: "https://iana.org/assignments/http-problem-types#quota-exceeded",
  };
  assert.equal(body.type, types[code] ?? `/problems/${code.toLowerCase().replaceAll("_", "-")}`);
  assert.ok(
    body.title === STATUS_CODES[status] || (status === 413 && body.title === "Content Too Large"),
    answer.text,
  );
  assert.match(String(body.instance), uuidUrn);
  assert.ok(typeof body.detail === "string" && body.detail.length > 0);
  assert.equal(body.message, body.detail);
  assert.doesNotMatch(answer.text, /node_modules|\.ts:\d|\n\s+at /, "no stack traces");
  const known = ["type", "title", "status", "detail", "instance", "code", "message", "errors", "violations"];
  if (code === "QUOTA_EXCEEDED") known.push("violated-policies");
  known.push(...(expected.more ?? []));
  if (code === "INVALID_IMPORT") known.push("report");
  if (code === "UNIQUE_VIOLATION") known.push("holder");
  assert.deepEqual(
    Object.keys(body).filter((name) => !known.includes(name)),
    [],
  );
  checkViolations(body, code, expected.violations);
}

function checkViolations(
  body: Record<string, unknown>,
  code: ProblemCode,
  expected?: readonly Partial<Violation>[],
) {
  const violations = (body.violations ?? []) as Violation[];
  if (body.violations !== undefined) assert.ok(violations.length > 0 && violations.length <= 50);
  for (const violation of violations) checkViolation(violation);
  checkErrors(body, violations, code);
  if (expected === undefined) return;
  assert.equal(violations.length, expected.length, JSON.stringify(violations));
  for (const [index, members] of expected.entries())
    assert.deepEqual({ ...violations[index], ...members }, violations[index]);
}

function checkViolation(violation: Violation): void {
  assert.ok(["body", "query", "path", "header"].includes(violation.in), JSON.stringify(violation));
  assert.ok(violation.code.length > 0 && violation.detail.length > 0);
  if (violation.in === "body") assert.match(violation.pointer ?? "", /^#(\/|$)/);
  else assert.ok(violation.pointer === undefined);
}

/** Checks `errors`, which has the details of violations by the dotted paths of attributes. */
function checkErrors(
  body: Record<string, unknown>,
  violations: readonly Violation[],
  code: ProblemCode,
): void {
  const ofMembers = violations.filter(({ pointer }) => pointer !== undefined && pointer.length > 1);
  if (code === "VALIDATION_FAILED" || code === "ID_REQUIRED") assert.ok(body.errors !== undefined, "errors");
  if (ofMembers.length === 0) assert.equal(body.errors, undefined);
  if (body.errors === undefined) return;
  const errors = body.errors as Record<string, string>;
  const details = new Map<string, string[]>();
  for (const { pointer = "", detail } of ofMembers) {
    const path = decodeURIComponent(pointer.slice(2))
      .replaceAll("/", ".")
      .replaceAll("~1", "/")
      .replaceAll("~0", "~");
    details.set(path, [...(details.get(path) ?? []), detail]);
  }
  assert.deepEqual(Object.keys(errors).sort(), [...details.keys()].sort());
  for (const [path, text] of Object.entries(errors)) assert.ok(details.get(path)?.includes(text), path);
}

/** The names in the Vary of a response, in lower case. */
export function vary(answer: Answer): Set<string> {
  return new Set(
    (answer.headers.vary ?? "")
      .toLowerCase()
      .split(/\s*,\s*/)
      .filter(Boolean),
  );
}

/** The targets in the Link of a response, by relation. */
export function links(answer: Answer): Record<string, string> {
  const found: Record<string, string> = {};
  for (const link of (answer.headers.link ?? "").split(/,\s*(?=<)/)) {
    const match = /^<([^>]*)>; rel="([a-z]+)"$/.exec(link);
    assert.ok(match !== null, `Link: ${answer.headers.link}`);
    found[match[2] ?? ""] = match[1] ?? "";
  }
  return found;
}

/** The pattern of the whole `Link` of a page: other links, then the link to the events of `feed`, which is a path with its filter. */
export function linkTo(others: string, feed: string): RegExp {
  const start = `${others}, <${feed}${feed.includes("?") ? "&" : "?"}since=`;
  const escaped = start.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${escaped}[A-Za-z0-9_-]{32}>; rel="monitor"$`);
}

/** The targets of the `Link` of a page without the one to the events of `feed`, which is checked. */
export function pageLinks(answer: Answer, feed: string): Record<string, string> {
  const { monitor, ...others } = links(answer);
  assert.match(`, <${monitor}>; rel="monitor"`, linkTo("", feed));
  return others;
}

/** The pattern of a UUIDv7 in its canonical text. */
export const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** An id that no service has assigned. */
export const unknownId = "00000000-0000-7000-8000-000000000000";

/**
 * A text without its UUIDs, entity tags, positions and ids of events. They are random, so any short word and any number can
 * occur in them.
 */
export function withoutTokens(text: string): string {
  const tokens = [
    /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g,
    /(?<=\\"\d+-)[\w-]+(?=\\")/g,
    /(?<=[?&]since=)[\w-]+/g,
    /(?<=")e[\w-]{22}(?=")/g,
  ];
  return tokens.reduce((rest, token) => rest.replaceAll(token, ""), text);
}
