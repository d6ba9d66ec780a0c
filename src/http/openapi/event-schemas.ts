/** The schemas of events: CloudEvents 1.0 in JSON. */
import { changeKinds } from "../../store/port/change-log.ts";
import { closedObject, only, type Part, ref, text } from "./described.ts";

/** Attributes of all events. */
const common: Record<string, Part> = {
  specversion: only("1.0"),
  id: { description: "Identifies the event. A repeated event has the same id.", ...text },
  time: { description: "When the change was committed.", type: "string", format: "date-time" },
  datacontenttype: only("application/json"),
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
        "The collection and what happened, as the caller sees it: if a change makes a resource match the filter, the type is `created`. If the resource no longer matches, it is `deleted`.",
      ...type,
    },
    subject: { description: "The id of the resource.", ...text },
    etag: { description: "The `ETag` of the resource after the change. Left out for a deletion.", ...text },
    version: {
      description: "The version of the resource after the change. It orders the events of one resource.",
      type: "string",
      pattern: "^[1-9][0-9]*$",
    },
    group: { description: "All changes of one commit have the same value.", ...text },
    data,
  };
  return closedObject(properties, {
    optional: ["etag", "group"],
    description: "A change of a resource (CloudEvents 1.0).",
  });
}

/** The schemas of feeds of several collections, by their names. */
export const feedSchemas: Readonly<Record<string, Part>> = {
  Event: eventSchema("", {
    description: "The resource as the change left it. For a deletion, only its `id`.",
    type: "object",
    required: ["id"],
    properties: { id: { type: ["string", "integer"] } },
    additionalProperties: true,
  }),
  Resync: closedObject(
    {
      ...common,
      source: text,
      type: only("holdfast.resync"),
      data: closedObject({ reason: { description: "Why events are missing, for people.", ...text } }),
    },
    {
      description:
        "Sent by a stream that cannot continue from its position. The client must list the resources again.",
    },
  ),
};

/** The frames of a stream of events, as the items of the media type. */
export function frameSchema(event: string): Part {
  return {
    type: "object",
    properties: {
      id: { description: "The position from which a client continues after this event.", ...text },
      data: {
        ...text,
        contentMediaType: "application/json",
        contentSchema: { anyOf: [ref("schemas", event), ref("schemas", "Resync")] },
      },
      retry: { description: "Milliseconds to wait before connecting again.", type: "integer" },
    },
  };
}
