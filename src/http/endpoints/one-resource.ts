/** The endpoints of one resource: reads, replaces, patches and deletes it. */
import { formatPath } from "../../collection/paths.ts";
import { formatPointer } from "../../json/pointer.ts";
import { embedParameters, requireNoParameters } from "../../query/list-parameters.ts";
import { parseResourceRequest } from "../../query/query-string.ts";
import { inQuery, Violations } from "../../query/violations.ts";
import { isInternal } from "../../store/port/record.ts";
import { inPast, viewsOf } from "../caller/permission.ts";
import type { CollectionEndpoint, Success } from "../endpoint/endpoint.ts";
import { type About, asOne } from "../openapi/about.ts";
import { json, media, type Part, ref } from "../openapi/described.ts";
import { hasRelations } from "../openapi/embedded-schema.ts";
import { exampleId } from "../openapi/examples.ts";
import { operationIds, schemaNames } from "../openapi/names.ts";
import { headerParameters } from "../openapi/parameters.ts";
import type { ResponseHeader } from "../openapi/response-headers.ts";
import { splitPointInTime } from "../operations/history-parameters.ts";
import type { ChangeOperation, CreateWithId, EarlierRead, Read } from "../operations/operation.ts";
import type { Routed } from "../operations/result.ts";
import { expectsNothing } from "../protocol/conditional.ts";
import { patchFormat, updateType } from "../protocol/content-types.ts";
import { readEarlierState } from "../reads/history.ts";
import { read } from "../reads/read.ts";
import type { CollectionRoute } from "../route.ts";
import type { Callers, Data } from "../service.ts";
import { change } from "../writes/change.ts";
import { createWithId } from "../writes/create.ts";
import { created, resourceOrPart } from "./collection-lists.ts";
import { collectionOf, writeOf } from "./in-collection.ts";

const path = "/{collection}/{id}";

const readEndpoint: CollectionEndpoint<Read | EarlierRead> = {
  path,
  method: "GET",
  who: { action: ["read"] },
  id: ({ names }) => operationIds(names).read,
  summary: (about) => `Read ${asOne(about)}`,
  description: (about) => `Returns a resource, or an earlier version of it.${expiry(about)}`,
  parameters: ({ collection }) => [
    ...headerParameters("ifNoneMatch", "ifModifiedSince", "ifMatch", "ifUnmodifiedSince"),
    ...(hasRelations(collection) ? embedParameters.map((name) => ref("parameters", name)) : []),
    ...["fields", "version", "at"].map((name) => ref("parameters", name)),
  ],
  successes: (about) => ({ 200: found(about), 304: unmodified }),
  errors: [412],
  parse(service, routed) {
    const { id, query } = routed.route;
    const { collection, path, guard, caller } = collectionOf(service, routed);
    // Most requests are of this kind. They need nothing else.
    if (query === "") return { collection, path, guard, id, caller, fields: undefined, embeds: [] };
    return parseRead(service, { collection, path, guard, id, caller }, query);
  },
  handle: (service, { parsed, request }) =>
    "pointInTime" in parsed ? readEarlierState(service, parsed, request) : read(service, parsed, request),
};

/** When resources expire. Every caller can read the document, so it does not name an attribute that is hidden from some. */
function expiry({ collection: { expires, visibility } }: About): string {
  if (expires === undefined) return "";
  const isSeen = visibility?.restricted.has(expires.path[0]) !== true;
  const at = isSeen ? `\`${formatPath(expires.path)}\`` : "one of its attributes";
  return ` From the time in ${at} on, the resource does not exist any more.`;
}

