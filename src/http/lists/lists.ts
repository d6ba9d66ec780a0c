/** Reads the page of a list for GET and QUERY: only resources that the caller can list. `response.ts` makes the response. */
import { createHash } from "node:crypto";
import type { AllowedResources } from "../../access/rules.ts";
import type { Mark } from "../../changes/position.ts";
import type { Collection } from "../../collection/collection.ts";
import { Problem } from "../../errors.ts";
import { allOf, matchNone } from "../../query/filter.ts";
import { inBody, inQuery, Violations } from "../../query/violations.ts";
import { HistoryMissing } from "../../store/changed-resources.ts";
import { isInternal } from "../../store/internal.ts";
import { type ListQuery, lengthOf, maxPageBytes, type Page } from "../../store/page.ts";
import { isQuick as isServed } from "../../store/serving.ts";
import type { Guard } from "../caller/permission.ts";
import type { Listing } from "../operations/operation.ts";
import type { ListResult } from "../operations/result.ts";
import { isUnmodified, type Validators } from "../protocol/conditional.ts";
import type { HttpRequest } from "../protocol/message.ts";
import type { Service } from "../service.ts";
import { contentOf, textsOf } from "./content.ts";
import { feedOf, locationOf } from "./links.ts";

/** A list, its request, and the resources that the caller can list. */
interface ListContext {
  listing: Listing;
  request: HttpRequest;
  listed: AllowedResources;
}

/** Reads the page. Throws PRECONDITION_FAILED and what the store throws. */
export async function performList(
  service: Service,
  listing: Listing & { guard: Guard },
  request: HttpRequest,
): Promise<ListResult> {
  const { listed } = listing.guard;
  const context = { listing, request, listed };
  const query = narrowed(toListQuery(listing), listed);
  // The smallest page shows whether the list of the client is still current, without a search.
  if (listed === "everything" && !isQuick(query) && request.headers["if-none-match"] !== undefined) {
    const smallest = await service.store.list({ collection: query.collection, limit: 1 });
    const unmodified = ifUnmodified(service, smallest, context);
    if (unmodified !== undefined) return unmodified;
  }
  const page = await getPage(service, query, context);
  return ifUnmodified(service, page, context) ?? pageOf(service, page, context);
}

function ifUnmodified(service: Service, page: Page, context: ListContext): ListResult | undefined {
  const { listing, request } = context;
  const validators = listValidators(service, page, context);
  if (!isUnmodified(request.headers, validators, service.now())) return undefined;
  return { kind: "unmodified", validators, location: locationOf(listing, request) };
}

async function pageOf(service: Service, page: Page, context: ListContext): Promise<ListResult> {
  const { listing, request } = context;
  const validators = listValidators(service, page, context);
  const texts = await textsOf(page, listing);
  const { type, asked } = listing;
  const content = await contentOf(texts, { type, fields: asked.fields }, request);
  const monitor = await monitorOf(service, page, listing);
  return { kind: "page", page, texts, content, listing, validators, monitor };
}

/** The links of pages that the store keeps in memory, each for the latest list that it was part of. */
const recentMonitors = new WeakMap<
  Page,
  { asked: unknown; query: string | undefined; url: string | undefined }
>();

/** The URL of the events that follow a page; `undefined` if the list has no feed. */
function monitorOf(
  { feed }: Service,
  page: Page,
  listing: Listing,
): string | undefined | Promise<string | undefined> {
  const { asked, query, collection } = listing;
  if (feed === undefined || isInternal(collection.name)) return undefined;
  const made = recentMonitors.get(page);
  if (made?.asked === asked && made.query === query) return made.url;
  const path = feedOf(listing);
  if (path === undefined) return undefined;
  const finish = (mark: Mark) => {
    const url = `${path}${path.includes("?") ? "&" : "?"}since=${feed.positions.format([mark])}`;
    recentMonitors.set(page, { asked, query, url });
    return url;
  };
  const mark = feed.log.markAt(collection.name, page.sequence);
  return mark instanceof Promise ? mark.then(finish) : finish(mark);
}

/** Weak, because they represent the state of the whole collection, not the bytes of this page. */
function listValidators(
  service: Service,
  page: Page,
  { listing, listed }: Pick<ListContext, "listing" | "listed">,
): Validators {
  const state = listed === "everything" ? page.sequence : stateOf(page);
  return collectionValidators(service, state, tagOf(service, listing));
}

/** The validators of a state of a collection, or of the part of it that a caller can see. */
function collectionValidators(service: Service, state: number | string, tag = ""): Validators {
  return { etag: `W/"${state}-${service.configurationHash}${tag}"`, lastModifiedMs: undefined };
}

/** The validators of a collection as the target of a create. They reveal nothing to a caller who cannot list all of it. */
export async function targetValidators(
  service: Service,
  { collection: { name }, guard }: { collection: Collection; guard: Guard },
): Promise<Validators> {
  if (guard.listed !== "everything") return collectionValidators(service, 0);
  const { sequence } = await service.store.list({ collection: name, limit: 1 });
  return collectionValidators(service, sequence);
}

