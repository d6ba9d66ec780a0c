/** Reads a request for figures, from a query string or the body of a QUERY: its members, and the names in them. */

import type { AttributeType } from "../collection/attributes.ts";
import type { Collection } from "../collection/collection.ts";
import { comparedAs, nullsOf, splitKey } from "../collection/indexes.ts";
import { shortJson } from "../collection/messages.ts";
import {
  attributeFigures,
  type DateUnit,
  dateUnits,
  type Figure,
  type FigureContents,
  type FigureSortKey,
  type GroupKey,
} from "./figures.ts";
import type { RelationPath, RequestedFilter } from "./filter.ts";
import { type ListParameter, type PageDraft, pagingParameters, readPaging } from "./list-parameters.ts";
import { defaultPageSize, readWords, type Selection, searchFilter } from "./list-request.ts";
import { bodyMembers, readBody, readPage, readTexts, tableFormOf } from "./query-body.ts";
import { readQueryString, tableFormIn } from "./query-string.ts";
import {
  type Attribute,
  type ListScope,
  type Reading,
  readAttribute,
  readSingleAttribute,
  requireUsedZone,
} from "./reading.ts";
import type { TableForm } from "./table-form.ts";
import { inBody, inQuery, type Location, type Violations } from "./violations.ts";

/** A request for figures, independent of its syntax. */
export interface FiguresRequest extends FigureContents<RelationPath> {
  /** The resources that count; `undefined`: all. */
  filter: RequestedFilter | undefined;
  /** The terms of `q` (`termsOf`); `undefined` without `q`. */
  words: readonly string[] | undefined;
  /** The most groups in the response. */
  limit: number;
  /** The groups before those in the response. */
  offset: number;
  /** The text of CSV. */
  table: TableForm;
}

/** The parameters that make a list a request for figures. */
const deciding = ["aggregate", "group", "distinct"] as const satisfies readonly ListParameter[];

/** The other parameters that such a request can have. */
const accepted: ReadonlySet<string> = new Set<ListParameter>([
  ...deciding,
  ...pagingParameters.filter((name) => name !== "cursor"),
  "filter",
  "q",
  "timezone",
  "sort",
  "bom",
  "delimiter",
]);

