/**
 * Reads the page of a list for GET and QUERY: only resources that the caller can list. `response.ts` makes the response, and
 * `validators.ts` its entity tag.
 */
import { looksAtOthers } from "../../access/access.ts";
import type { AllowedResources } from "../../access/rules.ts";
import type { Collection } from "../../collection/collection.ts";
import { Problem } from "../../errors.ts";
import { allOf, isRelative, matchNone, namesRelated } from "../../query/filter.ts";
import { hasRelatedKeys } from "../../query/sort.ts";
import { inBody, inQuery, Violations } from "../../query/violations.ts";
import { HistoryMissing } from "../../store/port/change-log.ts";
import { type ListQuery, lengthOf, maxPageBytes, type Page } from "../../store/port/page.ts";
import type { Stored } from "../../store/port/stored.ts";
import { whileConnected } from "../admission/gone.ts";
import type { Caller } from "../caller/admit.ts";
import { type Guard, storeFilter, storeKeys } from "../caller/permission.ts";
import type { Listing } from "../operations/operation.ts";
import type { Result } from "../operations/result.ts";
import type { HttpRequest } from "../protocol/message.ts";
import type { Callers, Data, Service } from "../service.ts";
import { positionAfter } from "./links.ts";
import { neededPart, needsLess } from "./page-content.ts";
import { type ListContext, pageResponse } from "./response.ts";
import { ifUnmodified, listValidators } from "./validators.ts";

/** Reads the page, and makes the response. Throws PRECONDITION_FAILED and what the store throws. */
export async function performList(
  service: Service,
  listing: Listing & { guard: Guard; caller: Caller },
  request: HttpRequest,
): Promise<Result> {
  const { listed } = listing.guard;
  const { filter, sort, embeds } = listing.asked;
  // The history can lose deleted resources without a change of the collection.
  const isOfOne =
    !namesRelated(filter) &&
    !looksAtOthers(listed) &&
    !hasRelatedKeys(sort) &&
    embeds.length === 0 &&
    listing.deletions === undefined;
  const query = narrowed(toListQuery(service, listing), listed);
  const isPassing = isRelative(query.filter) || isRelative(query.visibleFilter);
  const context = { listing, request, listed, isOfOne, isPassing };
  // The smallest page shows whether the list of the client is still current, without a search.
  if (
    listed === "everything" &&
    isOfOne &&
    !isPlain(query) &&
    request.headers["if-none-match"] !== undefined
  ) {
    const smallest = await service.store.list({ collection: query.collection, limit: 1 });
    const validators = listValidators(service, smallest, context);
    const unmodified =
      smallest.hidesExpired === true ? undefined : ifUnmodified(service, validators, listing, request);
    if (unmodified !== undefined) return unmodified;
  }
  return pageResponse(service, await readSentPage(service, query, context), context);
}

/** The query, restricted to the resources that the caller can list. */
export function narrowed<Query extends Pick<ListQuery, "filter" | "at" | "visibleFilter">>(
  query: Query,
  listed: AllowedResources,
): Query {
  if (listed === "everything") return query;
  if (listed === "nothing") return { ...query, filter: matchNone };
  // The rule applies to the resource as it is now and as it was then.
  if (query.at !== undefined) return { ...query, visibleFilter: listed };
  return { ...query, filter: query.filter === undefined ? listed : allOf([query.filter, listed]) };
}

function toListQuery(
  service: Data & Callers,
  { collection, asked, caller, deletions }: ListContext["listing"],
): ListQuery {
  const { filter, sort, words, at, paging } = asked;
  const query: ListQuery = { collection: collection.name, limit: paging.limit };
  if (filter !== undefined) query.filter = storeFilter(service, caller, filter);
  if (sort.length > 0) query.sort = storeKeys(service, caller, sort);
  if (words !== undefined && words.length > 0) query.words = words;
  if (at !== undefined) query.at = at;
  if (deletions !== undefined) query.deleted = { ...deletions, hasMember: true };
  if (paging.kind === "offset") query.offset = paging.offset;
  else if (paging.after !== undefined) query.after = paging.after;
  // Clients that page by offset show the number of pages.
  if (asked.count === "exact" || (paging.kind === "offset" && asked.count === undefined)) query.count = true;
  return query;
}

/** Whether the list is a whole collection in the order of ids, as it is now. A page of it is always quick. */
function isPlain({ filter, sort, words, at, deleted, offset = 0 }: ListQuery): boolean {
  const isWhole = filter === undefined && words === undefined && at === undefined && deleted === undefined;
  return isWhole && sort === undefined && offset === 0;
}

