/** The links of a page (RFC 8288). They keep all parameters of the request except those that select the page. */
import type { Fields } from "../../collection/visibility.ts";
import { formatCursor, listName } from "../../query/cursor.ts";
import { isRelative, namesRelated } from "../../query/filter.ts";
import { embedParameters, pagingParameters } from "../../query/list-parameters.ts";
import { isRanked, maxOffset } from "../../query/list-request.ts";
import { type CursorValues, cursorValuesOf, ownSort } from "../../query/sort.ts";
import type { Page } from "../../store/port/page.ts";
import { namesIds } from "../operations/feed-parameters.ts";
import type { Listing } from "../operations/operation.ts";
import type { HttpRequest } from "../protocol/message.ts";

/** Paths with query strings, by relation, in the order in which they are sent. */
export interface Links {
  next?: string;
  prev?: string;
  first?: string;
  last?: string;
  /** The events from the state of the page on (RFC 5989). */
  monitor?: string;
}

/** The parameters that select a page, and their aliases. Links use only `limit` with `cursor` or `offset`. */
const ofPage: ReadonlySet<string> = new Set(pagingParameters);

/** The longest Link header, because clients and proxies accept 4 to 16 KiB of headers. Only the next page of a GET can exceed it. */
const maxLinkBytes = 4_000;

/** The URL with which GET returns the same list; `undefined` if it would be too long. */
export function urlOf({ path, query }: Pick<Listing, "path" | "query">): string | undefined {
  return query === undefined ? undefined : toUrl(path, query);
}

/** The Location in the response to a QUERY (RFC 10008 §2.4). */
export function locationOf(
  listing: Pick<Listing, "path" | "query">,
  { method }: HttpRequest,
): string | undefined {
  return method === "QUERY" ? urlOf(listing) : undefined;
}

/** The links of a page. `total` is `undefined` if it is not known. */
export function linksOf(listing: Listing, page: Page, total: number | undefined): Links {
  const { query, contentHash } = listing;
  const isQuery = contentHash !== undefined;
  if (query === undefined || (isQuery && query.length > maxLinkBytes)) return linksOfLongList(listing, page);
  const kept = keptParameters(query);
  const to = (parameters: readonly string[]) => toUrl(listing.path, [...kept, ...parameters].join("&"));
  const links: Links = {};
  const next = nextPage(listing, page);
  if (next !== undefined) links.next = to(next);
  const { paging } = listing.asked;
  if (paging.kind === "cursor") return { ...links, first: to(limitOf(listing)) };
  const last = lastOffset(paging.limit, total);
  if (paging.offset > 0) {
    const before = Math.max(0, paging.offset - paging.limit);
    links.prev = to(offsetPage(listing, Math.min(before, last ?? before)));
  }
  links.first = to(offsetPage(listing, 0));
  if (last !== undefined && last <= maxOffsetOf(listing)) links.last = to(offsetPage(listing, last));
  return links;
}

/** The value of the Link header: the next page, and the others as far as they fit into `maxLinkBytes`. */
export function formatLinks(links: Links): string {
  let value = "";
  for (const [relation, target] of Object.entries(links)) {
    const link = `<${target}>; rel="${relation}"`;
    if (value === "" && relation === "next") value = link;
    else if (value.length + link.length <= maxLinkBytes) value += value === "" ? link : `, ${link}`;
  }
  return value;
}

/** The links of a list that is too long for a URL: only the cursor of the next page, which clients send with the same body. */
function linksOfLongList(listing: Listing, page: Page): Links {
  const next = listing.asked.paging.kind === "cursor" ? nextPage(listing, page) : undefined;
  return next === undefined ? {} : { next: toUrl(listing.path, next.join("&")) };
}

function nextPage(listing: Listing, page: Page): string[] | undefined {
  const last = page.items.at(-1);
  if (!page.more || last === undefined) return undefined;
  const { asked } = listing;
  if (asked.paging.kind === "offset") {
    const next = asked.paging.offset + page.items.length; // a page of large resources ends early
    if (next <= maxOffsetOf(listing)) return offsetPage(listing, next);
    if (isRanked(asked)) return undefined;
  }
  const position = page.positions?.[page.items.length - 1] ?? positionAfter(listing, last);
  const cursor = formatCursor(listName(listing.collection.name, asked), position);
  return [...limitOf(listing), `cursor=${cursor}`];
}