/** Why it cannot have the others. */
const refusals: Partial<Record<ListParameter, string>> = {
  cursor: 'Page through groups with "offset"',
  fields: 'The response has the members that "group" and "aggregate" name',
  count: 'The number of resources is the figure "count"',
  at: "Figures are about the present",
  embed: "Figures contain no resources",
  _embed: "Figures contain no resources",
  _expand: "Figures contain no resources",
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
    page: readPaging(new Map([...known].filter(([name]) => name !== "cursor")), maxLimit, violations),
    table: tableFormIn(known, violations),
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
  const list = (name: "aggregate" | "group" | "distinct" | "sort", example = '["status"]') =>
    readTexts(name, body[name], { what: "strings", example }, violations);
  const draft = {
    ...selection,
    aggregate: list("aggregate", '["count","sum(total)"]'),
    group: list("group"),
    distinct: list("distinct"),
    sort: list("sort") ?? [],
    page: readPage(others, maxLimit, violations),
    table: tableFormOf(body, violations),
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

/** The parameters of a request, before they are checked together. */
interface Draft extends Selection {
  aggregate: readonly string[] | undefined;
  group: readonly string[] | undefined;
  distinct: readonly string[] | undefined;
  sort: readonly string[];
  page: PageDraft;
  table: TableForm;
  locationOf: (name: string) => Location;
}

function toRequest(draft: Draft, reading: Reading, maxLimit: number): FiguresRequest {
  const { aggregate, distinct, page, table, locationOf } = draft;
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
  requireUsedZone(reading, locationOf("timezone"));
  violations.throwIfAny();
  const limit = Math.min(page.limit ?? defaultPageSize, maxLimit);
  const offset = page.kind === "page" ? (page.page - 1) * limit : page.kind === "offset" ? page.offset : 0;
  const filter = searchFilter(draft.filter, words);
  return { filter, words, group, figures, sort, limit, offset, table };
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

/** The limits of one request. Each of them limits the work of a store. */
export const figureLimits = { figures: 10, group: 5, sort: 5 } as const;

const figureShape = new RegExp(`^(${attributeFigures.join("|")})\\((.*)\\)$`, "s");

/** Reads the figures of `aggregate`. Adds violations. */
export function readFigures(
  texts: readonly string[],
  location: Location,
  reading: Reading,
): readonly Figure[] {
  const { violations } = reading;
  if (!isWithin(texts, figureLimits.figures, location, violations)) return [];
  return texts.flatMap((name): Figure[] => {
    if (name === "count" || name === "count()") return [{ kind: "count", name }];
    const [, kind, attributeName] = figureShape.exec(name) ?? [];
    if (kind === undefined || attributeName === undefined) {
      violations.add(
        location,
        "figure",
        `names ${shortJson(name)}, which is not a figure. ${figureAdvice(name)}`,
      );
      return [];
    }
    const attribute = readAttribute(attributeName, location, reading);
    if (attribute === undefined) return [];
    const isText = attribute.declared?.type.arithmetic !== undefined;
    const isTotal = (kind === "sum" || kind === "avg") && !isText;
    if (isTotal) requireType("number", name, { attribute, location, violations });
    const compared = isTotal ? {} : comparedAs(attribute);
    return [{ kind: kind as (typeof attributeFigures)[number], name, path: attribute.path, ...compared }];
  });
}

function figureAdvice(name: string): string {
  if (/^count\(.+\)$/.test(name))
    return 'Write "count", and a filter such as "name:exists=true" to count fewer resources';
  return `Figures are count, ${attributeFigures.map((kind) => `${kind}(attribute)`).join(", ")}`;
}

/** Reads the keys of `group` or `distinct`: attributes, dates with a unit such as `placedAt:month`. Adds violations. */
export function readKeys(
  texts: readonly string[],
  location: Location,
  reading: Reading,
): readonly GroupKey<RelationPath>[] {
  const { violations } = reading;
  if (!isWithin(texts, figureLimits.group, location, violations)) return [];
  return texts.flatMap((name): GroupKey<RelationPath>[] => {
    const cut = name.lastIndexOf(":");
    const unit = cut === -1 ? undefined : name.slice(cut + 1);
    if (unit !== undefined && !Object.hasOwn(dateUnits, unit)) {
      const known = Object.keys(dateUnits).join(", ");
      violations.add(location, "unit", `names ${shortJson(name)}, but the units of dates are ${known}`);
      return [];
    }
    const attribute = readSingleAttribute(cut === -1 ? name : name.slice(0, cut), location, reading);
    if (attribute === undefined) return [];
    const type = attribute.declared?.type;
    if (unit !== undefined && type?.hasUnits === false) {
      const detail = `names ${shortJson(name)}, which needs a date, but the attribute is ${type.what}`;
      violations.add(location, "figureType", detail);
    } else if (unit !== undefined && type === undefined)
      requireType("string", name, { attribute, location, violations });
    const { path, through } = attribute;
    if (unit !== undefined) reading.used.usesZone = true;
    const zone = unit === undefined || reading.zone === undefined ? {} : { zone: reading.zone.name };
    const key = { name, path, ...comparedAs(attribute), unit: unit as DateUnit | undefined, ...zone };
    return [through === undefined ? key : { ...key, through: through[0] }];
  });
}

/** Refuses a figure or unit that would ignore all values that the schema allows. */
function requireType(
  type: AttributeType,
  name: string,
  { attribute, location, violations }: { attribute: Attribute; location: Location; violations: Violations },
): void {
  const { types } = attribute;
  if (types === undefined || types.has(type)) return;
  const detail = `names ${shortJson(name)}, which needs a ${type}, but the attribute is always ${[...types].join(" or ")}`;
  violations.add(location, "figureType", detail);
}

function isWithin(
  texts: readonly string[],
  most: number,
  location: Location,
  violations: Violations,
): boolean {
  if (texts.length <= most) return true;
  violations.add(location, "tooMany", `must have at most ${most} names, but has ${texts.length}`);
  return false;
}

/** Two members of a group cannot have the same name. Adds a violation. */
export function requireDifferent(
  all: readonly { name: string }[],
  location: Location,
  violations: Violations,
): void {
  const names = all.map(({ name }) => name);
  const repeated = names.find((name, n) => names.indexOf(name) < n);
  if (repeated === undefined) return;
  const advice =
    repeated === "count"
      ? '. To count the groups of the attribute "count", write "group=count&aggregate=count()"'
      : "";
  violations.add(
    location,
    "repeated",
    `would give two members with the name ${shortJson(repeated)}${advice}`,
  );
}

/** Reads the sort keys: names of `group` and `aggregate`. Adds violations. */
export function readFigureSort(
  texts: readonly string[],
  { figures, group }: Pick<FigureContents<RelationPath>, "figures" | "group">,
  location: Location,
  violations: Violations,
): readonly FigureSortKey[] {
  if (!isWithin(texts, figureLimits.sort, location, violations)) return [];
  const known = [...group, ...figures].map(({ name }) => name);
  return texts.flatMap((text): FigureSortKey[] => {
    const { name: signed, order } = splitKey(text);
    const name = (order.isNatural ? text : signed).replace(/^[+-]/, "");
    const place = known.indexOf(name);
    if (place === -1) {
      const names = known.length === 0 ? "" : ` The names are ${known.join(", ")}`;
      const detail = `names ${shortJson(name)}, but groups are sorted by the names in "group" and "aggregate".${names}`;
      violations.add(location, "sort", detail);
      return [];
    }
    const descending = text.startsWith("-");
    const common = { descending, ...nullsOf(descending, order) };
    return place < group.length
      ? [{ of: "group", place, ...common }]
      : [{ of: "figures", place: place - group.length, ...common }];
  });
}
