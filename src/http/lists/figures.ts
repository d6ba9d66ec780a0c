/** Reads the figures of a list for GET and QUERY, and makes the response: only resources that the caller can list count. */
import type { TypeAt } from "../../collection/attributes.ts";
import { declaredTypes } from "../../collection/types/declared-types.ts";
import { isRelative, namesRelated } from "../../query/filter.ts";
import { hasRelatedKeys } from "../../query/sort.ts";
import type { Figures, FiguresQuery, GroupRow } from "../../store/port/page.ts";
import { whileConnected } from "../admission/gone.ts";
import type { Caller } from "../caller/admit.ts";
import { type Guard, storeFilter, storeKeys } from "../caller/permission.ts";
import type { FiguresListing } from "../operations/operation.ts";
import type { Result } from "../operations/result.ts";
import { contentTypeOf } from "../protocol/accept.ts";
import { cachingHeaders, passingValidators, type Validators } from "../protocol/conditional.ts";
import { typesOf } from "../protocol/content-types.ts";
import { type HttpRequest, type HttpResponse, withBody } from "../protocol/message.ts";
import type { Callers, Data, Service } from "../service.ts";
import { tablePieces } from "./csv.ts";
import { formatLinks, keptParameters, type Links, locationOf, toUrl } from "./links.ts";
import { narrowed, withoutAdvice } from "./lists.ts";
import { hashOf, ifUnmodified, validatorsAt } from "./validators.ts";

/** Reads the figures, and makes the response. Throws PRECONDITION_FAILED and what the store throws. */
export async function performFigures(
  service: Service,
  listing: FiguresListing & { guard: Guard; caller: Caller },
  request: HttpRequest,
): Promise<Result> {
  const { listed } = listing.guard;
  // The smallest page of the list shows whether the figures of the client are still current.
  const isOfOne = !namesRelated(listing.asked.filter) && !hasRelatedKeys(listing.asked.group);
  const query = figuresQuery(service, listing);
  const isPassing = isRelative(query.filter);
  if (!isPassing && listed === "everything" && isOfOne && request.headers["if-none-match"] !== undefined) {
    const smallest = await service.store.list({ collection: listing.collection.name, limit: 1 });
    const known =
      smallest.hidesExpired === true
        ? undefined
        : ifUnmodified(service, validatorsAt(service, smallest.sequence, listing), listing, request);
    if (known !== undefined) return known;
  }
  const {
    groups,
    more,
    sequence,
    hidesExpired = false,
  } = await readFigures(service, query, listing, request);
  const texts = groups.map(textOf(namesOf(listing)));
  const turn = request.ticket.correct(texts.join().length);
  if (turn !== undefined) await turn;
  // The state of the whole collection would reveal changes to resources that the caller cannot see.
  const isWhole = listed === "everything" && isOfOne && !hidesExpired;
  const state = isWhole ? sequence : hashOf([texts, more]).slice(0, 16);
  const validators = isPassing ? passingValidators() : validatorsAt(service, state, listing);
  const unmodified = ifUnmodified(service, validators, listing, request);
  if (unmodified !== undefined) return unmodified;
  return { kind: "response", response: figuresResponse({ listing, texts, more, validators }, request) };
}

type GuardedListing = FiguresListing & { guard: Guard; caller: Caller };

function figuresQuery(
  service: Data & Callers,
  { collection, asked, caller, guard: { listed } }: GuardedListing,
): FiguresQuery {
  const { filter, words, figures, group, sort, limit, offset } = asked;
  const keys = storeKeys(service, caller, group);
  const all: FiguresQuery = { collection: collection.name, figures, group: keys, sort, limit, offset };
  if (filter !== undefined) all.filter = storeFilter(service, caller, filter);
  if (words !== undefined && words.length > 0) all.words = words;
  return narrowed(all, listed);
}

async function readFigures(
  service: Data,
  query: FiguresQuery,
  { caller, guard: { listed } }: GuardedListing,
  request: HttpRequest,
): Promise<Figures> {
  try {
    return await whileConnected(caller, request, (client) => service.store.figures({ ...query, client }));
  } catch (error) {
    throw listed === "everything" ? error : withoutAdvice(error);
  }
}

/** The names of the members of each group. */
function namesOf({ asked: { group, figures } }: FiguresListing): readonly string[] {
  return [...group, ...figures].map(({ name }) => name);
}

/** The JSON text of a group. */
function textOf(names: readonly string[]): (row: GroupRow) => string {
  const members = names.map((name) => `${JSON.stringify(name)}:`);
  return (row) =>
    `{${row.flatMap((text, n) => (text === undefined ? [] : `${members[n]}${text}`)).join(",")}}`;
}

/** The figures of a list. `texts` are the groups as they are sent. */
interface ShownFigures {
  listing: FiguresListing;
  texts: readonly string[];
  /** Whether there are more groups after these. */
  more: boolean;
  validators: Validators;
}

/** The response with figures. */
function figuresResponse(shown: ShownFigures, request: HttpRequest): HttpResponse {
  const { listing, texts, more, validators } = shown;
  const { type, asked } = listing;
  const headers: Record<string, string> = {
    "content-type": contentTypeOf(type),
    ...cachingHeaders(validators),
    "accept-query": typesOf("QUERY"),
    "page-limit": String(asked.limit),
  };
  const link = formatLinks(linksOf(shown));
  if (link !== "") headers.link = link;
  if (!more && (texts.length > 0 || asked.offset === 0))
    headers["x-total-count"] = String(asked.offset + texts.length);
  const location = locationOf(listing, request);
  if (location !== undefined) headers.location = location;
  if (type === "text/csv") {
    const types = new Map(
      [...asked.group, ...asked.figures].flatMap((each) =>
        "as" in each && each.as !== undefined ? [[each.name, declaredTypes[each.as]]] : [],
      ),
    );
    const typeAt: TypeAt = ([name]) => types.get(name);
    const pieces = tablePieces(namesOf(listing), texts, { typeAt, ...asked.table });
    return { status: 200, headers, body: { pieces, heldBytes: texts.join().length } };
  }
  const lines = type === "application/x-ndjson";
  const content = lines ? texts.map((text) => `${text}\n`).join("") : `[${texts.join(",")}]`;
  return withBody(request, content, { status: 200, headers });
}

function linksOf({ listing: { path, query, asked }, texts, more }: ShownFigures): Links {
  const { limit, offset, group } = asked;
  if (query === undefined || group.length === 0) return {};
  const kept = keptParameters(query);
  const to = (start: number) => toUrl(path, [...kept, `limit=${limit}`, `offset=${start}`].join("&"));
  return {
    ...(more && { next: to(offset + texts.length) }), // groups with long values end early
    ...(offset > 0 && { prev: to(Math.max(0, offset - limit)) }),
    first: to(0),
  };
}
