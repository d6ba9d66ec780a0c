/** The operations of one resource. */
import { formatPointer } from "../../json/pointer.ts";
import { updateType } from "../protocol/content-types.ts";
import { type About, asOne } from "./about.ts";
import { created, resourceOrPart } from "./collection-operations.ts";
import { json, media, type Part, ref } from "./described.ts";
import { hasRelations } from "./embedded-schema.ts";
import { exampleChanges, exampleId } from "./examples.ts";
import { operationIds, schemaNames } from "./names.ts";
import { type MethodsOf, type OperationPlan, success } from "./operations.ts";
import { idParameter, type RequestHeader } from "./parameters.ts";
import type { ResponseHeader } from "./response-headers.ts";

/** The operations on a resource, by method. */
export const resourceOperations: Record<MethodsOf<"resource">, (about: About) => OperationPlan> = {
  GET: (about) => ({
    ...inCollection(about, "resource", "GET"),
    id: operationIds(about.names).read,
    summary: `Read ${asOne(about)}`,
    description: "Returns a resource, or an earlier version of it.",
    parameters: [
      ...target(about, "ifNoneMatch", "ifModifiedSince", "ifMatch", "ifUnmodifiedSince"),
      ...(hasRelations(about.collection) ? [ref("parameters", "embed")] : []),
      ...["fields", "version", "at"].map((name) => ref("parameters", name)),
    ],
    successes: { 200: found(about), 304: unmodified(about) },
    problems: [400, 404, 406, 412],
  }),
  PUT: (about) => ({
    ...inCollection(about, "resource", "PUT"),
    id: operationIds(about.names).replace,
    summary: `Replace ${asOne(about)}`,
    description:
      "Replaces the whole resource. The body must contain the id and all attributes. The service removes the attributes that the body leaves out.",
    parameters: target(about, "ifMatch", "ifUnmodifiedSince", "ifNoneMatch", "prefer"),
    requestBody: {
      required: true,
      content: json(ref("schemas", schemaNames(about.names).resource), replacement(about)),
    },
    successes: { 200: updated(about, tagsOfPut(about)), 204: minimal(about, tagsOfPut(about)) },
    problems: [
      400,
      404,
      406,
      ...(about.collection.unique.length > 0 ? [409] : []),
      412,
      413,
      415,
      ...required(about),
    ],
  }),
  PATCH: (about) => ({
    ...inCollection(about, "resource", "PATCH"),
    id: operationIds(about.names).patch,
    summary: `Update ${asOne(about)}`,
    description:
      "Changes some attributes, with a JSON Merge Patch (RFC 7396), a JSON Patch (RFC 6902) or update operators such as `$increment`. The whole patch applies, or nothing changes.",
    parameters: target(about, "ifMatch", "ifUnmodifiedSince", "ifNoneMatch", "idempotencyKey", "prefer"),
    requestBody: { required: true, content: patches(about) },
    successes: { 200: updated(about, must(["ETag"])), 204: minimal(about, must(["ETag"])) },
    problems: [400, 404, 406, 409, 412, 413, 415, 422, ...required(about)],
  }),
  DELETE: (about) => ({
    ...inCollection(about, "resource", "DELETE"),
    id: operationIds(about.names).delete,
    summary: `Delete ${asOne(about)}`,
    description: "Deletes a resource.",
    parameters: target(about, "ifMatch", "ifUnmodifiedSince", "ifNoneMatch"),
    successes: { 205: success(about.described, "The resource is deleted. The response has no body.") },
    problems: [400, 404, ...(isReferenced(about) ? [409] : []), 412, ...required(about)],
  }),
};

