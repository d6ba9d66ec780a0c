/** Reads the request of a route: its query, its body, and what the function learns about it. */
import type { Validator } from "../../../collection/resource.ts";
import { Problem, toSentence, type Violation } from "../../../errors.ts";
import { contentTooLarge, hasContent, jsonLimits, readContent } from "../../../http/protocol/content.ts";
import type { HttpRequest } from "../../../http/protocol/message.ts";
import type { Limits } from "../../../http/settings.ts";
import { parseJson } from "../../../json/parse.ts";
import { subjectAt } from "../../../json/pointer.ts";
import { isObject } from "../../../json/values.ts";
import { pairsOf } from "../../../query/list-parameters.ts";
import { inQuery, Violations } from "../../../query/violations.ts";
import type { RouteRequest } from "./route.ts";
import type { RouteSchema } from "./route-options.ts";

/** Headers with credentials. */
const credentials = new Set(["authorization", "cookie", "proxy-authorization"]);

/** What the function of a route learns about its request. */
export function describeRequest({ method, target, headers, id, client }: HttpRequest): RouteRequest {
  const shown = Object.entries(headers).flatMap(([name, value]) =>
    credentials.has(name) || value === undefined ? [] : [[name, [value].flat().join(", ")]],
  );
  const key = headers["idempotency-key"];
  return {
    method,
    target,
    headers: Object.fromEntries(shown),
    id,
    ip: client.ip,
    idempotencyKey: key === undefined ? undefined : String(key),
  };
}

/**
 * The parameters of a query string, with the types of the schema. Throws INVALID_PARAMETER with all violations. `validate` is that of the
 * schema.
 */
export function readQuery(
  query: string,
  { properties = {} }: RouteSchema,
  validate: Validator,
): Record<string, unknown> {
  const violations = new Violations();
  const declared = properties as Readonly<Record<string, RouteSchema>>;
  const given: Record<string, unknown> = Object.create(null);
  for (const [name, text] of pairsOf(query, violations)) {
    const schema = (Object.hasOwn(declared, name) ? declared[name] : undefined) ?? {};
    const isList = schema.type === "array";
    const each = isList && isObject(schema.items) ? schema.items : schema;
    if (isInexact(text, each)) violations.add(inQuery(name), "numberRange", inexact);
    else if (isList) given[name] = [...((given[name] ?? []) as unknown[]), typedValue(text, each)];
    else if (Object.hasOwn(given, name))
      violations.add(inQuery(name), "repeatedParameter", "must be given only once");
    else given[name] = typedValue(text, each);
  }
  violations.throwIfAny();
  const refused = validate(given);
  if (refused.length > 0) throw refusedQuery(refused);
  return given;
}

/** Whether a text is a number that its schema asks for, as JSON writes it. */
function isNumber(text: string, { type }: RouteSchema): boolean {
  return (
    (type === "integer" || type === "number") && /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)
  );
}

const inexact = `is a number that the service would change. Integers are from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`;

/** Whether a text is a number that a body could not contain, because it would be another one. */
function isInexact(text: string, schema: RouteSchema): boolean {
  if (!isNumber(text, schema)) return false;
  try {
    parseJson(Buffer.from(text), { depth: 1, members: 1 });
    return false;
  } catch {
    return true;
  }
}

/** A text as the value that its schema asks for. A text that is no such value stays a text, and the schema refuses it. */
function typedValue(text: string, schema: RouteSchema): unknown {
  const { type } = schema;
  if (isNumber(text, schema)) return Number(text);
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}

function refusedQuery(refused: readonly Violation[]): Problem {
  const violations = refused.map(({ pointer = "#", code, detail }): Violation => {
    const name = decodeURIComponent(pointer.split("/")[1] ?? "");
    const isUnknown = code === "unknownAttribute";
    const text = isUnknown ? "is not a parameter of this path" : detail;
    return { in: "query", name, code: isUnknown ? "unknownParameter" : code, detail: `"${name}" ${text}` };
  });
  const [first] = violations;
  return new Problem("INVALID_PARAMETER", `The query parameter ${first?.detail}.`, { violations });
}

/** The body of a request, if its route takes one. Throws the problems of content and of JSON, and VALIDATION_FAILED. */
export async function readBody(
  request: HttpRequest,
  schema: RouteSchema | "text",
  { validate, limits }: { validate: Validator; limits: Limits },
): Promise<unknown> {
  if (schema === "text") return textOf(request, limits);
  const value = parseJson(await readContent(request, limits), jsonLimits(limits));
  const violations = validate(value as Record<string, unknown>);
  const [first] = violations;
  if (first === undefined) return value;
  const message = `${subjectAt(first.pointer ?? "#", "The body")} ${toSentence(first.detail)}`;
  throw new Problem("VALIDATION_FAILED", message, { violations });
}

async function textOf({ content }: HttpRequest, { bodyBytes }: Limits): Promise<string> {
  const bytes = await content.receive(bodyBytes);
  if (bytes.length > bodyBytes) throw contentTooLarge(bodyBytes);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Problem("INVALID_UTF8", "The body is not valid UTF-8.");
  }
}

/** Throws INVALID_PARAMETER if a request without a body has one. */
export function requireNoBody(request: HttpRequest): void {
  if (!hasContent(request)) return;
  throw new Problem("INVALID_PARAMETER", "This path takes no body. Send the request without one.");
}
