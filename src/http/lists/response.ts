/**
 * Makes the response with a page: its headers with links and totals, and its content. If the store keeps a page in memory, this file
 * keeps the response with it. `lists.ts` reads the page.
 */

import { looksAtOthers } from "../../access/access.ts";
import type { Mark } from "../../changes/position.ts";
import { typesIn } from "../../collection/attributes.ts";
import type { Collection } from "../../collection/collection.ts";
import type { Embed } from "../../query/embed-request.ts";
import { logStart } from "../../store/port/log-place.ts";
import { emptyPage, lengthOf, type Page } from "../../store/port/page.ts";
import { isInternal } from "../../store/port/record.ts";
import type { Caller } from "../caller/admit.ts";
import { guardOf } from "../caller/permission.ts";
import type { Listing } from "../operations/operation.ts";
import type { Result } from "../operations/result.ts";
import { contentTypeOf } from "../protocol/accept.ts";
import { cachingHeaders, passingValidators, type Validators } from "../protocol/conditional.ts";
import { typesOf } from "../protocol/content-types.ts";
import { type HttpRequest, type StreamedBody, withBody } from "../protocol/message.ts";
import { contentValidators, embedInto } from "../related/embed.ts";
import type { Callers, Data, Service, Surface } from "../service.ts";
import { feedOf, formatLinks, type Links, linksOf, locationOf, urlOf } from "./links.ts";
import { contentOf, textsOf } from "./page-content.ts";
import { ifUnmodified, type ListScope, listValidators, tagOf } from "./validators.ts";

/** A list, its request, and the resources that the caller can list. */
export interface ListContext extends ListScope {
  listing: Listing & { caller: Caller };
  request: HttpRequest;
}

/** What was made of a page. The headers are those that do not depend on the method. */
interface Made {
  headers: Readonly<Record<string, string>>;
  content: string | StreamedBody;
}

/** What was made of a page, for the latest list that contained it. */
interface Kept extends Made {
  list: Pick<Listing, "path" | "query" | "contentHash" | "type" | "collection">;
  /** What it depends on besides the page: what the caller sees of related collections, and their states. */
  related: string;
  validators: Validators;
}

const recent = new WeakMap<Page, Kept>();

/** Content is kept if it is at most this many times as long as its page. The store limits the length of the pages that it keeps. */
const longest = 4;

/** The approximate memory of a page without the texts of its resources, in characters. */
const overhead = 500;

/** The response with a page, as the caller sees it. Throws PRECONDITION_FAILED and what `embedInto` throws. */
export async function pageResponse(service: Service, page: Page, context: ListContext): Promise<Result> {
  const { listing, request } = context;
  const isEmbedded = listing.asked.embeds.length > 0;
  // Before any wait: what another request makes of the page meanwhile can be for a caller who sees other related resources.
  const known = recent.get(page);
  // The first request of a page does not read the state, because most pages are requested only once.
  const related = isEmbedded && known !== undefined ? await relatedState(service, context) : "";
  const kept = known !== undefined && isSameList(known, related, context) ? known : undefined;
  const embedded = isEmbedded && kept === undefined ? await embeddedPage(service, page, context) : undefined;
  const validators = kept?.validators ?? embedded?.validators ?? listValidators(service, page, context);
  const unmodified = ifUnmodified(service, validators, listing, request);
  if (unmodified !== undefined) return unmodified;
  if (kept !== undefined) return responseWith(kept, page, context);
  const { page: sent, texts } = embedded ?? { page, texts: await textsOf(page, listing) };
  // A feed does not follow rules that look at related resources, so it would not continue this list.
  const monitor = looksAtOthers(context.listed) ? undefined : await monitorOf(service, page, listing);
  const made = await partsOf(sent, { texts, validators, monitor }, context);
  if (canBeKept(made.content, page, context)) {
    const { path, query, contentHash, type, collection } = listing;
    const list = { path, query, contentHash, type, collection };
    recent.set(page, { list, related, validators, ...made });
  }
  return responseWith(made, page, context);
}

/** The response to this request with what was made of the page. */
function responseWith(made: Made, page: Page, { listing, request }: ListContext): Result {
  const { content } = made;
  const headers = { ...made.headers };
  const location = locationOf(listing, request);
  if (location !== undefined) headers.location = location;
  // The length of a streamed body is unknown, so HEAD has none either (RFC 9110 §9.3.2).
  const response =
    typeof content === "string"
      ? withBody(request, content, { status: 200, headers })
      : { status: 200, headers, body: content };
  return { kind: "response", response, isUnwritten: page.sequence === logStart };
}

