/** Resources as they were: their versions, and the list of their changes. */
import { isDate, isTimestamp, isUnixMillis } from "../collection/dates.ts";
import { shown } from "../collection/shown.ts";
import { formatCursor, parseCursor } from "../query/cursor.ts";
import { Faults, inQuery } from "../query/faults.ts";
import { pickFields } from "../query/fields.ts";
import { defaultPageSize } from "../query/request.ts";
import type { Key, ResourceChange, Stored } from "../store/store.ts";
import { isUnmodified } from "./conditional.ts";
import { type HttpRequest, type HttpResponse, jsonType, revalidate, withBody } from "./message.ts";
import type { OperationOf } from "./operation.ts";
import { guardOf, seesLast } from "./permission.ts";
import { type Result, validatorsOf } from "./result.ts";
import { resourcePath } from "./route.ts";
import type { Service } from "./service.ts";

/** Which state of a resource is asked for: that of a version, or of a time in Unix milliseconds. */
export type Moment = { version: number } | { at: number };

/** A page of changes as it is asked for: those below a version. */
export interface ChangesAsked {
  limit: number;
  /** Whether the client said how many. */
  hasLimit: boolean;
  before: number;
}

/** A page of changes. */
export interface ChangesResult {
  kind: "changes";
  operation: OperationOf<"changes">;
  changes: readonly ResourceChange[];
  more: boolean;
}

const beforeNone = Number.MAX_SAFE_INTEGER;

/**
 * Takes `version` and `at` out of the query string of one resource: what they ask for, and the rest of it. Throws
 * INVALID_PARAMETER.
 */
export function splitMoment(query: string): { moment: Moment | undefined; rest: string } {
  if (!/(?:^|&)(?:version|at)(?:[=&]|$)/.test(query)) return { moment: undefined, rest: query };
  const pairs = query.split("&");
  const rest = pairs.filter((pair) => !isOfMoment(pair)).join("&");
  const faults = new Faults();
  const [[name, text] = ["at", ""], ...others] = new URLSearchParams(pairs.filter(isOfMoment).join("&"));
  const [other] = others;
  if (other?.[0] === name) faults.add(inQuery(name), "repeatedParameter", "may be given once");
  else if (other !== undefined) faults.add(inQuery("at"), "at", 'cannot be given together with "version"');
  const moment = name === "version" ? readVersion(text, faults) : readTime(text, faults);
  faults.throwIfAny();
  return { moment, rest };
}

function isOfMoment(pair: string): boolean {
  return /^(?:version|at)(?:=|$)/.test(pair);
}

function readVersion(text: string, faults: Faults): Moment {
  const version = /^[0-9]{1,15}$/.test(text) ? Number(text) : 0;
  if (version === 0)
    faults.add(inQuery("version"), "version", `must be a whole number of at least 1, and is ${shown(text)}`);
  return { version };
}

/** A day means its beginning. */
function readTime(text: string, faults: Faults): Moment {
  if (/^-?[0-9]{1,16}$/.test(text) && isUnixMillis(Number(text))) return { at: Number(text) };
  if (isDate(text) || isTimestamp(text)) return { at: Date.parse(text) };
  const detail = `must be a date value such as 2026-01-31, 2026-01-31T08:30:00.000Z or 1769848200000, and is ${shown(text)}`;
  faults.add(inQuery("at"), "dateValue", detail);
  return { at: 0 };
}

/** Reads which page of a resource's changes is asked for. Throws INVALID_PARAMETER and INVALID_CURSOR. */
export function parseChanges(query: string, key: Key, maxPageSize: number): ChangesAsked {
  const faults = new Faults();
  const given = new URLSearchParams(query);
  for (const name of new Set(given.keys())) {
    if (name !== "limit" && name !== "cursor")
      faults.add(inQuery(name), "unknownParameter", 'is not understood here: there are "limit" and "cursor"');
    else if (given.getAll(name).length > 1)
      faults.add(inQuery(name), "repeatedParameter", "may be given once");
  }
  const limit = given.get("limit");
  if (limit !== null && !/^0*[1-9][0-9]*$/.test(limit))
    faults.add(inQuery("limit"), "limit", `must be a whole number of at least 1, and is ${shown(limit)}`);
  faults.throwIfAny();
  const cursor = given.get("cursor");
  return {
    limit: Math.min(Number(limit ?? defaultPageSize), maxPageSize),
    hasLimit: limit !== null,
    before: cursor === null ? beforeNone : Number(parseCursor(nameOf(key), cursor, 1)[0]),
  };
}

/** Names the list of changes, for its cursors. */
function nameOf({ collection, id }: Key): string {
  return JSON.stringify(["changes", collection, id]);
}

/** Reads a resource as it was; one that was not there then, or of which nothing is kept, is absent. */
export async function readPast(
  service: Service,
  operation: OperationOf<"past">,
  request: HttpRequest,
): Promise<Result> {
  const { moment, fields, path } = operation;
  const key = keyOf(operation);
  const stored =
    "version" in moment
      ? await service.store.version(key, moment.version)
      : await service.store.versionAt(key, moment.at);
  const guard = guardOf(service, operation.collection, request);
  // What is not there any more for the caller was never there, whatever it was.
  if (stored === undefined || !guard.sees(stored.text) || !(await seesLast(guard, service.store, key)))
    return { kind: "absent" };
  const validators = validatorsOf(stored);
  if (isUnmodified(request.headers, validators, service.now()))
    return { kind: "unmodified", validators, location: undefined };
  return { kind: "found", stored: cut(stored, fields), path, validators };
}

function cut(stored: Stored, fields: readonly string[] | undefined): Stored {
  return fields === undefined ? stored : { ...stored, text: pickFields(stored.text, fields) };
}

/** Reads a page of changes; a resource of which none is kept has no such list. */
export async function readChanges(
  service: Service,
  operation: OperationOf<"changes">,
  request: HttpRequest,
): Promise<Result> {
  const { limit, before } = operation.asked;
  const key = keyOf(operation);
  const guard = guardOf(service, operation.collection, request);
  if (!(await seesLast(guard, service.store, key))) return { kind: "absent" };
  const changes = await service.store.changesOf(key, { before, limit: limit + 1 });
  if (changes.length === 0 && before === beforeNone) return { kind: "absent" };
  return { kind: "changes", operation, changes: changes.slice(0, limit), more: changes.length > limit };
}

/** The answer to a list of changes. */
export function changesResponse(
  { operation, changes, more }: ChangesResult,
  request: HttpRequest,
): HttpResponse {
  const { asked, path, id } = operation;
  const target = `${resourcePath(path, id)}/_changes`;
  const limit = asked.hasLimit ? [`limit=${asked.limit}`] : [];
  const first = limit.length === 0 ? target : `${target}?${limit.join("&")}`;
  const links = [`<${first}>; rel="first"`];
  const last = changes.at(-1);
  if (more && last !== undefined) {
    const cursor = formatCursor(nameOf(keyOf(operation)), [last.version]);
    links.unshift(`<${target}?${[...limit, `cursor=${cursor}`].join("&")}>; rel="next"`);
  }
  const headers = { "content-type": jsonType, "cache-control": revalidate, link: links.join(", ") };
  return withBody(request, JSON.stringify(changes.map(toJson)), { status: 200, headers });
}

/** `group` is equal for changes that were made together. */
function toJson({ version, kind, at, principal, group }: ResourceChange): Record<string, unknown> {
  return { version, kind, at: new Date(at).toISOString(), principal, group };
}

function keyOf({ collection, id }: OperationOf<"past" | "changes">): Key {
  return { collection: collection.name, id };
}