/**
 * The position of a resource in a list that its own attributes sort. In the order of ids, it is the id, so the resource does not have
 * to be parsed.
 */
export function positionAfter(
  { collection, asked }: Listing,
  last: { id: string; text: string },
): CursorValues {
  if (asked.sort.length === 0) return [collection.idKind === "integer" ? Number(last.id) : last.id];
  return cursorValuesOf(JSON.parse(last.text) as Record<string, unknown>, ownSort(asked.sort));
}

function offsetPage({ asked }: Listing, offset: number): string[] {
  return [`limit=${asked.paging.limit}`, `offset=${offset}`];
}

function limitOf({ asked: { paging } }: Listing): string[] {
  return paging.kind === "offset" || paging.hasLimit ? [`limit=${paging.limit}`] : [];
}

function lastOffset(limit: number, total: number | undefined): number | undefined {
  if (total === undefined) return undefined;
  return Math.max(0, Math.floor((total - 1) / limit) * limit);
}

function maxOffsetOf({ asked }: Listing): number {
  return isRanked(asked) ? maxOffset.ranked : maxOffset.other;
}

/** The parameters that do not select the page, as they were sent. */
export function keptParameters(query: string): string[] {
  return query.split("&").filter((each) => each !== "" && !ofPage.has(nameOf(each)));
}

function nameOf(parameter: string): string {
  const [name = ""] = new URLSearchParams(parameter).keys();
  return name;
}

/** A path with its query string, escaped. */
export function toUrl(path: string, query: string): string {
  return query === "" ? path : `${path}?${escapeQuery(query)}`;
}

/** Escapes characters that a URL must not contain, but that a client can send (RFC 3986 §3.4). */
function escapeQuery(query: string): string {
  return query.replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%]|%(?![0-9A-Fa-f]{2})/gu, encodeURIComponent);
}

/** The parameters of a list that its feed does not have. */
const notOfFeeds: ReadonlySet<string> = new Set([
  ...pagingParameters,
  "sort",
  "_sort",
  "_order",
  "at",
  ...embedParameters,
  "count",
  "envelope",
  "bom",
  "delimiter",
]);

/**
 * The path of the feed with the same filter, without its position; `undefined` if a feed cannot have this filter, or if the
 * filter is too long for a URL.
 */
export function feedOf({
  path,
  parent,
  query,
  asked: { words, filter, fields },
}: Listing): string | undefined {
  if (query === undefined || query.length > maxLinkBytes) return undefined;
  if (
    words !== undefined ||
    namesRelated(filter) ||
    isRelative(filter) ||
    (filter !== undefined && namesIds(filter))
  )
    return undefined;
  const kept = query
    .split("&")
    .filter((each) => each !== "" && !notOfFeeds.has(nameOf(each)))
    .flatMap((each) => (nameOf(each) === "fields" ? fieldsOfFeed(fields) : [each]));
  if (parent === undefined) return toUrl(`${path}/_events`, kept.map(asFilter).join("&"));
  // Two parameters with one name would be one condition.
  const { parameter, path: listPath } = parent.plain;
  if (kept.some((each) => nameOf(each) === nameOf(parameter))) return undefined;
  return toUrl(`${listPath}/_events`, [...kept.map(asFilter), parameter].join("&"));
}

/** The attributes of the resources themselves: events have no embedded resources. */
function fieldsOfFeed(fields: Fields | undefined): string[] {
  if (fields === undefined) return [];
  const { kind, names } = fields;
  const own = [...names].filter((name) => name !== "id" || names.size === 1);
  const shown = own.map((name) => (kind === "without" ? "-" : "") + encodeURIComponent(name));
  return [`fields=${shown.join(",")}`];
}

/** A parameter as a filter, if in feeds its name alone is something else. */
function asFilter(pair: string): string {
  const name = "lastEventId";
  return nameOf(pair) === name ? `${name}:eq=${pair.split("=").slice(1).join("=")}` : pair;
}