/** Lists at one URL have different ETags if their format, their content or the view of the caller differs. */
function tagOf({ tags }: Service, { type, contentHash, collection: { visibility } }: Listing): string {
  const format = type === "application/json" ? "" : `-${type.split("/")[1]}`;
  const content = contentHash === undefined ? "" : `-${contentHash}`;
  return format + content + tags.view(visibility);
}

/** The states of pages that the store keeps in memory. */
const recentStates = new WeakMap<Page, string>();

/** The state of the whole collection would reveal changes to resources that the caller cannot see. */
function stateOf(page: Page): string {
  const { items, more, total } = page;
  const state =
    recentStates.get(page) ??
    hashOf([items.map(({ id, version }) => [id, version]), more, total]).slice(0, 16);
  recentStates.set(page, state);
  return state;
}

function hashOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url");
}

/** The query, restricted to the resources that the caller can list. */
function narrowed(query: ListQuery, listed: AllowedResources): ListQuery {
  if (listed === "everything") return query;
  if (listed === "nothing") return { ...query, filter: matchNone };
  // A caller who can no longer list a resource cannot list its past either, and never what they could not list then.
  if (query.at !== undefined) return { ...query, visibleFilter: listed };
  return { ...query, filter: query.filter === undefined ? listed : allOf([query.filter, listed]) };
}

function toListQuery({ collection, asked }: Listing): ListQuery {
  const { filter, sort, words, at, paging } = asked;
  const query: ListQuery = { collection: collection.name, limit: paging.limit };
  if (filter !== undefined) query.filter = filter;
  if (sort.length > 0) query.sort = sort;
  if (words !== undefined) query.words = words;
  if (at !== undefined) query.at = at;
  if (paging.kind === "offset") query.offset = paging.offset;
  else if (paging.after !== undefined) query.after = paging.after;
  // Clients that page by offset show the number of pages.
  if (asked.count === "exact" || (paging.kind === "offset" && asked.count === undefined)) query.count = true;
  return query;
}

function isQuick({ filter, sort, words, at, offset = 0 }: ListQuery): boolean {
  const isPlain = filter === undefined && sort === undefined && words === undefined;
  return isPlain && at === undefined && offset === 0;
}

/** A large page waits for its turn. If its size becomes known only when it is read, it waits then. */
async function getPage(service: Service, query: ListQuery, context: ListContext): Promise<Page> {
  const { request, listing } = context;
  const { largeReads } = request;
  const { collection, limit } = query;
  const size = () => largeReads.sizes.ofPage(collection, limit);
  const turn = isReadAtOnce(query, listing.collection) ? largeReads.waitForTurn(request, size) : undefined;
  if (turn !== undefined) await turn;
  if (query.at !== undefined) largeReads.requireMemory(request, maxPageBytes);
  const page = await (isQuick(query) ? service.store.list(query) : getSlowPage(service, query, context));
  const bytes = lengthOf(page);
  largeReads.sizes.notePage(collection, page.items.length, bytes);
  const furtherTurn = largeReads.correct(request, bytes);
  if (furtherTurn !== undefined) await furtherTurn;
  return page;
}

/** Any other list can take long, and would hold up all large reads in the queue. */
function isReadAtOnce(query: ListQuery, { indexes }: Collection): boolean {
  return isQuick(query) || (isServed(query, indexes) && (query.count !== true || query.filter === undefined));
}

/** A page in the order of ids is quick. Any other can take long, and ends when the connection closes. */
async function getSlowPage({ store }: Service, query: ListQuery, context: ListContext): Promise<Page> {
  const { request, listed } = context;
  try {
    return await whileThere(request, (signal) => store.list({ ...query, signal }));
  } catch (error) {
    if (error instanceof HistoryMissing) throw historyMissing(error, context);
    throw listed === "everything" ? error : withoutAdvice(error);
  }
}

/** The beginning of the history would reveal changes to resources that the caller cannot see. */
function historyMissing({ since }: HistoryMissing, { request, listed }: ListContext): unknown {
  const violations = new Violations();
  const begin =
    since === undefined || listed !== "everything"
      ? ""
      : `, which begins at ${new Date(since).toISOString()}`;
  violations.add(
    request.method === "QUERY" ? inBody("at") : inQuery("at"),
    "noHistory",
    `is before the history of the collection${begin}. Send a later time, or read the list without "at"`,
  );
  return violations.problem();
}

/** Advice on indexes would reveal the attributes that the rules of the collection use. */
function withoutAdvice(error: unknown): unknown {
  if (!(error instanceof Problem) || error.code !== "QUERY_TOO_EXPENSIVE") return error;
  return new Problem(error.code, "The list takes longer than the service allows. Request less.", {
    cause: error,
  });
}

async function whileThere<T>(
  { socket }: HttpRequest,
  work: (signal: () => AbortSignal) => Promise<T>,
): Promise<T> {
  let gone: AbortController | undefined;
  const onClose = () => gone?.abort(clientWentAway());
  const watch = () => {
    gone = new AbortController();
    if (socket.destroyed) onClose();
    else socket.once("close", onClose);
    return gone;
  };
  try {
    return await work(() => (gone ?? watch()).signal);
  } finally {
    if (gone !== undefined) socket.off("close", onClose);
  }
}

function clientWentAway(): Problem {
  return new Problem("INVALID_REQUEST", "The connection closed before the list was ready.");
}