/** Whether the kept response fits this request. The rules of the caller are no part of it: they lead to another page. */
function isSameList({ list, related }: Kept, state: string, { listing }: ListContext): boolean {
  return (
    related === state &&
    list.query === listing.query &&
    list.path === listing.path &&
    list.contentHash === listing.contentHash &&
    list.type === listing.type &&
    list.collection.visibility === listing.collection.visibility
  );
}

/**
 * Whether what was made of a page can be kept with it. All services share `emptyPage`. Two lists without a query string can differ.
 * A streamed body can be sent only once.
 */
function canBeKept(content: Made["content"], page: Page, { listing, isPassing }: ListContext): boolean {
  if (targetsOf(listing.asked.embeds).some(({ expires }) => expires !== undefined)) return false;
  if (isPassing || page === emptyPage || listing.query === undefined || typeof content !== "string")
    return false;
  return content.length <= longest * (overhead + lengthOf(page));
}

/** What related resources depend on besides the page. */
async function relatedState(service: Data & Callers, { listing }: ListContext): Promise<string> {
  const targets = targetsOf(listing.asked.embeds);
  const views = targets.map((target) => [
    target.name,
    guardOf(service, target, listing.caller).listed,
    service.tags.view(target.visibility),
  ]);
  // Read before the resources: a change in between makes the kept page old, and never too new.
  const heads = await service.store.logHeads([...new Set(targets.map(({ name }) => name))]);
  return JSON.stringify([views, ...heads]);
}

function targetsOf(embeds: readonly Embed[]): Collection[] {
  return embeds.flatMap(({ target, embeds: inner }) => [target, ...targetsOf(inner)]);
}

/** The page with related resources. It ends early if their texts are too long for one response. */
async function embeddedPage(
  service: Data & Callers & Surface,
  found: Page,
  { listing, request, isPassing }: ListContext,
): Promise<{ page: Page; texts: readonly string[]; validators: Validators }> {
  const { asked, caller, collection } = listing;
  const shown = await textsOf(found, listing);
  const embedding = { collection: collection.name, resources: found.items, shown, embeds: asked.embeds };
  const texts = await embedInto(service, { caller, request }, embedding);
  const items = found.items.slice(0, texts.length);
  const page = { ...found, items, more: found.more || texts.length < found.items.length };
  const validators = isPassing
    ? passingValidators()
    : contentValidators(texts, [page.more, page.total], tagOf(service, listing));
  return { page, texts, validators };
}

/** What the response is made of besides the page. */
interface Parts {
  texts: readonly string[];
  validators: Validators;
  monitor: string | undefined;
}

/** The headers of a page, without those that depend on the method, and its content. */
async function partsOf(
  page: Page,
  { texts, validators, monitor }: Parts,
  { listing, request }: ListContext,
): Promise<Made> {
  const { type, asked } = listing;
  const total = totalOf(listing, page);
  const links = linksOf(listing, page, total);
  const headers: Record<string, string> = {
    "content-type": contentTypeOf(type),
    ...cachingHeaders(validators),
    "accept-query": typesOf("QUERY"),
    "page-limit": String(asked.paging.limit),
  };
  const link = formatLinks(monitor === undefined ? links : { ...links, monitor });
  if (link !== "") headers.link = link;
  addTotals(headers, { listing, page, total });
  if (type === "application/json") return { headers, content: jsonOf(listing, texts, { links, total }) };
  const fields = asked.embeds.length > 0 ? undefined : asked.fields;
  const typeAt = typesIn(listing.collection);
  return { headers, content: await contentOf(texts, { type, fields, typeAt, ...asked.table }, request) };
}

/** The URL of the events that follow a page; `undefined` if the list has no feed. */
function monitorOf(
  { feed }: Pick<Service, "feed">,
  page: Page,
  listing: Listing,
): string | undefined | Promise<string | undefined> {
  const { collection, deletions } = listing;
  const hasNone = feed === undefined || deletions !== undefined || isInternal(collection.name);
  const path = hasNone ? undefined : feedOf(listing);
  if (feed === undefined || path === undefined) return undefined;
  const urlFrom = (mark: Mark) =>
    `${path}${path.includes("?") ? "&" : "?"}since=${feed.positions.format([mark])}`;
  const mark = feed.log.markAt(collection.name, page.sequence);
  return mark instanceof Promise ? mark.then(urlFrom) : urlFrom(mark);
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
  { listing, page, total }: { listing: Listing; page: Page; total: number | undefined },
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
  listing: Listing,
  texts: readonly string[],
  { links: { first, prev, next, last }, total }: { links: Links; total: number | undefined },
): string {
  const items = `[${texts.join(",")}]`;
  if (!listing.asked.envelope) return items;
  const { limit } = listing.asked.paging;
  const rest = JSON.stringify({ total, limit, self: urlOf(listing), first, prev, next, last });
  return `{"items":${items},${rest.slice(1)}`;
}
