/** Events: what one subscriber sees of a change, as CloudEvents 1.0 in JSON. */
import type { AllowedResources } from "../access/rules.ts";
import type { Tags } from "../access/tags.ts";
import type { Collection } from "../collection/collection.ts";
import { idJson } from "../collection/ids.ts";
import { type Fields, partOf } from "../collection/visibility.ts";
import { type Filter, matches } from "../query/filter.ts";
import type { ChangeKind, LoggedChange } from "../store/port/change-log.ts";
import type { Positions } from "./position.ts";

/** What a subscriber sees of one collection. */
export interface View {
  /** The collection with the attributes that the subscriber sees. */
  collection: Collection;
  /** The collection as the subscriber sees its resources now: their tags are those of this view. @default `collection` */
  present?: Collection;
  /** The path of the collection. */
  source: string;
  /** The resources that the subscriber can list. */
  listed: AllowedResources;
  /** Further conditions; `undefined` for none. */
  filter: Filter | undefined;
  /** The attributes of `data`; `undefined` for all. */
  fields: Fields | undefined;
}

/** What events are made with. */
export interface EventParts {
  positions: Positions;
  tags: Pick<Tags, "view" | "group">;
}

/**
 * The kind of a change for a subscriber: a resource that enters the view is created, and a resource that leaves it is deleted.
 * `undefined`: the subscriber does not see it before or after the change.
 */
export function kindFor(view: View, change: LoggedChange): ChangeKind | undefined {
  if (view.listed === "everything" && view.filter === undefined) return change.kind;
  const wasSeen = change.superseded !== undefined && isSeen(view, parsed(change, "superseded"));
  const isSeenNow = change.text !== undefined && isSeen(view, parsed(change, "text"));
  if (isSeenNow) return wasSeen ? "updated" : "created";
  return wasSeen ? "deleted" : undefined;
}

/**
 * Whether the subscriber sees resources by a condition on their attributes. Then an event has content only if the subscriber may also see
 * the last state of the resource.
 */
export function isConditional({ listed }: View): boolean {
  return typeof listed !== "string";
}

/** Whether the subscriber may see a resource in this state. The filter of the request takes no part. */
export function maySee({ listed }: View, resource: Record<string, unknown>): boolean {
  return listed === "everything" || (listed !== "nothing" && matches(listed, resource));
}

function isSeen(view: View, resource: Record<string, unknown>): boolean {
  return maySee(view, resource) && (view.filter === undefined || matches(view.filter, resource));
}

/** The parsed texts of changes, because many subscribers look at the same ones. */
const parsedTexts = {
  superseded: new WeakMap<LoggedChange, Record<string, unknown>>(),
  text: new WeakMap<LoggedChange, Record<string, unknown>>(),
};

/** The resource before or after a change; without attributes if the change has no such text. */
export function parsed(change: LoggedChange, which: "superseded" | "text"): Record<string, unknown> {
  const known = parsedTexts[which].get(change);
  if (known !== undefined) return known;
  const resource = JSON.parse(change[which] ?? "{}") as Record<string, unknown>;
  parsedTexts[which].set(change, resource);
  return resource;
}

/** The events of changes, by everything else that they depend on. */
const recentEvents = new WeakMap<LoggedChange, Map<string, string>>();

/** The JSON text of the event of a change. `kind` is the result of `kindFor`. */
export function eventText(parts: EventParts, view: View, change: LoggedChange, kind: ChangeKind): string {
  const { collection, present = collection, source, fields } = view;
  const name = JSON.stringify([
    kind,
    source,
    parts.tags.view(collection.visibility),
    parts.tags.view(present.visibility),
    fields?.kind,
    ...(fields?.names ?? []),
  ]);
  const events = recentEvents.get(change) ?? new Map<string, string>();
  const known = events.get(name);
  if (known !== undefined) return known;
  const text = makeEvent(parts, view, change, kind);
  recentEvents.set(change, events.set(name, text));
  return text;
}

function makeEvent(
  { positions, tags }: EventParts,
  { collection, present = collection, source, fields }: View,
  change: LoggedChange,
  kind: ChangeKind,
): string {
  const { id, version, at, group, sequence } = change;
  const attributes = JSON.stringify({
    specversion: "1.0",
    id: positions.eventId(collection.name, sequence),
    source,
    type: `${collection.name}.${kind}`,
    subject: id,
    time: new Date(at).toISOString(),
    datacontenttype: "application/json",
    etag: kind === "deleted" ? undefined : `"${version}${tags.view(present.visibility)}"`,
    version: String(version),
    group: group === undefined ? undefined : tags.group(group),
  });
  const data =
    kind === "deleted"
      ? `{"id":${idJson(collection.idKind, id)}}`
      : partOf(change.text ?? "{}", fields, collection.visibility);
  return `${attributes.slice(0, -1)},"data":${data}}`;
}
