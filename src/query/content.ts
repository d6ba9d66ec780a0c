/** The content of a QUERY (RFC 10008): the same request as a query string makes, as JSON. */
import type { Collection } from "../collection/collection.ts";
import { shortJson } from "../collection/messages.ts";
import { Problem } from "../errors.ts";
import { isObject } from "../json/values.ts";
import { nothingUsed, type Reading } from "./conditions.ts";
import { Faults, inBody } from "./faults.ts";
import { readFieldNames } from "./fields.ts";
import { allOf, readFilter } from "./filter-json.ts";
import { splitSearch } from "./filter-search.ts";
import type { ListRequest } from "./list.ts";
import type { PageDraft } from "./paging.ts";
import { guessedParameter } from "./parameter-guesses.ts";
import { toRequest } from "./request.ts";
import { readSortList } from "./sort-keys.ts";

/** The members that the content may have. */
export const contentMembers = [
  "filter",
  "sort",
  "limit",
  "cursor",
  "offset",
  "fields",
  "q",
  "envelope",
  "count",
] as const;

/** More than so many would help nobody. */
const maxUnknown = 50;

type Content = { [Name in (typeof contentMembers)[number]]?: unknown };

/** Reads a list's request from content. Throws BODY_NOT_OBJECT, INVALID_PARAMETER and INVALID_CURSOR. */
export function parseListContent(value: unknown, collection: Collection, maxPageSize: number): ListRequest {
  const content: Content = requireContent(value);
  const faults = new Faults();
  const reading = { collection, faults, used: nothingUsed() };
  requireKnown(content, faults);
  const { sort, fields } = content;
  const asked = { filter: content.filter, q: readText("q", content, faults) };
  const { filter, q } = splitSearch(asked, inBody("filter"), reading);
  const draft = {
    filter: filter === undefined ? allOf([]) : readFilter(filter, inBody("filter"), reading),
    sort: sort === undefined ? [] : readSortList(sort, inBody("sort"), reading),
    q,
    fields: fields === undefined ? undefined : readFields(fields, reading),
    envelope: readWord("envelope", content, { words: [true, false], faults }) ?? false,
    count: readWord("count", content, { words: ["exact", "none"], faults }),
    page: readPage(content, faults),
    placeOf: inBody,
  };
  return toRequest(draft, reading, maxPageSize);
}

function requireContent(value: unknown): Record<string, unknown> {
  if (isObject(value)) return value;
  throw new Problem(
    "BODY_NOT_OBJECT",
    `The body must be a JSON object such as {"filter":{"status":"open"},"sort":["-id"]}, not ${shortJson(value)}.`,
  );
}

function requireKnown(content: Content, faults: Faults): void {
  const known: readonly string[] = contentMembers;
  const unknown = Object.keys(content).filter((name) => !known.includes(name));
  for (const name of unknown.slice(0, maxUnknown)) {
    const advice =
      memberHint(name) || faults.suggest(name, () => known) || ` Known names: ${known.join(", ")}`;
    faults.add(inBody(name), "unknownParameter", `is not understood.${advice}`);
  }
}

/** What to write instead of a member that other servers know. */
function memberHint(name: string): string {
  const meant = guessedParameter(name, "", () => undefined);
  if (meant === undefined) return "";
  if ("say" in meant) return ` ${meant.say}`;
  const [parameter = ""] = meant.write.split("=");
  return ` Write ${memberOf[parameter] ?? shortJson(parameter)}`;
}

/** For parameters that are not members: the members that do the same. */
const memberOf: Readonly<Record<string, string>> = {
  _page: '"offset" and "limit"',
  _per_page: '"limit"',
  "id:in": '"filter":{"id":{"in":["1","2"]}}',
};

function readFields(value: unknown, reading: Reading): readonly string[] {
  if (Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string"))
    return readFieldNames(value, inBody("fields"), reading);
  const detail = `must be an array of attributes such as ["title"], not ${shortJson(value)}`;
  reading.faults.add(inBody("fields"), "fields", detail);
  return [];
}

function readPage(content: Content, faults: Faults): PageDraft {
  const limit = readNumber("limit", content, { least: 1, faults });
  const offset = readNumber("offset", content, { least: 0, faults });
  const cursor = readText("cursor", content, faults);
  if (offset === undefined) return { kind: "cursor", limit, cursor };
  if (cursor !== undefined) faults.add(inBody("offset"), "paging", 'cannot be used together with "cursor"');
  return { kind: "offset", limit, offset, name: "offset" };
}

function readNumber(
  name: "limit" | "offset",
  content: Content,
  { least, faults }: { least: number; faults: Faults },
): number | undefined {
  const value = content[name];
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= least) return value;
  faults.add(inBody(name), name, `must be a whole number of at least ${least}, not ${shortJson(value)}`);
  return undefined;
}

function readText(name: "q" | "cursor", content: Content, faults: Faults): string | undefined {
  const value = content[name];
  if (value === undefined || typeof value === "string") return value;
  faults.add(inBody(name), "value", `must be a string, not ${shortJson(value)}`);
  return undefined;
}

function readWord<Word extends string | boolean>(
  name: "envelope" | "count",
  content: Content,
  { words, faults }: { words: readonly Word[]; faults: Faults },
): Word | undefined {
  const value = content[name];
  const word = words.find((each) => each === value);
  if (value !== undefined && word === undefined)
    faults.add(inBody(name), "value", `must be ${words.join(" or ")}, not ${shortJson(value)}`);
  return word;
}
