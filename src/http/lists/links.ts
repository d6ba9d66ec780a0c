/** The links of a page (RFC 8288): everything that the request asked for stays, but for which page of it. */

import { formatCursor, listName } from "../../query/cursor.ts";
import { isRanked, maxOffset } from "../../query/list.ts";
import { pagingParameters } from "../../query/parameters.ts";
import { type Position, positionOf } from "../../query/sort.ts";
import type { Page } from "../../store/page.ts";
import type { Listing } from "../operations/operation.ts";
import type { HttpRequest } from "../protocol/message.ts";

/** Paths with query strings, by relation, in the order in which they are told. */
export interface Links {
  next?: string;
  prev?: string;
  first?: string;
  last?: string;
}

/** Every spelling of which page is asked for; links are spelled with `limit` and `cursor` or `offset`. */
const ofPage: ReadonlySet<string> = new Set(pagingParameters);

/** A Link field stays below this, but for a next page of a GET: clients and proxies take 4 to 16 KiB of headers. */
const maxLinkBytes = 4_000;

/** The URL at which GET gives this very list; `undefined` where it would be too long. */
export function urlOf({ path, query }: Listing): string | undefined {
  return query === undefined ? undefined : toUrl(path, query);
}

/** What the answer to a QUERY tells as Location (RFC 10008 §2.4). */
export function locationOf(listing: Listing, { method }: HttpRequest): string | undefined {
  return method === "QUERY" ? urlOf(listing) : undefined;
}

/** The links of a page that the store keeps in memory, for the list that was asked for last. */
const madeLately = new WeakMap<Page, { listing: Listing; total: number | undefined; links: Links }>();

/** The links of a page of a list whose `total` is known, or not. */
export function linksOf(listing: Listing, page: Page, total: number | undefined): Links {
  const made = madeLately.get(page);
  if (made !== undefined && made.total === total && isSameList(made.listing, listing)) return made.links;
  const links = makeLinks(listing, page, total);
  madeLately.set(page, { listing, total, links });
  return links;
}

function isSameList(a: Listing, b: Listing): boolean {
  return a.asked === b.asked && a.query === b.query && a.path === b.path && a.contentHash === b.contentHash;
}

function makeLinks(listing: Listing, page: Page, total: number | undefined): Links {
  const { query, contentHash } = listing;
  const isByContent = contentHash !== undefined;
  if (query === undefined || (isByContent && query.length > maxLinkBytes))
    return linksOfLongList(listing, page);
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

/** The value of the Link field: the next page, and as many of the others as have room. */
export function formatLinks(links: Links): string {
  let field = "";
  for (const [relation, target] of Object.entries(links)) {
    const link = `<${target}>; rel="${relation}"`;
    if (field === "" && relation === "next") field = link;
    else if (field.length + link.length <= maxLinkBytes) field += field === "" ? link : `, ${link}`;
  }
  return field;
}

/** No URL can hold what was asked for: a cursor alone, to be sent with the same content as before. */
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
  const cursor = formatCursor(listName(listing.collection.name, asked), positionAfter(listing, last));
  return [...limitOf(listing), `cursor=${cursor}`];
}

/** In order of ids the place is the id itself; the resource need not be read for it. */
function positionAfter({ collection, asked }: Listing, last: { id: string; text: string }): Position {
  if (asked.sort.length === 0) return [collection.idKind === "integer" ? Number(last.id) : last.id];
  return positionOf(JSON.parse(last.text) as Record<string, unknown>, asked.sort);
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

/** What a query string says beside the page, as it was sent. */
function keptParameters(query: string): string[] {
  return query.split("&").filter((each) => each !== "" && !ofPage.has(nameOf(each)));
}

function nameOf(parameter: string): string {
  const [name = ""] = new URLSearchParams(parameter).keys();
  return name;
}

function toUrl(path: string, query: string): string {
  return query === "" ? path : `${path}?${escapeQuery(query)}`;
}

/** Escapes what a client may send, but may not stand in a URL (RFC 3986 §3.4). */
function escapeQuery(query: string): string {
  return query.replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%]|%(?![0-9A-Fa-f]{2})/gu, encodeURIComponent);
}
