/** Reads the body of a QUERY (RFC 10008): the same request as in a query string, but in JSON. */
import type { Collection } from "../collection/collection.ts";
import { shortJson } from "../collection/messages.ts";
import { Problem } from "../errors.ts";
import { isObject } from "../json/values.ts";
import { allOf } from "./filter.ts";
import { readFilter, splitSearch } from "./filter-json.ts";
import { adviceFor } from "./foreign-parameters.ts";
import { type ListRequest, toRequest } from "./list-request.ts";
import type { PageDraft } from "./paging.ts";
import { emptyFilterSize, type Reading, readFieldNames, readTime, readWord } from "./reading.ts";
import { readSortList } from "./sort-keys.ts";
import { inBody, Violations } from "./violations.ts";

/** The members that the body can have. */
export const bodyMembers = [
  "filter",
  "sort",
  "limit",
  "cursor",
  "offset",
  "fields",
  "q",
  "at",
  "envelope",
  "count",
] as const;

/** The number of unknown members that a response names at most. */
const maxUnknown = 50;

type Body = { [Name in (typeof bodyMembers)[number]]?: unknown };

/** Reads the request of a list from a body. Throws BODY_NOT_OBJECT, INVALID_PARAMETER and INVALID_CURSOR. */
export function parseListBody(value: unknown, collection: Collection, maxPageSize: number): ListRequest {
  const body: Body = requireBody(value);
  const violations = new Violations();
  const reading = { collection, violations, used: emptyFilterSize() };
  requireKnown(body, violations);
  const { sort, fields } = body;
  const sent = { filter: body.filter, q: readText("q", body, violations) };
  const { filter, q } = splitSearch(sent, inBody("filter"), reading);
  const draft = {
    filter: filter === undefined ? allOf([]) : readFilter(filter, inBody("filter"), reading),
    sort: sort === undefined ? [] : readSortList(sort, inBody("sort"), reading),
    q,
    at: readTime(body.at, inBody("at"), violations),
    fields: fields === undefined ? undefined : readFields(fields, reading),
    envelope: readWord(body.envelope, inBody("envelope"), { words: [true, false], violations }) ?? false,
    count: readWord(body.count, inBody("count"), { words: ["exact", "none"], violations }),
    page: readPage(body, violations),
    locationOf: inBody,
  };
  return toRequest(draft, reading, maxPageSize);
}

function requireBody(value: unknown): Record<string, unknown> {
  if (isObject(value)) return value;
  throw new Problem(
    "BODY_NOT_OBJECT",
    `The body must be a JSON object such as {"filter":{"status":"open"},"sort":["-id"]}, not ${shortJson(value)}.`,
  );
}

function requireKnown(body: Body, violations: Violations): void {
  const known: readonly string[] = bodyMembers;
  const unknown = Object.keys(body).filter((name) => !known.includes(name));
  for (const name of unknown.slice(0, maxUnknown)) {
    const advice =
      memberHint(name) || violations.suggest(name, () => known) || ` Known names: ${known.join(", ")}`;
    violations.add(inBody(name), "unknownParameter", `is not understood.${advice}`);
  }
}

/** What to write instead of a member of another server. */
function memberHint(name: string): string {
  const advice = adviceFor(name, "", () => undefined);
  if (advice === undefined) return "";
  if ("say" in advice) return ` ${advice.say}`;
  const [parameter = ""] = advice.write.split("=");
  return ` Write ${memberOf[parameter] ?? shortJson(parameter)}`;
}

/** The members that replace a parameter of the query string. */
const memberOf: Readonly<Record<string, string>> = {
  _page: '"offset" and "limit"',
  _per_page: '"limit"',
  "id:in": '"filter":{"id":{"in":["1","2"]}}',
};

function readFields(value: unknown, reading: Reading): readonly string[] {
  if (Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string"))
    return readFieldNames(value, inBody("fields"), reading);
  const detail = `must be an array of attributes such as ["title"], not ${shortJson(value)}`;
  reading.violations.add(inBody("fields"), "fields", detail);
  return [];
}

function readPage(body: Body, violations: Violations): PageDraft {
  const limit = readNumber("limit", body, { least: 1, violations });
  const offset = readNumber("offset", body, { least: 0, violations });
  const cursor = readText("cursor", body, violations);
  if (offset === undefined) return { kind: "cursor", limit, cursor };
  if (cursor !== undefined)
    violations.add(inBody("offset"), "paging", 'cannot be used together with "cursor"');
  return { kind: "offset", limit, offset, name: "offset" };
}

function readNumber(
  name: "limit" | "offset",
  body: Body,
  { least, violations }: { least: number; violations: Violations },
): number | undefined {
  const value = body[name];
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= least) return value;
  violations.add(inBody(name), name, `must be a whole number of at least ${least}, not ${shortJson(value)}`);
  return undefined;
}

function readText(name: "q" | "cursor", body: Body, violations: Violations): string | undefined {
  const value = body[name];
  if (value === undefined || typeof value === "string") return value;
  violations.add(inBody(name), "value", `must be a string, not ${shortJson(value)}`);
  return undefined;
}
