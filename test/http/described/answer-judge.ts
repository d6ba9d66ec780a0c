/** Checks responses against the OpenAPI document of the service, as a reader of the document would. */
import type { ValidateFunction } from "ajv/dist/2020.js";
import { createPatterns } from "../../../src/collection/patterns.ts";
import { createEngine } from "../../../src/collection/schema-engine.ts";
import { anywhere } from "../../../src/http/openapi/problem-responses.ts";
import {
  answerName,
  type DescribedAnswer,
  type DescribedPath,
  type DescribedPaths,
  describedPaths,
} from "./described-paths.ts";

/** A response, and its request. */
export interface SeenAnswer {
  method: string;
  /** The request target; empty if there was no request. */
  target: string;
  status: number;
  /** By lower-case name. */
  headers: Readonly<Record<string, string>>;
  /** `undefined` if it was too large to keep. */
  body: string | undefined;
}

/** The result of a check. */
export interface Verdict {
  /** The name of the response in the document; `undefined` if the document does not have to describe it. */
  name: string | undefined;
  /** The difference from the document; `undefined` if there is none. */
  fault: string | undefined;
}

/** Checks the responses of one service. */
export interface AnswerJudge {
  judge(seen: SeenAnswer): Verdict;
  /** The names of all responses that the document describes. */
  documented: readonly string[];
}

/** The page at `/docs`, and the files of the pages for people. They are not part of the interface. */
const notDescribed = /^\/(?:docs(?:\/|$)|_console\/|_sign-in$|\.well-known\/change-password$)/;

/** Creates a judge for a document. `prefix` is the prefix of the service. */
export function createAnswerJudge(document: object, prefix: string): AnswerJudge {
  const { find, anyCollection, anyProblem, documented } = describedPaths(document, prefix);
  const fits = schemaJudge(document);
  const judge = (seen: SeenAnswer): Verdict => {
    const path = pathOf(seen);
    if (path === "*" || notDescribed.test(path)) return { name: undefined, fault: undefined };
    if (isPageOfAbsence(seen, prefix)) return { name: answerName(404), fault: undefined };
    const found = find(path) ?? ofNoName(seen, { prefix, anyCollection, find });
    if (found !== undefined && seen.method === "OPTIONS" && seen.status === 204)
      return { name: undefined, fault: faultOfAllow(seen, found) };
    const method = seen.method === "HEAD" ? "GET" : seen.method;
    const answers = found?.methods[method];
    const told = answers?.[seen.status];
    if (found !== undefined && told !== undefined)
      return {
        name: answerName(seen.status, { method: seen.method, path: found }),
        fault: faultIn(seen, told, fits),
      };
    // For callers who do not administer the service, these paths do not exist, whatever the method.
    const isAdministrative =
      /^\/_(?:webhooks|keys|configuration|code)/.test(found?.name ?? "") ||
      found?.name === "/metrics" ||
      /\/_(?:import|rewind)\/?$/.test(path);
    if (seen.status === 404 && isAdministrative)
      return { name: answerName(404), fault: faultOfAbsence(seen) };
    const fault = faultUntold(seen, found, answers !== undefined) ?? faultIn(seen, anyProblem, fits);
    const isAbsent = seen.status === 404 && (found === undefined || isPageAlone(path, prefix));
    return { name: answerName(seen.status), fault: isAbsent ? faultOfAbsence(seen) : fault };
  };
  return { judge, documented };
}

/** Returns what is wrong with a value according to a schema. */
type Fits = (schema: object, value: unknown) => string | undefined;

/**
 * All documents share one engine, and equal schemas one validator: most schemas of a service are those of every service, and compiling them
 * took most of the time.
 */
const engine = createEngine({ compilePattern: createPatterns(), strictSchema: false });
const validators = new Map<string, ValidateFunction>();

