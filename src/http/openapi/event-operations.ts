/** The operations of feeds: pages and streams of events. */
import type { FeedType } from "../protocol/accept.ts";
import { type About, asMany } from "./about.ts";
import { attributeFilters } from "./collection-operations.ts";
import { type Described, media, type Part, ref } from "./described.ts";
import { frameSchema } from "./event-schemas.ts";
import { exampleEvent } from "./examples.ts";
import { operationIds, schemaNames } from "./names.ts";
import { type MethodsOf, type OperationPlan, success } from "./operations.ts";
import type { FeedParameter } from "./parameters.ts";

/** The operations on the events of one collection, by method. */
export const eventsOperations: Record<MethodsOf<"events">, (about: About) => OperationPlan> = {
  GET: (about) => ({
    id: operationIds(about.names).events,
    tag: about.tag,
    summary: `Follow ${asMany(about)}`,
    description: `${feedDescription} It has the filters of a list, except filters by id. It sees what the caller's lists show.`,
    credential: about.credentialFor("events", "GET"),
    parameters: [
      ...about.path,
      attributeFilters(about.names),
      ref("parameters", "filter"),
      ...feedParameters("since", "eventLimit", "wait", "lastEventId", "lastEventIdHeader"),
    ],
    successes: {
      200: pageOrStream(about.described, schemaNames(about.names).event, {
        version: about.version,
        example: exampleEvent(about.described.settings.prefix, about.collection, about.examples),
      }),
    },
    problems: [400, ...(about.path.length > 0 ? [404] : []), 406, 410, 429],
  }),
};

/** What all feeds do. */
export const feedDescription = [
  "Returns the changes after a position, in order for each collection: as a page by default,",
  "and as an endless stream (server-sent events) with `Accept: text/event-stream`.",
  "The header `Link` of a page has the URL of the next page. To start with what a list shows, follow the `monitor` link of the list.",
].join(" ");

/** The parameters of a feed, and `fields`. */
export function feedParameters(...names: readonly FeedParameter[]): Part[] {
  return [...names.map((name) => ref("parameters", name)), ref("parameters", "fields")];
}

/** The response of a feed. */
export function pageOrStream(
  described: Described,
  event: string,
  { version, example }: { version: About["version"]; example: Part | undefined },
): Part {
  const page = media({ type: "array", items: ref("schemas", event) }, example && [example]);
  const content: Record<FeedType, Part> = {
    "application/cloudevents-batch+json": page,
    "application/json": page,
    "text/event-stream":
      version === "3.2" ? { itemSchema: frameSchema(event) } : { schema: { type: "string" } },
  };
  return success(
    described,
    "A page or a stream of events. Only a page has the headers `Link` and `Page-Limit`.",
    {
      may: ["Link", "Page-Limit"],
      content,
    },
  );
}
