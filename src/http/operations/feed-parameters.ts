/** Reads the request of a feed: which collections, from which position, and in which form. */
import type { View } from "../../changes/event.ts";
import type { Collection } from "../../collection/collection.ts";
import { shortJson } from "../../collection/messages.ts";
import { isIdPath } from "../../collection/paths.ts";
import type { Violation } from "../../errors.ts";
import { leavesOf, ownFilter, ownPathsOf, type RequestedFilter } from "../../query/filter.ts";
import { readLimit } from "../../query/page-limit.ts";
import { parseList } from "../../query/query-string.ts";
import { inQuery, Violations } from "../../query/violations.ts";
import type { Caller } from "../caller/admit.ts";
import { guardOf, pastViewFor, requireAction, viewFor, viewsOf } from "../caller/permission.ts";
import { feedTypeFor } from "../protocol/accept.ts";
import type { HttpRequest } from "../protocol/message.ts";
import type { CollectionRoute } from "../route.ts";
import { type Callers, type Data, findCollection, type Surface } from "../service.ts";
import type { Subscription } from "./operation.ts";

/** The parameters of a feed, besides filters. */
export interface FeedAsked {
  /** A position, `now` (after the last change) or `start` (before the oldest change in the log). */
  since: string;
  /** Where the request has `since`. */
  sinceIn: Pick<Violation, "in"> & { name: string };
  /** Events on a page. */
  limit: number;
  /** How long an empty page waits for its first event, in milliseconds. */
  waitMs: number;
}

/** The most collections of one feed. */
export const maxCollections = 50;

/** Events on a page without `limit`. */
export const defaultLimit = 100;

/** The most events on a page. */
export const maxLimit = 1_000;

/** The longest `wait`. */
export const maxWaitSeconds = 60;

/** The feed of one collection, or of several. */
type FeedRoute = Pick<CollectionRoute, "collection" | "path" | "query"> | { query: string };

/** Reads the request. Throws NOT_ACCEPTABLE, INVALID_PARAMETER, and what callers without rights get. */
export function parseSubscription(
  service: Data & Callers & Surface,
  route: FeedRoute,
  caller: Caller,
  request: HttpRequest,
): Subscription {
  const type = feedTypeFor(request);
  const { own, rest } = splitParameters(route);
  const asked = readAsked(own, type === "text/event-stream", request);
  const renew = (now: Caller) => parseSubscription(service, route, now, request);
  const keep = (names: readonly string[]) => own.filter(([name]) => names.includes(name)).map(toText);
  const common = { asked, type, caller, renew };
  if ("collection" in route) {
    requireFollowable(service, route.collection, caller);
    const { path, collection } = route;
    const view = viewOf(service, collection, caller, rest);
    const target = { path: `${path}/_events`, query: [...rest, ...keep(["limit", "wait"])] };
    return { ...common, views: [view], isOpen: false, target };
  }
  const named = own.filter(([name]) => name === "collection").map(([, text]) => text);
  const { collections, isOpen } = collectionsOf(service, named, caller);
  const fields = rest.filter((pair) => nameOf(pair) === "fields");
  refuseFilters(rest.filter((pair) => nameOf(pair) !== "fields"));
  const views = collections.map((collection) => viewOf(service, collection, caller, fields));
  const query = [...keep(["collection"]), ...fields, ...keep(["limit", "wait"])];
  return { ...common, views, isOpen, target: { path: `${service.settings.prefix}/_events`, query } };
}

type Pair = readonly [name: string, text: string];

const ownParameters = ["since", "limit", "wait", "lastEventId"] as const;

/** The parameters of feeds, and the other ones as they were sent: these are the filters of lists. */
function splitParameters(route: FeedRoute): { own: Pair[]; rest: string[] } {
  const pairs = route.query.split("&").filter((pair) => pair !== "");
  // In the feed of one collection, it is a filter by an attribute with this name.
  const own = new Set<string>("collection" in route ? ownParameters : [...ownParameters, "collection"]);
  const isOwn = (pair: string) => own.has(nameOf(pair));
  return {
    own: [...new URLSearchParams(pairs.filter(isOwn).join("&"))],
    rest: pairs.filter((pair) => !isOwn(pair)),
  };
}

function nameOf(pair: string): string {
  const [name = ""] = new URLSearchParams(pair).keys();
  return name;
}

function toText([name, text]: Pair): string {
  return `${name}=${encodeURIComponent(text).replaceAll("%2C", ",")}`;
}

function readAsked(own: readonly Pair[], isStream: boolean, { headers }: HttpRequest): FeedAsked {
  const faults = new Violations();
  const given = new Map(own);
  for (const [name] of given) {
    if (own.filter(([each]) => each === name).length > 1)
      faults.add(inQuery(name), "repeatedParameter", "must be given only once");
  }
  if (isStream)
    for (const name of ["limit", "wait"].filter((each) => given.has(each)))
      faults.add(inQuery(name), "stream", "is for pages. A stream sends each event when it happens");
  const position = readSince(given, headers["last-event-id"]);
  const text = given.get("limit");
  const bounds = { most: maxLimit, isContinued: position !== undefined };
  const limit = text === undefined ? defaultLimit : readLimit(text, inQuery("limit"), bounds, faults);
  const wait = readWait(given.get("wait"), faults);
  faults.throwIfAny();
  return {
    ...(position ?? { since: isStream ? "now" : "start", sinceIn: inQuery("since") }),
    limit: limit ?? defaultLimit,
    waitMs: wait * 1_000,
  };
}