function schemaJudge(document: object): Fits {
  const compiled = new Map<object, ValidateFunction>();
  const validatorOf = (schema: object) => {
    const known = compiled.get(schema);
    if (known !== undefined) return known;
    const text = JSON.stringify({ schema, definitions: definitionsOf(schema, document) });
    const validate = validators.get(text) ?? compile(text, validators.size);
    validators.set(text, validate);
    compiled.set(schema, validate);
    return validate;
  };
  return (schema, value) => {
    const validate = validatorOf(schema);
    if (validate(value)) return undefined;
    return validate.errors
      ?.map(({ instancePath, keyword, params }) => `${instancePath} ${keyword} ${JSON.stringify(params)}`)
      .join("; ");
  };
}

/** Compiles a schema with all that it refers to. Pointers into the document become names of definitions. */
function compile(text: string, number: number): ValidateFunction {
  const id = `schema-${number}`;
  const { schema, definitions } = JSON.parse(
    text.replaceAll(/"\$ref":"(#\/[^"]*)"/g, (_, pointer: string) => `"$ref":"${id}-${nameOf(pointer)}"`),
  ) as { schema: object; definitions: Record<string, object> };
  for (const [pointer, definition] of Object.entries(definitions))
    engine.addSchema({ ...definition, $id: `${id}-${nameOf(pointer)}` });
  return engine.compile({ ...schema, $id: id });
}

const nameOf = (pointer: string) => encodeURIComponent(pointer).replaceAll("%", "-");

/** The parts of a document that a schema refers to, directly or through others, by their pointers. */
function definitionsOf(schema: object, document: object): Record<string, object> {
  const found: Record<string, object> = {};
  const visit = (text: string) => {
    for (const [, pointer = ""] of text.matchAll(/"\$ref":"(#\/[^"]*)"/g)) {
      if (pointer in found) continue;
      const definition = partOf(document, pointer);
      found[pointer] = definition;
      visit(JSON.stringify(definition));
    }
  };
  visit(JSON.stringify(schema));
  return found;
}

