/** Carries out a list, whether GET or QUERY asked for it: gets the page, and cuts its resources down. */
import type { Collection } from "../collection/collection.ts";
import { Problem } from "../errors.ts";
import { pickFields } from "../query/fields.ts";
import type { ListRequest } from "../query/list.ts";
import type { ListQuery, Page } from "../store/store.ts";
import { isUnmodified, type Validators } from "./conditional.ts";
import { listPieces } from "./formats.ts";
import { locationOf } from "./links.ts";
import type { HttpRequest } from "./message.ts";
import type { ListType } from "./negotiate.ts";
import type { Service } from "./service.ts";
import { createPauses } from "./turns.ts";

/** A list that is asked for. */
export interface Listing {
  collection: Collection;
  path: string;
  asked: ListRequest;
  /** The query string with which GET gives this very list; `undefined` where its URL would be too long. */
  query: string | undefined;
  /** The media type of the answer. */
  type: ListType;
  /** Tells lists apart that QUERY asks for at one URL. */
  contentHash: string | undefined;
}

/** What came of a list. */
export type ListResult =
  /** `location` is the URL at which GET gives what a QUERY asked for. */
  | { kind: "unmodified"; validators: Validators; location: string | undefined }
  /** `texts` are the page's resources as they go out; `body` is the answer where its format is not JSON. */
  | {
      kind: "page";
      page: Page;
      texts: readonly string[];
      body: string | undefined;
      listing: Listing;
      validators: Validators;
    };

/** A list, and the request for it. */
interface Asked {
  listing: Listing;
  request: HttpRequest;
}

/** Gets the page. Throws PRECONDITION_FAILED and what the store throws. */
export async function performList(
  service: Service,
  listing: Listing,
  request: HttpRequest,
): Promise<ListResult> {
  const asked = { listing, request };
  const query = toListQuery(listing);
  // Nobody searches for what the client has: the smallest page tells whether that still holds.
  if (!isQuick(query) && request.headers["if-none-match"] !== undefined) {
    const smallest = await service.store.list({ collection: query.collection, limit: 1 });
    const unmodified = ifUnmodified(service, smallest, asked);
    if (unmodified !== undefined) return unmodified;
  }
  const page = await getPage(service, query, request);
  return ifUnmodified(service, page, asked) ?? pageOf(service, page, listing);
}

function ifUnmodified(service: Service, page: Page, { listing, request }: Asked): ListResult | undefined {
  const validators = listValidators(service, page, tagOf(listing));
  if (!isUnmodified(request.headers, validators, service.now())) return undefined;
  return { kind: "unmodified", validators, location: locationOf(listing, request) };
}

async function pageOf(service: Service, page: Page, listing: Listing): Promise<ListResult> {
  const validators = listValidators(service, page, tagOf(listing));
  const { fields } = listing.asked;
  const whole = page.items.map(({ text }) => text);
  const texts = fields === undefined ? whole : await cutAll(whole, fields);
  return { kind: "page", page, texts, body: await formatted(listing, texts), listing, validators };
}

/** Weak, because it stands for the collection's whole state rather than for the bytes of this page. */
export function listValidators(service: Service, { sequence }: Page, tag = ""): Validators {
  return { etag: `W/"${sequence}-${service.configurationHash}${tag}"`, lastModifiedMs: undefined };
}

/** Lists of one URL have entity tags of their own where they are of other content, or in another format. */
function tagOf({ type, contentHash }: Listing): string {
  const format = type === "application/json" ? "" : `-${type.split("/")[1]}`;
  return contentHash === undefined ? format : `${format}-${contentHash}`;
}

function toListQuery({ collection, asked }: Listing): ListQuery {
  const { filter, sort, words, paging } = asked;
  const query: ListQuery = { collection: collection.name, limit: paging.limit };
  if (filter !== undefined) query.filter = filter;
  if (sort.length > 0) query.sort = sort;
  if (words !== undefined) query.words = words;
  if (paging.kind === "offset") query.offset = paging.offset;
  else if (paging.after !== undefined) query.after = paging.after;
  // Clients that page by offset show how many pages there are.
  if (asked.count === "exact" || (paging.kind === "offset" && asked.count === undefined)) query.count = true;
  return query;
}

function isQuick({ filter, sort, words, offset = 0 }: ListQuery): boolean {
  return filter === undefined && sort === undefined && words === undefined && offset === 0;
}

/** A page in order of ids is there at once; any other may take long, and ends when the client goes away. */
function getPage({ store }: Service, query: ListQuery, request: HttpRequest): Promise<Page> {
  return isQuick(query)
    ? store.list(query)
    : whileThere(request, (signal) => store.list({ ...query, signal }));
}

async function whileThere<T>(
  { content: { socket } }: HttpRequest,
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
  return new Problem("INVALID_REQUEST", "The connection ended before the list was there.");
}

async function cutAll(texts: readonly string[], fields: readonly string[]): Promise<string[]> {
  const pause = createPauses();
  const cut: string[] = [];
  for (const text of texts) {
    cut.push(pickFields(text, fields));
    await pause(text.length);
  }
  return cut;
}

async function formatted({ type, asked }: Listing, texts: readonly string[]): Promise<string | undefined> {
  if (type === "application/json") return undefined;
  const pause = createPauses();
  let body = "";
  for (const piece of listPieces(type, texts, asked.fields)) {
    body += piece;
    await pause(piece.length);
  }
  return body;
}
