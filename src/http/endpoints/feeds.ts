/** The endpoints of feeds, of one collection and of several: pages and streams of events. */
import type { CollectionEndpoint, Endpoint, Success } from "../endpoint/endpoint.ts";
import { readEvents } from "../events/events.ts";
import { asMany } from "../openapi/about.ts";
import { type Described, type InDocument, media, type Part, ref } from "../openapi/described.ts";
import { frameSchema } from "../openapi/event-schemas.ts";
import { exampleEvent } from "../openapi/examples.ts";
import { operationIds, schemaNames } from "../openapi/names.ts";
import { attributeFilters, type FeedParameter } from "../openapi/parameters.ts";
import { parseSubscription } from "../operations/feed-parameters.ts";
import type { Subscription } from "../operations/operation.ts";
import type { FeedType } from "../protocol/accept.ts";

const hasFeed = ({ settings }: Described) => settings.hasFeed;

/** What all feeds do. */
const feedDescription = [
  "Returns the changes after a position, in order for each collection: as a page by default,",
  "and as an endless stream (server-sent events) with `Accept: text/event-stream`.",
  "The header `Link` of a page has the URL of the next page. To start with what a list shows, follow the `monitor` link of the list.",
].join(" ");

export const collectionFeedEndpoint: CollectionEndpoint<Subscription> = {
  path: "/{collection}/_events",
  method: "GET",
  who: { action: ["list"] },
  exists: hasFeed,
  formats: "any",
  id: ({ names }) => operationIds(names).events,
  summary: (about) => `Follow ${asMany(about)}`,
  description: `${feedDescription} It has the filters of a list, except filters by id. It sees what the caller's lists show.`,
  parameters: ({ names }) => [
    attributeFilters(names),
    ref("parameters", "filter"),
    ...feedParameters("since", "eventLimit", "wait", "lastEventId", "lastEventIdHeader"),
  ],
  successes: (about) => ({
    200: pageOrStream(
      about,
      schemaNames(about.names).event,
      exampleEvent(about.settings.prefix, about.collection, about.examples),
    ),
  }),
  errors: [406, 410, 429],
  parse: (service, { route, caller, request }) => parseSubscription(service, route, caller, request),
  handle: (service, { parsed, request }) => readEvents(service, parsed, request),
};

export const feedEndpoint: Endpoint<Subscription> = {
  path: "/_events",
  method: "GET",
  who: "everyone",
  exists: hasFeed,
  formats: "any",
  id: "listEvents",
  summary: "Follow several collections",
  description: `${feedDescription} It has no filters.`,
  parameters: feedParameters(
    "feedCollections",
    "since",
    "eventLimit",
    "wait",
    "lastEventId",
    "lastEventIdHeader",
  ),
  successes: (described) => ({ 200: pageOrStream(described, "Event") }),
  errors: [406, 410, 429],
  parse: (service, { route: { query }, caller, request }) =>
    parseSubscription(service, { query }, caller, request),
  handle: (service, { parsed, request }) => readEvents(service, parsed, request),
};

/** The parameters of a feed, and `fields`. */
function feedParameters(...names: readonly FeedParameter[]): Part[] {
  return [...names.map((name) => ref("parameters", name)), ref("parameters", "fields")];
}

/** The response of a feed. */
function pageOrStream(described: InDocument, event: string, example?: Part): Success {
  const page = media({ type: "array", items: ref("schemas", event) }, example && [example]);
  const content: Record<FeedType, Part> = {
    "application/cloudevents-batch+json": page,
    "application/json": page,
    "text/event-stream":
      described.version === "3.2" ? { itemSchema: frameSchema(event) } : { schema: { type: "string" } },
  };
  return {
    description: "A page or a stream of events. Only a page has the headers `Link` and `Page-Limit`.",
    may: ["Link", "Page-Limit"],
    content,
  };
}
