/** The endpoints of consumers: their status, their deliveries, and what an administrator does with them. */
import type { EndpointOf } from "../../../capability.ts";
import { Problem } from "../../../errors.ts";
import { type Body, readBody } from "../../../http/endpoint/body.ts";
import {
  closedObject,
  count,
  hasAdministrators,
  json,
  listOf,
  type Part,
  text,
  truth,
} from "../../../http/openapi/described.ts";
import { type Asked, jsonResult } from "../../../http/operations/result.ts";
import { mergePatchTypeNames, requireMergePatchType } from "../../../http/protocol/content-types.ts";
import type { Data } from "../../../http/service.ts";
import type { CodeSettings } from "../settings.ts";
import type { Consumers } from "./consumers.ts";

/** What the endpoints need of the open capability. */
export interface WithConsumers {
  /** Absent if the configuration has no consumer. */
  readonly consumers: Consumers | undefined;
}

const time: Part = { type: ["string", "null"], format: "date-time" };

const status = closedObject(
  {
    name: { type: "string", description: "The names of the collection and of the consumer." },
    enabled: truth,
    state: { enum: ["active", "failing", "disabled", "paused", "removed"] },
    reason: { type: "string", description: "Why the consumer is not active." },
    waiting: { ...count, description: "Changes that the consumer has not reached yet." },
    retrying: { ...count, description: "Failed deliveries that the service tries again." },
    dead: { ...count, description: "Failed deliveries that the service has given up." },
    lost: { ...count, description: "Changes that the history removed before the consumer reached them." },
    lagSeconds: {
      type: "number",
      minimum: 0,
      description: "The age of the oldest change that the consumer has not handled.",
    },
    position: {
      type: ["string", "null"],
      description: "Where the consumer is, as the `since` of a feed of its collection.",
    },
    lastSuccess: time,
    lastFailure: time,
  },
  { optional: ["reason"] },
);

const delivery = closedObject({
  event: { type: "string", description: "The id of the event." },
  type: text,
  state: { enum: ["delivered", "retrying", "dead"] },
  attempts: count,
  time: { ...time, description: "The last attempt." },
  milliseconds: count,
  error: { type: ["string", "null"], description: "Why the last attempt failed." },
  next: { ...time, description: "The next attempt." },
});

const change: Body<unknown> = {
  members: {
    enabled: {
      schema: { type: "boolean", description: "Whether the consumer runs." },
      fault: ["type", "must be true or false"],
    },
  },
  example: { enabled: false },
  insteadOfArray: 'an object such as {"enabled":false}',
};

const names = {
  collection: { description: "The collection of the consumer." },
  name: { description: "The name of the consumer in its collection." },
};

const event = { event: { description: "The id of the event." } };

function exists(
  described: Parameters<typeof hasAdministrators>[0],
  settings: CodeSettings | undefined,
): boolean {
  return hasAdministrators(described) && (settings?.consumers.length ?? 0) > 0;
}

/** The members that all these endpoints have. */
function common(id: string, [summary, description]: readonly [string, string], schema: Part) {
  return {
    who: "administrators",
    exists,
    id,
    tag: "Consumers",
    summary,
    description,
    successes: { 200: { description: summary, content: json(schema) } },
  } as const;
}

/** The endpoints. */
export const consumerEndpoints: readonly EndpointOf<WithConsumers, CodeSettings>[] = [
  {
    ...common(
      "listConsumers",
      [
        "List the consumers",
        "Lists the consumers of the configuration, and those that were removed from it less than 30 days ago.",
      ],
      closedObject({ consumers: listOf(status) }),
    ),
    path: "/_consumers",
    method: "GET",
    handle: async (_, __, { consumers }) => jsonResult(consumers && { consumers: await consumers.list() }),
  },
  {
    ...common("getConsumer", ["Read a consumer", "Says how a consumer handles changes."], status),
    path: "/_consumers/{collection}/{name}",
    method: "GET",
    names,
    handle: async (_, asked, { consumers }) => jsonResult(await consumers?.status(nameOf(asked))),
  },
  {
    ...common(
      "changeConsumer",
      [
        "Enable or disable a consumer",
        "A disabled consumer handles nothing. Enabled again, it continues where it was.",
      ],
      status,
    ),
    path: "/_consumers/{collection}/{name}",
    method: "PATCH",
    names,
    body: change,
    content: { types: mergePatchTypeNames, limit: "bodyBytes", require: requireMergePatchType },
    handle: async (service, asked, { consumers }) => {
      const { limits } = service.settings;
      const bytes = await asked.request.content.receive(limits.bodyBytes);
      requireWrites(service);
      const { enabled } = await readBody(change, bytes, { limits, context: service });
      return jsonResult(await consumers?.enable(nameOf(asked), enabled as boolean));
    },
  },
  {
    ...common(
      "listConsumerDeliveries",
      [
        "List the recent deliveries of a consumer",
        "Lists the deliveries of the last 7 days, at most 1,000, the latest first.",
      ],
      listOf(delivery),
    ),
    path: "/_consumers/{collection}/{name}/_deliveries",
    method: "GET",
    names,
    page: { usual: 100, most: 1_000, hasAfter: false, what: "deliveries" },
    handle: async (_, asked, { consumers }) =>
      jsonResult(await consumers?.deliveries(nameOf(asked), asked.page.limit)),
  },
  {
    ...common(
      "retryConsumerDelivery",
      [
        "Handle an event again",
        "Lets the consumer handle the event again as soon as it can. Returns the delivery.",
      ],
      delivery,
    ),
    path: "/_consumers/{collection}/{name}/_deliveries/{event}/_retry",
    method: "POST",
    names: { ...names, ...event },
    handle: async (service, asked, { consumers }) => {
      requireWrites(service);
      return jsonResult(await consumers?.retry(nameOf(asked), asked.names.event as string));
    },
  },
  {
    ...common(
      "skipConsumerDelivery",
      ["Give up an event", "Ends the retries of a failed event, which is then dead. Returns the delivery."],
      delivery,
    ),
    path: "/_consumers/{collection}/{name}/_deliveries/{event}/_skip",
    method: "POST",
    names: { ...names, ...event },
    handle: async (service, asked, { consumers }) => {
      requireWrites(service);
      return jsonResult(await consumers?.skip(nameOf(asked), asked.names.event as string));
    },
  },
];

function nameOf({ names: { collection, name } }: Asked): string {
  return `${collection}/${name}`;
}

function requireWrites({ readOnly }: Data): void {
  if (readOnly) throw new Problem("UNAVAILABLE", "The service is read-only now. Its consumers pause.");
}