function parseRead(
  service: Data & Callers,
  common: Omit<Read, "fields" | "embeds">,
  query: string,
): Read | EarlierRead {
  const { pointInTime, rest } = splitPointInTime(query);
  const { caller } = common;
  const place = pointInTime === undefined ? common : inPast(service, common);
  const { fields, embeds } = parseResourceRequest(rest, place.collection, {
    viewOf: viewsOf(service, caller),
  });
  if (pointInTime === undefined) return { ...common, fields, embeds };
  if (embeds.length > 0) {
    const violations = new Violations();
    const other = "version" in pointInTime ? "version" : "at";
    violations.add(inQuery("embed"), "embed", `cannot be used together with "${other}"`);
    violations.throwIfAny();
  }
  return { ...place, pointInTime, fields };
}

function targetOf(service: Callers, routed: Routed<CollectionRoute>) {
  requireNoParameters(routed.route.query);
  return { ...collectionOf(service, routed), id: routed.route.id };
}

const replaceEndpoint: CollectionEndpoint<ChangeOperation | CreateWithId> = {
  path,
  method: "PUT",
  who: { action: ["update"] },
  createsWithId: true,
  isInBatch: true,
  id: ({ names }) => operationIds(names).replace,
  summary: (about) => `Replace ${asOne(about)}`,
  description: (about) =>
    `Replaces the whole resource. The body must contain the id and all attributes. The service removes the attributes that the body leaves out.${creates(about) ? " With `If-None-Match: *`, it creates the resource with this id instead, as a POST would. If the id is taken, the response is 412." : ""}`,
  parameters: (about) =>
    headerParameters(
      "ifMatch",
      "ifUnmodifiedSince",
      "ifNoneMatch",
      ...(creates(about) ? (["idempotencyKey"] as const) : []),
      "prefer",
    ),
  body: (about) => ({
    required: true,
    content: json(ref("schemas", schemaNames(about.names).resource), replacement(about)),
  }),
  successes: (about) => ({
    200: updated(about, tagsOfPut(about)),
    ...(creates(about) && { 201: created(about, { isPut: true }) }),
    204: minimal(tagsOfPut(about)),
  }),
  errors: (about) => [
    ...(creates(about) ? [409, 422] : about.collection.unique.length > 0 ? [409] : []),
    412,
    ...required(about),
  ],
  parse(service, routed) {
    const target = targetOf(service, routed);
    const isCreate = expectsNothing(routed.request) && !isInternal(target.collection.name);
    return { kind: isCreate ? "create" : "replace", ...target };
  },
  handle(service, asked) {
    const write = writeOf(service, asked);
    const { operation } = write;
    return operation.kind === "create"
      ? createWithId({ ...write, operation })
      : change({ ...write, operation });
  },
};

/** Whether a PUT can create a resource. In a collection with integer ids, the service counts. */
function creates({ collection }: About): boolean {
  return collection.idKind === "uuid" && !isInternal(collection.name);
}

const patchEndpoint: CollectionEndpoint<ChangeOperation> = {
  path,
  method: "PATCH",
  who: { action: ["update"] },
  isKeyed: true,
  isInBatch: true,
  id: ({ names }) => operationIds(names).patch,
  summary: (about) => `Update ${asOne(about)}`,
  description:
    "Changes some attributes, with a JSON Merge Patch (RFC 7396), a JSON Patch (RFC 6902) or update operators such as `$increment`. The whole patch applies, or nothing changes.",
  parameters: headerParameters("ifMatch", "ifUnmodifiedSince", "ifNoneMatch", "idempotencyKey", "prefer"),
  body: (about) => ({ required: true, content: patches(about) }),
  successes: (about) => ({ 200: updated(about, must(["ETag"])), 204: minimal(must(["ETag"])) }),
  errors: (about) => [412, ...required(about)],
  parse: (service, routed) => ({
    kind: "patch",
    ...targetOf(service, routed),
    format: patchFormat(routed.request),
  }),
  handle: (service, asked) => change(writeOf(service, asked)),
};

