/** Which state of a resource, and which of its changes, a query string asks for. */
import { isDate, isTimestamp, isUnixMillis } from "../../collection/dates.ts";
import { shown } from "../../collection/shown.ts";
import { parseCursor } from "../../query/cursor.ts";
import { Faults, inQuery } from "../../query/faults.ts";
import { defaultPageSize } from "../../query/request.ts";
import type { Key } from "../../store/stored.ts";

/** Which state of a resource is asked for: that of a version, or of a time in Unix milliseconds. */
export type Moment = { version: number } | { at: number };

/** A page of changes as it is asked for: those below a version. */
export interface ChangesAsked {
  limit: number;
  /** Whether the client said how many. */
  hasLimit: boolean;
  before: number;
}

/** Above every version there can be. */
export const beforeNone = Number.MAX_SAFE_INTEGER;

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
  if (other?.[0] === name) faults.add(inQuery(name), "repeatedParameter", "must be given only once");
  else if (other !== undefined) faults.add(inQuery("at"), "at", 'cannot be used together with "version"');
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
    faults.add(inQuery("version"), "version", `must be a whole number of at least 1, not ${shown(text)}`);
  return { version };
}

/** A day means its beginning. */
function readTime(text: string, faults: Faults): Moment {
  if (/^-?[0-9]{1,16}$/.test(text) && isUnixMillis(Number(text))) return { at: Number(text) };
  if (isDate(text) || isTimestamp(text)) return { at: Date.parse(text) };
  const detail = `must be a date value such as 2026-01-31, 2026-01-31T08:30:00.000Z or 1769848200000, not ${shown(text)}`;
  faults.add(inQuery("at"), "dateValue", detail);
  return { at: 0 };
}

/** Reads which page of a resource's changes is asked for. Throws INVALID_PARAMETER and INVALID_CURSOR. */
export function parseChanges(query: string, key: Key, maxPageSize: number): ChangesAsked {
  const faults = new Faults();
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
  const limit = given.get("limit");
  if (limit !== null && !/^0*[1-9][0-9]*$/.test(limit))
    faults.add(inQuery("limit"), "limit", `must be a whole number of at least 1, not ${shown(limit)}`);
  faults.throwIfAny();
  const cursor = given.get("cursor");
  return {
    limit: Math.min(Number(limit ?? defaultPageSize), maxPageSize),
    hasLimit: limit !== null,
    before: cursor === null ? beforeNone : Number(parseCursor(nameOfChanges(key), cursor, 1)[0]),
  };
}

/** Names the list of changes, for its cursors. */
export function nameOfChanges({ collection, id }: Key): string {
  return JSON.stringify(["changes", collection, id]);
}