/** The position that the request has; `undefined` without one. */
function readSince(
  given: ReadonlyMap<string, string>,
  header: unknown,
): Pick<FeedAsked, "since" | "sinceIn"> | undefined {
  if (typeof header === "string" && header !== "")
    return { since: header, sinceIn: { in: "header", name: "Last-Event-ID" } };
  const name = given.get("lastEventId") ? "lastEventId" : "since";
  const since = given.get(name);
  return since === undefined ? undefined : { since, sinceIn: { in: "query", name } };
}

function readWait(text: string | undefined, faults: Violations): number {
  if (text === undefined) return 0;
  const seconds = /^[0-9]+$/.test(text) ? Number(text) : undefined;
  if (seconds !== undefined && seconds <= maxWaitSeconds) return seconds;
  faults.mustBe(inQuery("wait"), "wait", `a whole number of seconds from 0 to ${maxWaitSeconds}`, text);
  return 0;
}

/** The collections of a feed of several. Without names, all that the caller can list. */
function collectionsOf(
  service: Data & Callers,
  named: readonly string[],
  caller: Caller,
): { collections: readonly Collection[]; isOpen: boolean } {
  const faults = new Violations();
  const refuse = (detail: string) => {
    faults.add(inQuery("collection"), "collection", detail);
    faults.throwIfAny();
  };
  const [list] = named;
  if (list === undefined) {
    const all = [...new Set([...service.collections().keys(), ...service.store.collections().keys()])].sort();
    const collections = all
      .map((name) => findCollection(service, name))
      .filter((each) => each !== undefined)
      .filter((each) => guardOf(service, each, caller).followed !== "nothing");
    if (collections.length > maxCollections)
      refuse(
        `is required, because there are more than ${maxCollections} collections. Name up to ${maxCollections}`,
      );
    return { collections, isOpen: true };
  }
  const names = [...new Set(list.split(",").map((name) => name.trim()))];
  if (list.trim() === "") refuse("must name at least one collection");
  if (names.length > maxCollections) refuse(`must name at most ${maxCollections} collections`);
  const collections = names.flatMap((name) => {
    const collection = findCollection(service, name);
    if (collection === undefined) refuse(`names the collection ${shortJson(name)}, which does not exist`);
    return collection ?? [];
  });
  for (const collection of collections) requireFollowable(service, collection, caller);
  return { collections, isOpen: false };
}

/** Throws UNAUTHENTICATED or INSUFFICIENT_SCOPE unless the caller can follow the collection. */
function requireFollowable(service: Callers, collection: Collection, caller: Caller): void {
  requireAction(service, collection, ["list"], caller);
  const guard = guardOf(service, collection, caller);
  if (guard.followed === "nothing")
    throw guard.denied(
      "list",
      "It permits lists, but no feed: the rule looks at related resources, whose changes make no events here. Read the list again instead.",
    );
}

function refuseFilters(pairs: readonly string[]): void {
  const faults = new Violations();
  for (const name of new Set(pairs.map(nameOf)))
    faults.add(
      inQuery(name),
      "unknownParameter",
      'is not understood here. A feed of several collections has no filters: use the "_events" of one collection',
    );
  faults.throwIfAny();
}

/** The parameters of lists that a feed does not have. */
const ofLists: Readonly<Record<string, string>> = {
  q: "a feed cannot search. Use a filter",
  embed: "events contain only the resource itself",
  _embed: "events contain only the resource itself",
  _expand: "events contain only the resource itself",
  sort: "events have the order of the changes",
  _sort: "events have the order of the changes",
  _order: "events have the order of the changes",
  count: "a feed has no total",
  envelope: "a page of a feed is always an array",
  bom: "a feed has no CSV",
  delimiter: "a feed has no CSV",
  aggregate: "a feed cannot count or group. Use the list",
  group: "a feed cannot count or group. Use the list",
  distinct: "a feed cannot count or group. Use the list",
  timezone: "a filter of a feed cannot compare with today",
  at: 'a feed has positions instead of times. Use "since" with a position, "now" or "start"',
  cursor: 'use "since"',
  offset: 'use "since"',
  range: 'use "since"',
  _start: 'use "since"',
  _end: 'use "since"',
  _page: 'use "since"',
  _limit: 'use "limit"',
  _per_page: 'use "limit"',
};

/** What a caller sees of a collection, with the filters of the request. */
function viewOf(
  service: Data & Callers & Surface,
  declared: Collection,
  caller: Caller,
  rest: readonly string[],
): View {
  const present = viewFor(service, declared, caller);
  const collection = pastViewFor(service, present, caller);
  const faults = new Violations();
  for (const name of new Set(rest.map(nameOf))) {
    const why = Object.hasOwn(ofLists, name) ? ofLists[name] : undefined;
    if (why !== undefined) faults.add(inQuery(name), "unknownParameter", `cannot be used here: ${why}`);
  }
  faults.throwIfAny();
  const asked = parseList(rest.join("&"), collection, maxLimit, {
    viewOf: viewsOf(service, caller),
    refusesRelations: true,
    refusesNow: true,
  });
  const filter = asked.filter && ownFilter(asked.filter);
  if (filter !== undefined && namesIds(filter)) {
    faults.add(
      inQuery("id"),
      "filter",
      'cannot be used here: a feed has no filter by id. Compare the "subject" of each event',
    );
    faults.throwIfAny();
  }
  const source = `${service.settings.prefix}/${collection.name}`;
  const { followed: listed } = guardOf(service, collection, caller);
  return { collection, present, source, listed, filter, fields: asked.fields };
}

/** Whether a filter has a condition on ids. */
export function namesIds(filter: RequestedFilter): boolean {
  return leavesOf(filter).some((leaf) => leaf.kind !== "requestedRelated" && ownPathsOf(leaf).some(isIdPath));
}
