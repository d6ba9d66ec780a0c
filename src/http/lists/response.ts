/** The response to a list: its headers with links and totals, and the JSON of its body. It does not read the store. */
import type { Page } from "../../store/port/page.ts";
import type { Listing } from "../operations/operation.ts";
import type { ListResult } from "../operations/result.ts";
import { contentTypeOf } from "../protocol/accept.ts";
import { cachingHeaders } from "../protocol/conditional.ts";
import { typesOf } from "../protocol/content-types.ts";
import { type HttpRequest, type HttpResponse, withBody } from "../protocol/message.ts";
import { isWhole } from "./content.ts";
import { formatLinks, type Links, linksOf, locationOf, urlOf } from "./links.ts";

/** The response with a page. */
export function listResponse(result: ListResult & { kind: "page" }, request: HttpRequest): HttpResponse {
  const { listing, page, validators } = result;
  const total = totalOf(listing, page);
  const links = linksOf(listing, page, total);
  const headers: Record<string, string> = {
    "content-type": contentTypeOf(listing.type),
    ...cachingHeaders(validators),
    "accept-query": typesOf("QUERY"),
    "page-limit": String(listing.asked.paging.limit),
  };
  const { monitor } = result;
  const link = formatLinks(monitor === undefined ? links : { ...links, monitor });
  if (link !== "") headers.link = link;
  addTotals(headers, result, total);
  const location = locationOf(listing, request);
  if (location !== undefined) headers.location = location;
  const content = result.content ?? jsonOf(result, links, total);
  // The length of a streamed body is unknown, so HEAD has none either (RFC 9110 §9.3.2).
  if (typeof content !== "string") return { status: 200, headers, body: content };
  return withBody(request, content, { status: 200, headers });
}

/** The total, counted by the store or known from a last page. */
function totalOf({ asked: { count, paging } }: Listing, { total, more, items }: Page): number | undefined {
  if (count === "none" || total !== undefined) return count === "none" ? undefined : total;
  const before = paging.kind === "offset" ? paging.offset : paging.after === undefined ? 0 : undefined;
  if (more || before === undefined || (items.length === 0 && before > 0)) return undefined;
  return before + items.length;
}

/** Adds the totals. Content-Range needs the number of resources before the page, which a cursor does not have. */
function addTotals(
  headers: Record<string, string>,
  { listing, page }: ListResult & { kind: "page" },
  total: number | undefined,
): void {
  if (total === undefined) return;
  headers["x-total-count"] = String(total);
  const { paging } = listing.asked;
  if (paging.kind === "cursor" && paging.after !== undefined) return;
  const first = paging.kind === "offset" ? paging.offset : 0;
  const { length } = page.items;
  const range = length === 0 ? "*" : `${first}-${first + length - 1}`;
  headers["content-range"] = `${listing.collection.name} ${range}/${total}`;
}

function jsonOf(
  { listing, page, texts }: ListResult & { kind: "page" },
  links: Links,
  total: number | undefined,
): string {
  const items = isWhole(listing) || listing.asked.embeds.length > 0 ? joinedOnce(page, texts) : join(texts);
  if (!listing.asked.envelope) return items;
  const { first, prev, next, last } = links;
  const { limit } = listing.asked.paging;
  const rest = JSON.stringify({ total, limit, self: urlOf(listing), first, prev, next, last });
  return `{"items":${items},${rest.slice(1)}`;
}

/** The JSON of pages that the store keeps in memory. */
const recent = new WeakMap<Page, string>();

function joinedOnce(page: Page, texts: readonly string[]): string {
  const joined = recent.get(page) ?? join(texts);
  recent.set(page, joined);
  return joined;
}

function join(texts: readonly string[]): string {
  return `[${texts.join(",")}]`;
}