const deleteEndpoint: CollectionEndpoint<ChangeOperation> = {
  path,
  method: "DELETE",
  who: { action: ["delete"] },
  formats: "any",
  isInBatch: true,
  id: ({ names }) => operationIds(names).delete,
  summary: (about) => `Delete ${asOne(about)}`,
  description: "Deletes a resource.",
  parameters: headerParameters("ifMatch", "ifUnmodifiedSince", "ifNoneMatch"),
  successes: { 205: { description: "The resource is deleted. The response has no body." } },
  errors: (about) => [...(isReferenced(about) ? [409] : []), 412, ...required(about)],
  parse: (service, routed) => ({ kind: "delete", ...targetOf(service, routed) }),
  handle: (service, asked) => change(writeOf(service, asked)),
};

/** The endpoints, in the order of `Allow`. */
export const resourceEndpoints = [readEndpoint, replaceEndpoint, patchEndpoint, deleteEndpoint] as const;

/** The status of a write without the precondition that the collection requires. */
export function required({ collection }: About): number[] {
  return collection.requirePreconditions ? [428] : [];
}

/** Whether a delete can be refused because other resources refer to the resource, or because it is the profile of a user. */
export function isReferenced({ collections, collection, settings }: About): boolean {
  return (
    settings.profiles === collection.name ||
    [...collections().values()].some(({ references }) =>
      references.some((reference) => reference.collection === collection.name),
    )
  );
}

/** The body of a PUT as an example: the attributes that clients send, and the id. */
function replacement({ collection, examples }: About): object | undefined {
  return examples && { id: exampleId(collection), ...examples.input };
}

export function patches({ names, examples }: About): Part {
  const [first] = Object.entries(examples?.input ?? {});
  const merge = media(ref("schemas", schemaNames(names).patch), first && { [first[0]]: first[1] });
  const operations = first && [
    {
      op: first[0] in (examples?.resource ?? {}) ? "replace" : "add",
      path: formatPointer([first[0]]),
      value: first[1],
    },
  ];
  return {
    "application/merge-patch+json": merge,
    "application/json-patch+json": media(ref("schemas", "JsonPatch"), operations),
    [updateType]: media(ref("schemas", "Update"), first && { [first[0]]: { $set: first[1] } }),
    "application/json": merge,
  };
}

/** The headers with the version: `must` are always in the response to a write, and `may` can be in it. */
interface VersionHeaders {
  must: readonly ResponseHeader[];
  may: readonly ResponseHeader[];
}

/** Headers that are always in the response. */
export function must(headers: readonly ResponseHeader[]): VersionHeaders {
  return { must: headers, may: [] };
}

/** The response to a PUT can be without a version, if the service stores more than the client sent. */
export function tagsOfPut({ collection, settings }: About): VersionHeaders {
  const { name, timestamps, attributeRules } = collection;
  const storesMore = timestamps || attributeRules.length > 0 || settings.hooked.has(name);
  return storesMore ? { must: [], may: ["ETag"] } : must(["ETag"]);
}

function found(about: About): Success {
  const { names, examples, collection } = about;
  const { resource, part, embedded } = schemaNames(names);
  const shapes = [resource, part, ...(hasRelations(collection) ? [embedded] : [])];
  return {
    description: "The resource. With `fields`, only those attributes and the id.",
    must: ["ETag"],
    may: ["Last-Modified"],
    content: json({ anyOf: shapes.map((name) => ref("schemas", name)) }, examples?.resource),
  };
}

const unmodified: Success = {
  description: "The resource has not changed.",
  must: ["ETag"],
  may: ["Last-Modified"],
};

/** The response to a change. */
export function updated(about: About, tags: VersionHeaders): Success {
  return {
    description: "The resource after the change.",
    must: [...tags.must, "Content-Location"],
    may: [...tags.may, "Last-Modified", "Preference-Applied", "Idempotent-Replayed"],
    content: json(resourceOrPart(about), about.examples?.resource),
  };
}

/** The response to a change without the resource. */
export function minimal(tags: VersionHeaders): Success {
  return {
    description: "The resource was changed. The response has no body because of `Prefer: return=minimal`.",
    must: tags.must,
    may: [...tags.may, "Last-Modified", "Preference-Applied", "Idempotent-Replayed"],
  };
}
