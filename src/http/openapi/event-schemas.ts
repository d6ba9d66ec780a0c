/** The schemas of events: CloudEvents 1.0 in JSON. */
import { changeKinds } from "../../store/change-log.ts";
import { type Part, ref } from "./described.ts";

const text: Part = { type: "string" };

/** Attributes of all events. */
const common: Record<string, Part> = {
  specversion: { const: "1.0" },
  id: { description: "Identifies the event. A repeated event has the same id.", ...text },
  time: { description: "When the change was committed.", type: "string", format: "date-time" },
  datacontenttype: { const: "application/json" },
};

/** Every event of a collection; without a name, of any collection. `data` is the schema of what an event carries. */
export function eventSchema(collection: string, data: Part): Part {
  const type =
    collection === ""
      ? { ...text, pattern: `\\.(?:${changeKinds.join("|")})$` }
      : { enum: changeKinds.map((kind) => `${collection}.${kind}`) };
  const properties: Record<string, Part> = {
    ...common,
    source: { description: "The path of the collection.", type: "string", format: "uri-reference" },
    type: {
      description:
        "The collection and what happened, as the subscriber sees it: a resource that enters the filter is `created`, and one that leaves it is `deleted`.",
      ...type,
    },
    subject: { description: "The id of the resource.", ...text },
    etag: { description: "The `ETag` of the resource after the change. Left out for a deletion.", ...text },
    version: {
      description: "The version of the resource after the change. It orders the events of one resource.",
      type: "string",
      pattern: "^[1-9][0-9]*$",
    },
    group: { description: "Changes of one commit have the same value.", ...text },
    data,
  };
  const { etag: _, group: __, ...required } = properties;
  return {
    description: "A change of a resource (CloudEvents 1.0).",
    type: "object",
    required: Object.keys(required),
    properties,
    additionalProperties: false,
  };
}

/** The schemas of feeds of several collections, by their names. */
export const feedSchemas: Readonly<Record<string, Part>> = {
  Event: eventSchema("", {
    description: "The resource as the change left it. In a deletion it has only the id.",
    type: "object",
    required: ["id"],
    properties: { id: { type: ["string", "integer"] } },
    additionalProperties: true,
  }),
  Resync: {
    description:
      "Sent by a stream that cannot continue from its position. The client must list the resources again.",
    type: "object",
    required: [...Object.keys(common), "source", "type", "data"],
    properties: {
      ...common,
      source: text,
      type: { const: "holdfast.resync" },
      data: {
        type: "object",
        required: ["reason"],
        properties: { reason: { description: "Why, for people.", ...text } },
        additionalProperties: false,
      },
    },
    additionalProperties: false,
  },
};

/** The frames of a stream of events, as the items of the media type. */
export function frameSchema(event: string): Part {
  return {
    type: "object",
    properties: {
      id: { description: "The position after the event.", ...text },
      data: {
        ...text,
        contentMediaType: "application/json",
        contentSchema: { anyOf: [ref("schemas", event), ref("schemas", "Resync")] },
      },
      retry: { description: "Milliseconds to wait before connecting again.", type: "integer" },
    },
  };
}