/** What a page is read from. */
type Reading = Data & Pick<Service, "feed">;

/** The request for a page, its caller, the collection as the caller sees it, and the resources that the caller can list. */
type PageContext = Pick<ListContext, "request" | "listed"> & { collection: Collection; caller: Caller };

/**
 * Reads a page of a query that is `narrowed`. A large page waits for its turn: before it is read, or afterwards if its size is
 * not known before. Throws what the store throws.
 */
export async function readPage(service: Reading, query: ListQuery, context: PageContext): Promise<Page> {
  const { ticket } = context.request;
  const { collection, limit } = query;
  const size = () => ticket.sizes.ofPage(collection, limit);
  const turn = waitsForTurn(service, query) ? ticket.read(size) : undefined;
  if (turn !== undefined) await turn;
  if (query.at !== undefined || query.deleted !== undefined) ticket.requireMemory(maxPageBytes);
  const page = await (isPlain(query) ? service.store.list(query) : getSlowPage(service, query, context));
  const bytes = lengthOf(page);
  ticket.sizes.notePage(collection, page.items.length, bytes);
  const furtherTurn = ticket.correct(bytes);
  if (furtherTurn !== undefined) await furtherTurn;
  return page;
}

/** The most pages of the store that one response is made of. */
const maxReads = 16;

/**
 * Reads a page whose length is that of the attributes that the response needs. If the whole texts are too long for one page of
 * the store, this reads several, and keeps only these attributes. The page ends early if another change comes between.
 */
async function readSentPage(service: Reading, query: ListQuery, context: ListContext): Promise<Page> {
  const { listing, request, listed } = context;
  const { caller, collection } = listing;
  const scope = { request, listed, caller, collection };
  const page = await readPage(service, query, scope);
  const isQuickList = isPlain(query) || service.store.isQuick(query);
  if (!page.more || page.items.length >= query.limit || !isQuickList || !needsLess(listing)) return page;
  const { offset: _, ...all } = query;
  const items: Stored[] = [];
  let bytes = 0;
  let last = page;
  for (let reads = 1; ; reads++) {
    for (const each of await neededPart(last.items, listing)) {
      bytes += Buffer.byteLength(each.text);
      if (bytes > maxPageBytes && items.length > 0) return { ...page, items };
      items.push(each);
    }
    request.ticket.endRead(); // the whole texts are not needed any more
    request.ticket.hold(bytes);
    const end = last.items.at(-1);
    const limit = query.limit - items.length;
    if (!last.more || limit === 0 || end === undefined || reads === maxReads) break;
    const rest = { ...all, limit, after: positionAfter(listing, end), count: false };
    const next = await readPage(service, rest, scope);
    if (next.sequence !== page.sequence) break;
    last = next;
  }
  return { ...page, items, more: last.more };
}

/** Whether the page waits for its turn before it is read. A slow list would delay all other large reads in the queue. */
function waitsForTurn({ store }: Data, query: ListQuery): boolean {
  return isPlain(query) || (store.isQuick(query) && (query.count !== true || query.filter === undefined));
}

/** Reads a page that can take long. The read ends when the connection closes. */
async function getSlowPage(service: Reading, query: ListQuery, context: PageContext): Promise<Page> {
  const { store } = service;
  const { request, caller, listed } = context;
  try {
    return await whileConnected(caller, request, (client) => store.list({ ...query, client }));
  } catch (error) {
    if (error instanceof HistoryMissing) throw historyMissing(service, error, context);
    throw listed === "everything" ? error : withoutAdvice(error);
  }
}

/** The beginning of the history would reveal changes to resources that the caller cannot see. */
function historyMissing(
  { feed }: Reading,
  { since }: HistoryMissing,
  { request, listed }: PageContext,
): unknown {
  const violations = new Violations();
  const begin =
    since === undefined || listed !== "everything"
      ? ""
      : `, which begins at ${new Date(since).toISOString()}`;
  violations.add(
    request.method === "QUERY" ? inBody("at") : inQuery("at"),
    "noHistory",
    feed === undefined
      ? 'cannot be used: the service keeps no history. Read the list without "at"'
      : `is before the history of the collection${begin}. Send a later time, or read the list without "at"`,
  );
  return violations.problem();
}

/** Advice on indexes would reveal the attributes that the rules of the collection use. */
export function withoutAdvice(error: unknown): unknown {
  if (!(error instanceof Problem) || error.code !== "QUERY_TOO_EXPENSIVE") return error;
  return new Problem(error.code, "The list takes longer than the service allows. Request less.", {
    cause: error,
  });
}
