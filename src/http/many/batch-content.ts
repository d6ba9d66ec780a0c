/** Reads the content of a batch: the list of its operations. */
import { didYouMean } from "../../collection/messages.ts";
import { Problem, toSentence, type Violation } from "../../errors.ts";
import { parseJson, requireObject } from "../../json/parse.ts";
import { subjectAt } from "../../json/pointer.ts";
import { isObject } from "../../json/values.ts";
import type { Limits } from "../settings.ts";

/** One operation of a batch. Its path and body can contain names of resources that earlier operations create. */
export interface BatchOperation {
  method: "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  /** By lower-case name. */
  headers: Readonly<Record<string, string>>;
  /** Any JSON; `undefined` without a body. */
  body: unknown;
  /** The name of the resource that this operation creates, for later operations. */
  as: string | undefined;
}

/** The members of an operation. */
export const operationMembers = ["method", "path", "headers", "body", "as"] as const;

/** The methods of an operation. */
export const operationMethods: readonly string[] = ["POST", "PUT", "PATCH", "DELETE"];

/** The headers that an operation can have. */
export const operationHeaders = [
  "Content-Type",
  "If-Match",
  "If-None-Match",
  "If-Unmodified-Since",
  "Prefer",
];

/** The names that an operation can give to the resource that it creates. */
export const createdName = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;

const wanted = { insteadOfArray: 'send {"operations": […]}' };

/** The parser stops after this many faults, because a response shows no more. */
const maxFaults = 50;

/** The levels of nesting around the body of an operation: the content, the list and the operation. */
const levelsAround = 3;

/** The operations. Throws INVALID_BATCH with all faults of the list, and the problems of `parseJson`. */
export function parseBatch(bytes: Buffer, limits: Limits): readonly BatchOperation[] {
  const value = parseJson(bytes, { depth: limits.jsonDepth + levelsAround, members: limits.jsonMembers });
  const faults: Violation[] = [];
  const listed = readBatch(requireObject(value, wanted), limits.batch, faults);
  const [first] = faults;
  if (first === undefined) return listed;
  const message = `${subjectAt(first.pointer ?? "#", "The body")} ${toSentence(first.detail)}`;
  throw new Problem("INVALID_BATCH", message, { violations: faults });
}

function readBatch(content: Record<string, unknown>, max: number, faults: Violation[]): BatchOperation[] {
  requireNames(content, ["operations"], { at: "#", what: "member", faults });
  const { operations } = content;
  const at = "#/operations";
  if (operations === undefined) faults.push(fault(at, "required", "is required: list the operations in it"));
  else if (!Array.isArray(operations)) faults.push(fault(at, "type", "must be an array of operations"));
  else if (operations.length > max) {
    faults.push(fault(at, "maxItems", `must have at most ${max} operations, but has ${operations.length}`));
  }
  if (!Array.isArray(operations) || faults.length > 0) return [];
  const names = new Set<string>();
  const listed: BatchOperation[] = [];
  for (const [index, each] of operations.entries()) {
    if (faults.length >= maxFaults) break;
    listed.push(readOperation(each, { at: `${at}/${index}`, names, faults }));
  }
  return listed;
}

/** The place of an operation, the names of earlier ones, and the faults so far. */
interface Reading {
  at: string;
  names: Set<string>;
  faults: Violation[];
}

function readOperation(value: unknown, reading: Reading): BatchOperation {
  const { at, faults } = reading;
  const given = isObject(value) ? value : {};
  if (given !== value) faults.push(fault(at, "type", 'must be an object with "method" and "path"'));
  else requireNames(given, operationMembers, { at, what: "member", faults });
  const { method, path } = given;
  if (typeof method !== "string" || !operationMethods.includes(method)) {
    if (given === value)
      faults.push(fault(`${at}/method`, "enum", `must be one of ${operationMethods.join(", ")}`));
  }
  if (typeof path !== "string" || !path.startsWith("/")) {
    const detail = 'must be the path of a collection or resource without the prefix, such as "/topics"';
    if (given === value) faults.push(fault(`${at}/path`, "pattern", detail));
  }
  if (method === "DELETE" && given.body !== undefined) {
    faults.push(fault(`${at}/body`, "body", "must be left out: DELETE has no body"));
  }
  return {
    method: method as BatchOperation["method"],
    path: String(path),
    headers: readHeaders(given.headers, reading),
    body: given.body,
    as: readName(given, reading),
  };
}

function readHeaders(given: unknown, { at, faults }: Reading): Record<string, string> {
  if (given === undefined) return {};
  const pointer = `${at}/headers`;
  if (!isObject(given)) {
    faults.push(fault(pointer, "type", "must be an object of headers"));
    return {};
  }
  requireNames(given, operationHeaders, { at: pointer, what: "header", faults });
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    if (faults.length >= maxFaults) break;
    const place = `${pointer}/${segment(name)}`;
    if (typeof value !== "string") faults.push(fault(place, "type", "must be a string"));
    else if (Object.hasOwn(headers, name.toLowerCase())) faults.push(fault(place, "unique", "appears twice"));
    else headers[name.toLowerCase()] = value.trim();
  }
  return headers;
}

function readName(
  { as, method, path }: Record<string, unknown>,
  { at, names, faults }: Reading,
): string | undefined {
  if (as === undefined) return undefined;
  const pointer = `${at}/as`;
  if (typeof as !== "string" || !createdName.test(as)) {
    const detail = "must be a letter, followed by up to 62 letters, digits, - and _";
    faults.push(fault(pointer, "pattern", detail));
    return undefined;
  }
  const isByKey = method === "PUT" && String(path).includes("?");
  if (method !== "POST" && !isByKey) {
    const detail =
      "is allowed only with POST, because it names the created resource, and with a PUT by a unique key";
    faults.push(fault(pointer, "as", detail));
  }
  if (names.has(as))
    faults.push(fault(pointer, "unique", `is already the name of an earlier operation: "${as}"`));
  names.add(as);
  return as;
}

/** The case of header names does not matter. That of members does. */
function requireNames(
  given: Record<string, unknown>,
  known: readonly string[],
  { at, what, faults }: { at: string; what: "member" | "header"; faults: Violation[] },
): void {
  const isHeader = what !== "member";
  for (const name of Object.keys(given)) {
    if (faults.length >= maxFaults) return;
    if (known.some((each) => each === name || (isHeader && each.toLowerCase() === name.toLowerCase())))
      continue;
    const hint =
      isHeader && name.toLowerCase() === "idempotency-key"
        ? " It covers the whole batch: send it as a header of the request."
        : didYouMean(name, known) || ` Known names: ${known.join(", ")}.`;
    const detail = `${isHeader ? "is not a header that an operation can have" : "is not a known member"}.${hint}`;
    faults.push(fault(`${at}/${segment(name)}`, "unknown", detail));
  }
}

function segment(name: string): string {
  return encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"));
}

function fault(pointer: string, code: string, detail: string): Violation {
  return { in: "body", pointer, code, detail };
}
