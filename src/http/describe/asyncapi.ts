/** The AsyncAPI document of a service: the streams of events, made from the same tables as the OpenAPI document. */

import { type Schema, subschemasOf } from "../../collection/subschemas.ts";
import { type ChangeKind, changeKinds } from "../../store/port/change-log.ts";
import { isInternal } from "../../store/port/record.ts";
import { nextTurn } from "../admission/turns.ts";
import { type About, asMany, asOne } from "../openapi/about.ts";
import { commonSchemas } from "../openapi/common-schemas.ts";
import { type Described, only, type Part, ref } from "../openapi/described.ts";
import { exampleEvent, examplesFor } from "../openapi/examples.ts";
import { operationIds, schemaNames } from "../openapi/names.ts";
import { parameterParts } from "../openapi/parameters.ts";
import { resourceSchemas } from "../openapi/resource-schemas.ts";
import { aboutAll, bearer, type DescribedService, onlyUsed, refsIn, tagOf } from "./document.ts";

/** The document. It is built one collection at a time, so that other requests get turns in between. */
export async function asyncApiDocument(described: DescribedService): Promise<Part> {
  const { endpoints } = described;
  const { prefix, limits, info } = described.settings;
  const schemas = commonSchemas(limits);
  const channels: Record<string, Part> = {};
  const operations: Record<string, Part> = {};
  const messages: Record<string, Part> = { Resync: resync };
  const add = (channel: string, id: string, parts: ChannelParts) => {
    Object.assign(messages, parts.messages);
    const names = [...Object.keys(parts.messages), "Resync"];
    channels[channel] = {
      ...parts.channel,
      messages: Object.fromEntries(names.map((name) => [name, message(name)])),
    };
    operations[id] = { action: "send", channel: { $ref: `#/channels/${channel}` }, ...parts.operation };
  };
  for (const about of aboutAll(described, "3.1")) {
    if (isInternal(about.collection.name)) continue; // these have no events
    const own = resourceSchemas(about.collection, about.names);
    const examples = examplesFor(about.collection, own, schemaNames(about.names).input);
    Object.assign(schemas, own);
    add(about.names.many, operationIds(about.names).events, ofCollection({ ...about, examples }));
    await nextTurn();
  }
  add("service", "listEvents", ofService(described));
  const { title, version } = info;
  return {
    asyncapi: "3.1.0",
    info: { title, version, description: [info.description ?? [], description].flat().join("\n\n") },
    defaultContentType: "application/cloudevents+json",
    channels,
    operations,
    components: {
      messages,
      schemas: draft7(onlyUsed("schemas", schemas, refsIn(messages))),
      ...(described.access === undefined ? {} : { securitySchemes: { bearer } }),
    },
  };

  function ofCollection(about: About): ChannelParts {
    const { names, collection } = about;
    const isAny = about.path.length > 0;
    const { address, credential } = endpoints.feedOf(about, about);
    const event = schemaNames(names).event;
    const made = exampleEvent(prefix, collection, about.examples);
    return {
      channel: {
        address,
        description: tagOf(about.tag, collection).description,
        title: `Events of ${asMany(about)}`,
        ...(isAny && {
          parameters: { collection: { description: "The name of a collection.", examples: ["topics"] } },
        }),
      },
      messages: Object.fromEntries(
        changeKinds.map((kind) => [
          `${names.one}${kind.charAt(0).toUpperCase()}${kind.slice(1)}`,
          {
            name: isAny ? kind : `${collection.name}.${kind}`,
            title: `${capital(asOne(about))} was ${kind}`,
            summary: summaries[kind],
            payload: payload(event, isAny ? { pattern: `\\.${kind}$` } : only(`${collection.name}.${kind}`)),
            ...(kind === "created" && made !== undefined && { examples: [{ payload: made }] }),
          },
        ]),
      ),
      operation: operation(described, credential, {
        summary: `Follow ${asMany(about)}`,
        parameters: ["filter", "fields", "since", "lastEventId"],
      }),
    };
  }
}

/** What one channel adds to the document. */
interface ChannelParts {
  channel: Part;
  messages: Record<string, Part>;
  operation: Part;
}

const description = [
  "Streams of events: each channel is a path. `GET` with `Accept: text/event-stream` gives server-sent events.",
  "The `data` of each is one message, and its `id` is the position from which a client can continue with `since` or `Last-Event-ID`.",
  "The OpenAPI document at `/openapi.json` describes the same events as pages.",
].join(" ");

const summaries: Readonly<Record<ChangeKind, string>> = {
  created: "The resource was created, or entered what the subscriber sees.",
  updated: "The resource was changed.",
  deleted: "The resource was deleted, or left what the subscriber sees.",
};

const resync: Part = {
  name: "holdfast.resync",
  title: "Events are missing",
  summary:
    "The stream cannot continue from its position and continues with new changes. List the resources again.",
  payload: ref("schemas", "Resync"),
};

function message(name: string): Part {
  return { $ref: `#/components/messages/${name}` };
}

function payload(event: string, type: Part): Part {
  return { allOf: [ref("schemas", event), { type: "object", properties: { type } }] };
}

function ofService(described: DescribedService): ChannelParts {
  const { address, credential } = described.endpoints.feedOf(described);
  return {
    channel: {
      address,
      title: "Events of several collections",
      description: "The events of the named collections, or of all that the caller can list.",
    },
    messages: { Event: { name: "event", title: "A resource has changed", payload: ref("schemas", "Event") } },
    operation: operation(described, credential, {
      summary: "Follow several collections",
      parameters: ["feedCollections", "fields", "since", "lastEventId"],
    }),
  };
}

function operation(
  { settings, access }: Described,
  credential: "none" | "optional" | "required",
  { summary, parameters }: { summary: string; parameters: readonly string[] },
): Part {
  const parts = parameterParts(settings.limits, false) as Record<
    string,
    { name: string; description: string; schema: Part }
  >;
  const properties = parameters.flatMap((key) => {
    const part = parts[key];
    return part === undefined
      ? []
      : [[part.name, { ...part.schema, description: part.description }] as const];
  });
  return {
    summary,
    ...(access !== undefined &&
      credential === "required" && { security: [{ $ref: "#/components/securitySchemes/bearer" }] }),
    bindings: {
      http: {
        method: "GET",
        query: { type: "object", properties: Object.fromEntries(properties) },
        bindingVersion: "0.3.0",
      },
    },
  };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The schemas as AsyncAPI reads them: JSON Schema draft-07, in which only tuples have another form. */
function draft7(schemas: Record<string, Part>): Record<string, Part> {
  const copy = structuredClone(schemas);
  for (const schema of Object.values(copy)) rewriteTuples(schema);
  return copy;
}

function rewriteTuples(schema: unknown): void {
  if (typeof schema !== "object" || schema === null) return;
  for (const inner of subschemasOf(schema as Schema)) rewriteTuples(inner.schema);
  const part = schema as Part;
  if (part.prefixItems === undefined) return;
  if (part.items !== undefined) part.additionalItems = part.items;
  part.items = part.prefixItems;
  delete part.prefixItems;
}
