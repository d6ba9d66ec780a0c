/** Reads a request for figures, from a query string or the body of a QUERY. */
import type { Collection } from "../collection/collection.ts";
import { shortJson } from "../collection/messages.ts";
import { readFigureSort, readFigures, readKeys, requireDifferent } from "./figure-names.ts";
import type { FigureContents } from "./figures.ts";
import { matchesAll, type RequestedFilter } from "./filter.ts";
import { defaultPageSize, readWords } from "./list-request.ts";
import { type PageDraft, readPaging } from "./paging.ts";
import { type ListParameter, pagingParameters } from "./parameters.ts";
import { type Body, bodyMembers, readBody, readPage } from "./query-body.ts";
import { readQueryString } from "./query-string.ts";
import type { ListScope, Reading } from "./reading.ts";
import type { Selection } from "./selection.ts";
import { inBody, inQuery, type Location, type Violations } from "./violations.ts";

/** A request for figures, independent of its syntax. */
export interface FiguresRequest extends FigureContents {
  /** The resources that count; `undefined`: all. */
  filter: RequestedFilter | undefined;
  /** The words of `q`; `undefined` without `q`. */
  words: readonly string[] | undefined;
  /** The most groups in the response. */
  limit: number;
  /** The groups before those in the response. */
  offset: number;
}

/** The parameters that make a list a request for figures. */
const deciding = ["aggregate", "group", "distinct"] as const satisfies readonly ListParameter[];

/** The other parameters that such a request can have. */
const accepted: ReadonlySet<string> = new Set<ListParameter>([
  ...deciding,
  ...pagingParameters.filter((name) => name !== "cursor"),
  "filter",
  "q",
  "sort",
]);

/** Why it cannot have the others. */
const refusals: Partial<Record<ListParameter, string>> = {
  cursor: 'Page through groups with "offset"',
  fields: 'The response has the members that "group" and "aggregate" name',
  count: 'The number of resources is the figure "count"',
  at: "Figures are about the present",
  embed: "Figures contain no resources",
  envelope: "The response is always an array",
  _sort: 'Use "sort"',
  _order: 'Use "sort", with "-" before a key for the descending order',
};

/** Whether a query string asks for figures instead of resources. */
export function asksForFigures(query: string): boolean {
  if (!/aggregate|group|distinct|%/.test(query)) return false;
  const names = new URLSearchParams(query);
  return deciding.some((name) => names.has(name));
}

/** Whether the body of a QUERY asks for figures instead of resources. */
export function bodyAsksForFigures(body: unknown): boolean {
  return typeof body === "object" && body !== null && deciding.some((name) => Object.hasOwn(body, name));
}

/** Reads a query string without its question mark. Throws INVALID_PARAMETER. */
export function parseFigures(
  query: string,
  collection: Collection,
  maxLimit: number,
  scope: ListScope = {},
): FiguresRequest {
  const { known, reading, selection } = readQueryString(query, collection, scope);
  const { violations } = reading;
  refuseOthers([...known.keys()], inQuery, violations);
  const list = (name: ListParameter) =>
    known
      .get(name)
      ?.split(",")
      .map((each) => each.trim());
  const draft = {
    ...selection,
    aggregate: list("aggregate"),
    group: list("group"),
    distinct: list("distinct"),
    sort: list("sort") ?? [],
    page: readPaging(new Map([...known].filter(([name]) => name !== "cursor")), violations),
    locationOf: inQuery,
  };
  return toRequest(draft, reading, maxLimit);
}

/** Reads the body of a QUERY. Throws BODY_NOT_OBJECT and INVALID_PARAMETER. */
export function parseFiguresBody(
  value: unknown,
  collection: Collection,
  maxLimit: number,
  scope: ListScope = {},
): FiguresRequest {
  const { body, reading, selection } = readBody(value, collection, scope);
  const { violations } = reading;
  const names = bodyMembers.filter((name) => Object.hasOwn(body, name));
  refuseOthers(names, inBody, violations);
  const { cursor: _, ...others } = body;
  const draft = {
    ...selection,
    aggregate: readTexts("aggregate", body, violations),
    group: readTexts("group", body, violations),
    distinct: readTexts("distinct", body, violations),
    sort: readTexts("sort", body, violations) ?? [],
    page: readPage(others, violations),
    locationOf: inBody,
  };
  return toRequest(draft, reading, maxLimit);
}

function refuseOthers(
  names: readonly ListParameter[],
  locationOf: (name: string) => Location,
  violations: Violations,
): void {
  for (const name of names) {
    if (accepted.has(name)) continue;
    const advice = refusals[name] ?? "Remove it";
    violations.add(locationOf(name), "figures", `cannot be used together with figures. ${advice}`);
  }
}

function readTexts(
  name: "aggregate" | "group" | "distinct" | "sort",
  body: Body,
  violations: Violations,
): readonly string[] | undefined {
  const value = body[name];
  if (value === undefined) return undefined;
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value;
  const example = name === "aggregate" ? '["count","sum(total)"]' : '["status"]';
  violations.add(
    inBody(name),
    name,
    `must be an array of strings such as ${example}, not ${shortJson(value)}`,
  );
  return undefined;
}

/** The parameters of a request, before they are checked together. */
interface Draft extends Selection {
  aggregate: readonly string[] | undefined;
  group: readonly string[] | undefined;
  distinct: readonly string[] | undefined;
  sort: readonly string[];
  page: PageDraft;
  locationOf: (name: string) => Location;
}

function toRequest(draft: Draft, reading: Reading, maxLimit: number): FiguresRequest {
  const { aggregate, distinct, page, locationOf } = draft;
  const { violations } = reading;
  requireOneSyntax(draft, violations);
  for (const name of ["aggregate", "distinct"] as const)
    if (draft[name]?.length === 0) violations.add(locationOf(name), name, "must have at least one name");
  const words = readWords(draft, reading);
  const keys = distinct === undefined ? "group" : "distinct";
  const group = readKeys(draft[keys] ?? [], locationOf(keys), reading);
  const figures = readFigures(aggregate ?? ["count"], locationOf("aggregate"), reading);
  requireDifferent(
    [...group, ...figures],
    locationOf(distinct === undefined ? "aggregate" : keys),
    violations,
  );
  const sort = readFigureSort(draft.sort, { figures, group }, locationOf("sort"), violations);
  violations.throwIfAny();
  const limit = Math.min(page.limit ?? defaultPageSize, maxLimit);
  const offset = page.kind === "page" ? (page.page - 1) * limit : page.kind === "offset" ? page.offset : 0;
  const filter = matchesAll(draft.filter) ? undefined : draft.filter;
  return { filter, words, group, figures, sort, limit, offset };
}

function requireOneSyntax({ aggregate, group, distinct, locationOf }: Draft, violations: Violations): void {
  if (distinct !== undefined) {
    const other = aggregate === undefined ? group && "group" : "aggregate";
    if (other !== undefined)
      violations.add(
        locationOf("distinct"),
        "figures",
        `cannot be used together with "${other}": it means the group with the figure "count"`,
      );
  } else if (aggregate === undefined && violations.all.length === 0)
    violations.add(
      locationOf("group"),
      "figures",
      'needs "aggregate", which names the figures, such as "count"',
    );
}