/** The operations on the changes of a resource, by method. */
export const changesOperations: Record<MethodsOf<"changes">, (about: About) => OperationPlan> = {
  GET: (about) => ({
    ...inCollection(about, "changes", "GET"),
    id: operationIds(about.names).changes,
    summary: `List the changes of ${asOne(about)}`,
    description:
      "Returns the stored changes of a resource, newest first. The changes of a deleted resource also remain for a time.",
    parameters: [...target(about), ref("parameters", "limit"), ref("parameters", "cursor")],
    successes: {
      200: success(about.described, "A page of changes.", {
        must: ["Link", "Page-Limit"],
        content: json({ type: "array", items: ref("schemas", "Change") }, exampleChanges),
      }),
    },
    problems: [400, 404, 406],
  }),
};

/** The operations that restore a resource, by method. */
export const restoreOperations: Record<MethodsOf<"restore">, (about: About) => OperationPlan> = {
  POST: (about) => ({
    ...inCollection(about, "restore", "POST"),
    id: operationIds(about.names).restore,
    summary: `Restore ${asOne(about)}`,
    description: "Restores an earlier version, as a new version. You can also restore a deleted resource.",
    parameters: target(about, "ifMatch", "ifUnmodifiedSince", "ifNoneMatch", "idempotencyKey", "prefer"),
    requestBody: { required: true, content: json(ref("schemas", "Restoration"), { version: 3 }) },
    successes: {
      200: updated(about, must(["ETag"])),
      201: { ...created(about), description: "The resource was deleted before, and exists again." },
      204: minimal(about, must(["ETag"])),
    },
    problems: [400, 404, 406, 409, 412, 413, 415, 422, ...required(about)],
  }),
};

function inCollection(
  about: About,
  kind: Parameters<About["credentialFor"]>[0],
  method: string,
): Pick<OperationPlan, "tag" | "credential"> {
  return { tag: about.tag, credential: about.credentialFor(kind, method) };
}

function target({ path, collection }: About, ...fields: readonly RequestHeader[]): Part[] {
  return [...path, idParameter(collection.idKind), ...fields.map((name) => ref("parameters", name))];
}

function required({ collection }: About): number[] {
  return collection.requirePreconditions ? [428] : [];
}

/** Whether a delete can be refused because other resources refer to the resource. */
function isReferenced({ described, collection }: About): boolean {
  return [...described.collections.values()].some(({ references }) =>
    references.some((reference) => reference.collection === collection.name),
  );
}

/** The body of a PUT as an example: the attributes that clients send, and the id. */
function replacement({ collection, examples }: About): object | undefined {
  return examples && { id: exampleId(collection), ...examples.input };
}

function patches({ names, examples }: About): Part {
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

function must(headers: readonly ResponseHeader[]): VersionHeaders {
  return { must: headers, may: [] };
}

/** The response to a PUT can be without a version, if the service stores more than the client sent. */
function tagsOfPut({ collection: { timestamps, attributeRules } }: About): VersionHeaders {
  return timestamps || attributeRules.length > 0 ? { must: [], may: ["ETag"] } : must(["ETag"]);
}

function found({ described, names, examples, collection }: About): Part {
  const { resource, part, embedded } = schemaNames(names);
  const shapes = [resource, part, ...(hasRelations(collection) ? [embedded] : [])];
  return success(described, "The resource. With `fields`, only those attributes and the id.", {
    must: ["ETag"],
    may: ["Last-Modified"],
    content: json({ anyOf: shapes.map((name) => ref("schemas", name)) }, examples?.resource),
  });
}

function unmodified({ described }: About): Part {
  return success(described, "The resource has not changed.", { must: ["ETag"], may: ["Last-Modified"] });
}

function updated(about: About, tags: VersionHeaders): Part {
  return success(about.described, "The resource after the change.", {
    must: [...tags.must, "Content-Location"],
    may: [...tags.may, "Last-Modified", "Preference-Applied", "Idempotent-Replayed"],
    content: json(resourceOrPart(about), about.examples?.resource),
  });
}

function minimal({ described }: About, tags: VersionHeaders): Part {
  return success(
    described,
    "The resource was changed. The response has no body because of `Prefer: return=minimal`.",
    {
      must: tags.must,
      may: [...tags.may, "Last-Modified", "Preference-Applied", "Idempotent-Replayed"],
    },
  );
}