/** The part of a document at a JSON pointer in a fragment (RFC 6901, section 6). */
function partOf(document: object, pointer: string): object {
  const steps = pointer.slice(2).split("/");
  const names = steps.map((step) => decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~"));
  return names.reduce<object>((part, name) => (part as Record<string, object>)[name] ?? {}, document);
}

/** Checks a response without an operation. The document describes these in one place for all paths. */
function faultUntold(
  seen: SeenAnswer,
  found: DescribedPath | undefined,
  isOperation: boolean,
): string | undefined {
  const { status, method } = seen;
  if (method === "CONNECT" && status === 405) return undefined; // it addresses no path
  if (found !== undefined && !isOperation && status === 405) return faultOfAllow(seen, found);
  if (!isOperation && status === 400) return undefined;
  const isForeseen = anywhere.some((each) => each === status && each !== 405);
  return isForeseen ? undefined : `the status ${status} is not foreseen`;
}

/** The path of a 404 for a name that no collection can have, and for a method that the path has. */
function ofNoName(
  seen: SeenAnswer,
  { prefix, anyCollection, find }: Pick<DescribedPaths, "anyCollection" | "find"> & { prefix: string },
): DescribedPath | undefined {
  const path = pathOf(seen);
  if (seen.status !== 404 || anyCollection === undefined || !path.startsWith(`${prefix}/`)) return undefined;
  const [, ...rest] = path.slice(prefix.length + 1).split("/");
  const found = find([`${prefix}/any`, ...rest].join("/"));
  return found?.methods[seen.method] === undefined ? undefined : found;
}

/** The root has a page for requests that ask for HTML, and an empty 404 for others. */
function isPageAlone(path: string, prefix: string): boolean {
  return path === "/" && prefix !== "";
}

/** Whether the response is the page that a browser gets for an unknown path outside the prefix. */
function isPageOfAbsence(seen: SeenAnswer, prefix: string): boolean {
  const path = pathOf(seen);
  const isOutside = prefix !== "" && path !== prefix && !path.startsWith(`${prefix}/`);
  const isRead = seen.method === "GET" || seen.method === "HEAD";
  return (
    isOutside && isRead && seen.status === 404 && seen.headers["content-type"] === "text/html; charset=utf-8"
  );
}

function faultOfAbsence({ body }: SeenAnswer): string | undefined {
  return body === "" ? undefined : "a 404 has no content";
}

function pathOf({ target }: SeenAnswer): string {
  const [, authority, path = ""] = /^(https?:\/\/[^/?#]*)?([^?]*)/i.exec(target) ?? [];
  return path === "" && authority !== undefined ? "/" : path;
}

/** The methods of a collection that need a unique key in the query. */
const byKey = ["PUT", "PATCH", "DELETE"];

/** Checks `Allow`. The document does not list HEAD and OPTIONS. */
function faultOfAllow({ headers, target }: SeenAnswer, { name, methods }: DescribedPath): string | undefined {
  const needsKey = (method: string) => name === "/{collection}" && byKey.includes(method);
  const told = Object.keys(methods).filter((method) => /\?./.test(target) || !needsKey(method));
  const expected = [...told, ...(told.includes("GET") ? ["HEAD"] : []), "OPTIONS"];
  const allowed = (headers.allow ?? "").split(", ");
  if (expected.sort().join() === allowed.sort().join()) return undefined;
  return `Allow is ${headers.allow}, and ${expected.join(", ")} are described`;
}

function faultIn(
  seen: SeenAnswer,
  { headers = {}, content }: DescribedAnswer,
  fits: Fits,
): string | undefined {
  const fault = faultOfFields(seen, headers);
  if (fault !== undefined) return fault;
  const type = seen.headers["content-type"];
  if (content === undefined || isWithout(seen))
    return type === undefined && !seen.body ? undefined : `content (${type}) is not foreseen`;
  const mediaType = type?.split(";")[0] ?? "none";
  const described = content[mediaType];
  if (described === undefined) return `the media type ${mediaType} is not foreseen`;
  if (seen.method === "HEAD" || seen.body === undefined || described.schema === undefined) return undefined;
  return mediaType.endsWith("json") && mediaType !== "application/x-ndjson"
    ? fits(described.schema, JSON.parse(seen.body))
    : undefined;
}

function faultOfFields(seen: SeenAnswer, headers: NonNullable<DescribedAnswer["headers"]>) {
  const required = Object.keys(headers).filter((field) => headers[field]?.required === true);
  const missing = required.find(
    (field) => seen.headers[field.toLowerCase()] === undefined && !isLeftOut(seen, field),
  );
  if (missing !== undefined) return `the field ${missing} is not there`;
  const told = new Set(Object.keys(headers).map((field) => field.toLowerCase()));
  const untold = Object.keys(seen.headers).find((field) => !told.has(field) && !everywhere.has(field));
  return untold === undefined ? undefined : `the field ${untold} is not foreseen`;
}

/** Headers that are not part of the interface: headers of HTTP itself, and headers for browsers, proxies and caches. */
const everywhere = new Set([
  "date",
  "connection",
  "content-type",
  "content-length",
  "content-encoding",
  "cache-control",
  "vary",
  "x-content-type-options",
  "content-security-policy",
  "cross-origin-opener-policy",
  "referrer-policy",
  "strict-transport-security",
  "x-accel-buffering",
  "access-control-allow-credentials",
  "access-control-allow-origin",
  "access-control-expose-headers",
]);

/** Whether the response to a retry has no body, because its caller can no longer read the resource. */
function isWithout({ headers, status }: SeenAnswer): boolean {
  const isAsked =
    headers["preference-applied"] === "return=minimal" || headers["idempotent-replayed"] === "true";
  return status === 201 && isAsked && headers["content-type"] === undefined;
}

/** Whether a header is missing because the problem was found before the request was counted. */
function isLeftOut({ status, target }: SeenAnswer, field: string): boolean {
  return field.startsWith("RateLimit") && (status === 408 || target === "");
}
