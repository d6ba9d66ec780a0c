/** What a query string asks for: an earlier state of a resource, or a page of its changes. */
import { shortJson } from "../../collection/messages.ts";
import { parseCursor } from "../../query/cursor.ts";
import { defaultPageSize } from "../../query/list-request.ts";
import { readLimit } from "../../query/page-limit.ts";
import { readTime } from "../../query/reading.ts";
import { inQuery, Violations } from "../../query/violations.ts";
import type { Key } from "../../store/port/stored.ts";

/** An earlier state of a resource: at a version, or at a time in Unix milliseconds. */
export type PointInTime = { version: number } | { at: number };

/** A request for a page of changes. */
export interface ChangesAsked {
  limit: number;
  /** Whether the client sent a limit. */
  hasLimit: boolean;
  /** Only changes with versions below this one. */
  before: number;
}

/** Greater than every version. */
export const beforeNone = Number.MAX_SAFE_INTEGER;

/** Reads `version` and `at` from the query string of a resource, and gives the rest of it. Throws INVALID_PARAMETER. */
export function splitPointInTime(query: string): { pointInTime: PointInTime | undefined; rest: string } {
  if (!/(?:^|&)(?:version|at)(?:[=&]|$)/.test(query)) return { pointInTime: undefined, rest: query };
  const pairs = query.split("&");
  const rest = pairs.filter((pair) => !isPointInTime(pair)).join("&");
  const faults = new Violations();
  const [[name, text] = ["at", ""], ...others] = new URLSearchParams(pairs.filter(isPointInTime).join("&"));
  const [other] = others;
  if (other?.[0] === name) faults.add(inQuery(name), "repeatedParameter", "must be given only once");
  else if (other !== undefined) faults.add(inQuery("at"), "at", 'cannot be used together with "version"');
  const pointInTime =
    name === "version" ? readVersion(text, faults) : { at: readTime(text, inQuery("at"), faults) ?? 0 };
  faults.throwIfAny();
  return { pointInTime, rest };
}

function isPointInTime(pair: string): boolean {
  return /^(?:version|at)(?:=|$)/.test(pair);
}

function readVersion(text: string, faults: Violations): PointInTime {
  const version = /^[0-9]{1,15}$/.test(text) ? Number(text) : 0;
  if (version === 0)
    faults.add(inQuery("version"), "version", `must be a whole number of at least 1, not ${shortJson(text)}`);
  return { version };
}

/** Reads the query string of a list of changes. Throws INVALID_PARAMETER and INVALID_CURSOR. */
export function parseChanges(query: string, key: Key, maxPageSize: number): ChangesAsked {
  const faults = new Violations();
  const given = new URLSearchParams(query);
  for (const name of new Set(given.keys())) {
    if (name !== "limit" && name !== "cursor")
      faults.add(
        inQuery(name),
        "unknownParameter",
        'is not understood here. The parameters are "limit" and "cursor"',
      );
    else if (given.getAll(name).length > 1)
      faults.add(inQuery(name), "repeatedParameter", "must be given only once");
  }
  const text = given.get("limit");
  const cursor = given.get("cursor");
  const bounds = { most: maxPageSize, isContinued: cursor !== null };
  const limit = text === null ? undefined : readLimit(text, inQuery("limit"), bounds, faults);
  faults.throwIfAny();
  return {
    limit: limit ?? Math.min(defaultPageSize, maxPageSize),
    hasLimit: limit !== undefined,
    before: cursor === null ? beforeNone : Number(parseCursor(nameOfChanges(key), cursor, 1)[0]),
  };
}

/** The name of a resource's list of changes. Its cursors contain it. */
export function nameOfChanges({ collection, id }: Key): string {
  return JSON.stringify(["changes", collection, id]);
}
