/** Reads the body of a QUERY (RFC 10008): the same request as in a query string, but in JSON. */
import type { Collection } from "../collection/collection.ts";
import { shortJson } from "../collection/messages.ts";
import { Problem } from "../errors.ts";
import { isObject } from "../json/values.ts";
import { defaultEmbedLimit, type Embed, readEmbed } from "./embed-request.ts";
import { type ChosenFields, readFieldNames } from "./fields-request.ts";
import { adviceFor } from "./foreign-syntax.ts";
import { onlyTotal, type PageDraft } from "./list-parameters.ts";
import { type ListRequest, readSelection, type Selection, toRequest } from "./list-request.ts";
import { readLimit } from "./page-limit.ts";
import { emptyFilterSize, type ListScope, type Reading, readTime, readWord, readZone } from "./reading.ts";
import { readSortList } from "./sort-keys.ts";
import { readTableForm, type TableForm } from "./table-form.ts";
import { inBody, Violations } from "./violations.ts";

/** The members that the body can have. */
export const bodyMembers = [
  "filter",
  "sort",
  "limit",
  "cursor",
  "offset",
  "fields",
  "embed",
  "q",
  "at",
  "timezone",
  "envelope",
  "count",
  "bom",
  "delimiter",
  "aggregate",
  "group",
  "distinct",
] as const;

/** The number of unknown members that a response names at most. */
const maxUnknown = 50;

/** A body with known members. */
export type Body = { [Name in (typeof bodyMembers)[number]]?: unknown };

/** Reads the request of a list from a body. Throws BODY_NOT_OBJECT, INVALID_PARAMETER and INVALID_CURSOR. */
export function parseListBody(
  value: unknown,
  collection: Collection,
  maxPageSize: number,
  scope: ListScope = {},
): ListRequest {
  const { body, reading, selection } = readBody(value, collection, scope);
  const { violations } = reading;
  const { sort, fields, embed } = body;
  const draft = {
    ...selection,
    sort: sort === undefined ? [] : readSortList(sort, inBody("sort"), reading),
    at: readTime(body.at, inBody("at"), violations),
    ...readFields(fields, reading, readEmbedList(embed, reading)),
    envelope: readWord(body.envelope, inBody("envelope"), { words: [true, false], violations }) ?? false,
    count: readWord(body.count, inBody("count"), { words: ["exact", "none"], violations }),
    table: tableFormOf(body, violations),
    page: readPage(body, maxPageSize, violations),
    locationOf: inBody,
  };
  return toRequest(draft, reading, maxPageSize);
}

/**
 * Reads the members of a body, and which resources they select. Throws BODY_NOT_OBJECT. Adds violations to those of `reading`.
 */
export function readBody(
  value: unknown,
  collection: Collection,
  scope: ListScope,
): { body: Body; reading: Reading; selection: Selection } {
  const body: Body = requireBody(value);
  const violations = new Violations();
  const zone = readZone(body.timezone, inBody("timezone"), violations);
  const reading = { ...scope, collection, violations, used: emptyFilterSize(), zone };
  requireKnown(body, violations);
  const sent = { filter: body.filter, q: readText("q", body, violations) };
  const selection = readSelection(sent, [], inBody("filter"), reading);
  return { body, reading, selection };
}

/** Reads the members of CSV. Adds violations. */
export function tableFormOf({ bom, delimiter }: Body, violations: Violations): TableForm {
  return readTableForm({ bom, delimiter }, [true, false], inBody, violations);
}

/** The body. Throws BODY_NOT_OBJECT. */
function requireBody(value: unknown): Record<string, unknown> {
  if (isObject(value)) return value;
  throw new Problem(
    "BODY_NOT_OBJECT",
    `The body must be a JSON object such as {"filter":{"status":"open"},"sort":["-id"]}, not ${shortJson(value)}.`,
  );
}

/** Adds violations for unknown members. */
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
  const advice = adviceFor(name, "");
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

/**
 * A member that must be an array of strings: of `what`, such as in `example`. Adds a violation, also for an empty array if the
 * member must have an item.
 */
export function readTexts(
  name: "fields" | "embed" | "aggregate" | "group" | "distinct" | "sort",
  value: unknown,
  { what, example, isFilled = false }: { what: string; example: string; isFilled?: boolean },
  violations: Violations,
): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const isTexts = Array.isArray(value) && value.every((each) => typeof each === "string");
  if (isTexts && (value.length > 0 || !isFilled)) return value;
  violations.mustBe(inBody(name), name, `an array of ${what} such as ${example}`, value);
  return undefined;
}

function readFields(value: unknown, reading: Reading, embeds: readonly Embed[]): ChosenFields {
  const form = { what: "attributes", example: '["title"]', isFilled: true };
  const names = readTexts("fields", value, form, reading.violations);
  return readFieldNames(names, inBody("fields"), reading, embeds);
}

function readEmbedList(value: unknown, reading: Reading): readonly Embed[] {
  const form = { what: "relations", example: '["author","comments(limit:5)"]', isFilled: true };
  const names = readTexts("embed", value, form, reading.violations);
  return names === undefined
    ? []
    : readEmbed([{ text: names.join(","), location: inBody("embed"), limit: defaultEmbedLimit }], reading);
}

/** The page that a body selects. `most`: the bound of its limit. Adds violations. */
export function readPage(body: Body, most: number, violations: Violations): PageDraft {
  const isContinued = body.cursor !== undefined;
  const least = body.count === "exact" && body.offset === undefined && !isContinued ? 0 : 1;
  const bounds = { least, most, isContinued, hintForZero: onlyTotal };
  const limit =
    body.limit === undefined ? undefined : readLimit(body.limit, inBody("limit"), bounds, violations);
  const offset = readOffset(body.offset, violations);
  const cursor = readText("cursor", body, violations);
  if (offset === undefined) return { kind: "cursor", limit, cursor };
  if (cursor !== undefined)
    violations.add(inBody("offset"), "paging", 'cannot be used together with "cursor"');
  return { kind: "offset", limit, offset, name: "offset" };
}

function readOffset(value: unknown, violations: Violations): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  violations.mustBe(inBody("offset"), "offset", "a whole number of at least 0", value);
  return undefined;
}

/** A member that must be a string. Adds violations. */
function readText(name: "q" | "cursor", body: Body, violations: Violations): string | undefined {
  const value = body[name];
  if (value === undefined || typeof value === "string") return value;
  violations.mustBe(inBody(name), "value", "a string", value);
  return undefined;
}
