/** The operations of one resource. */
import type { About } from "./about.ts";
import { asOne } from "./about.ts";
import { created, resourceOrPart } from "./collection-operations.ts";
import { type Part, ref } from "./described.ts";
import { operationIds, schemaNames } from "./names.ts";
import { answer, json, type MethodsOf, type OperationPlan } from "./operations.ts";
import { type HeaderField, idParameter } from "./parameters.ts";
import type { AnswerField } from "./response-headers.ts";

/** By method. */
export const resourceOperations: Record<MethodsOf<"resource">, (about: About) => OperationPlan> = {
  GET: (about) => ({
    ...asked(about, "resource", "GET"),
    id: operationIds(about.names).read,
    summary: `Read ${asOne(about)}`,
    description: "Gives a resource, or an earlier version of it.",
    parameters: [
      ...target(about, "ifNoneMatch", "ifModifiedSince", "ifMatch", "ifUnmodifiedSince"),
      ...["fields", "version", "at"].map((name) => ref("parameters", name)),
    ],
    answers: { 200: found(about), 304: unmodified(about) },
    problems: [400, 404, 406, 412],
  }),
  PUT: (about) => ({
    ...asked(about, "resource", "PUT"),
    id: operationIds(about.names).replace,
    summary: `Replace ${asOne(about)}`,
    description:
      "The content is the whole new resource, with its id: attributes that it leaves out are gone.",
    parameters: target(about, "ifMatch", "ifUnmodifiedSince", "ifNoneMatch", "prefer"),
    requestBody: { required: true, content: json(ref("schemas", schemaNames(about.names).resource)) },
    answers: { 200: updated(about, tagsOfPut(about)), 204: minimal(about, tagsOfPut(about)) },
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
    ...asked(about, "resource", "PATCH"),
    id: operationIds(about.names).patch,
    summary: `Change ${asOne(about)}`,
    description: "Changes some attributes: all that the patch says happens, or nothing.",
    parameters: target(about, "ifMatch", "ifUnmodifiedSince", "ifNoneMatch", "idempotencyKey", "prefer"),
    requestBody: { required: true, content: patches(about) },
    answers: { 200: updated(about, must(["ETag"])), 204: minimal(about, must(["ETag"])) },
    problems: [400, 404, 406, 409, 412, 413, 415, 422, ...required(about)],
  }),
  DELETE: (about) => ({
    ...asked(about, "resource", "DELETE"),
    id: operationIds(about.names).delete,
    summary: `Delete ${asOne(about)}`,
    description: "Deletes a resource. The answer has no content.",
    parameters: target(about, "ifMatch", "ifUnmodifiedSince", "ifNoneMatch"),
    answers: { 205: answer(about.described, "The resource is deleted. The answer has no content.") },
    problems: [400, 404, ...(isReferenced(about) ? [409] : []), 412, ...required(about)],
  }),
};

/** By method, of the list of a resource's changes. */
export const changesOperations: Record<MethodsOf<"changes">, (about: About) => OperationPlan> = {
  GET: (about) => ({
    ...asked(about, "changes", "GET"),
    id: operationIds(about.names).changes,
    summary: `List the changes of ${asOne(about)}`,
    description: "Gives the changes of a resource that are kept, newest first, also where it is deleted.",
    parameters: [...target(about), ref("parameters", "limit"), ref("parameters", "cursor")],
    answers: {
      200: answer(about.described, "A page of changes.", {
        must: ["Link", "Page-Limit"],
        content: json({ type: "array", items: ref("schemas", "Change") }),
      }),
    },
    problems: [400, 404, 406],
  }),
};

/** By method, of the way back to an earlier version. */
export const restoreOperations: Record<MethodsOf<"restore">, (about: About) => OperationPlan> = {
  POST: (about) => ({
    ...asked(about, "restore", "POST"),
    id: operationIds(about.names).restore,
    summary: `Restore ${asOne(about)}`,
    description: "Writes an earlier version of a resource anew, also of one that is deleted.",
    parameters: target(about, "ifMatch", "ifUnmodifiedSince", "ifNoneMatch", "idempotencyKey", "prefer"),
    requestBody: { required: true, content: json(ref("schemas", "Restoration")) },
    answers: {
      200: updated(about, must(["ETag"])),
      201: { ...created(about), description: "The resource was deleted, and is there again." },
      204: minimal(about, must(["ETag"])),
    },
    problems: [400, 404, 406, 409, 412, 413, 415, 422, ...required(about)],
  }),
};

function asked(
  about: About,
  kind: Parameters<About["callersOf"]>[0],
  method: string,
): Pick<OperationPlan, "tag" | "callers"> {
  return { tag: about.tag, callers: about.callersOf(kind, method) };
}

function target({ path, collection }: About, ...fields: readonly HeaderField[]): Part[] {
  return [...path, idParameter(collection.idKind), ...fields.map((name) => ref("parameters", name))];
}

function required({ collection }: About): number[] {
  return collection.requirePreconditions ? [428] : [];
}

/** Whether a delete may be refused because other resources refer to the one that it is of. */
function isReferenced({ described, collection }: About): boolean {
  return [...described.collections.values()].some(({ references }) =>
    references.some((reference) => reference.collection === collection.name),
  );
}

function patches({ names }: About): Part {
  const merge = { schema: ref("schemas", schemaNames(names).patch) };
  return {
    "application/merge-patch+json": merge,
    "application/json-patch+json": { schema: ref("schemas", "JsonPatch") },
    "application/json": merge,
  };
}

/** The fields that tell the version, where the answer to a write must have them, and where it may. */
interface Tags {
  must: readonly AnswerField[];
  may: readonly AnswerField[];
}

function must(fields: readonly AnswerField[]): Tags {
  return { must: fields, may: [] };
}

/** A PUT tells no version where more is kept than was sent. */
function tagsOfPut({ collection: { timestamps, attributeRules } }: About): Tags {
  return timestamps || attributeRules.length > 0 ? { must: [], may: ["ETag"] } : must(["ETag"]);
}

function found({ described, names }: About): Part {
  const { resource, part } = schemaNames(names);
  return answer(described, "The resource; with `fields`, cut down to them.", {
    must: ["ETag"],
    may: ["Last-Modified"],
    content: json({ anyOf: [ref("schemas", resource), ref("schemas", part)] }),
  });
}

function unmodified({ described }: About): Part {
  return answer(described, "The resource is as it was.", { must: ["ETag"], may: ["Last-Modified"] });
}

function updated(about: About, tags: Tags): Part {
  return answer(about.described, "The resource as it now is.", {
    must: [...tags.must, "Content-Location"],
    may: [...tags.may, "Last-Modified", "Preference-Applied", "Idempotent-Replayed"],
    content: json(resourceOrPart(about)),
  });
}

function minimal({ described }: About, tags: Tags): Part {
  return answer(described, "The resource was changed, and is left out as `Prefer: return=minimal` asks.", {
    must: tags.must,
    may: [...tags.may, "Last-Modified", "Preference-Applied", "Idempotent-Replayed"],
  });
}
