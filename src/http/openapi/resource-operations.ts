/** The operations of one resource. */
import { formatPointer } from "../../json/pointer.ts";
import type { About } from "./about.ts";
import { asOne } from "./about.ts";
import { created, resourceOrPart } from "./collection-operations.ts";
import { json, media, type Part, ref } from "./described.ts";
import { exampleChanges, exampleId } from "./examples.ts";
import { operationIds, schemaNames } from "./names.ts";
import { answer, type MethodsOf, type OperationPlan } from "./operations.ts";
import { type HeaderField, idParameter } from "./parameters.ts";
import type { AnswerField } from "./response-headers.ts";

/** By method. */
export const resourceOperations: Record<MethodsOf<"resource">, (about: About) => OperationPlan> = {
  GET: (about) => ({
    ...asked(about, "resource", "GET"),
    id: operationIds(about.names).read,
    summary: `Read ${asOne(about)}`,
    description: "Returns a resource, or an earlier version of it.",
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
      "Replaces the whole resource. The body must contain the id and all attributes. The service removes the attributes that the body leaves out.",
    parameters: target(about, "ifMatch", "ifUnmodifiedSince", "ifNoneMatch", "prefer"),
    requestBody: {
      required: true,
      content: json(ref("schemas", schemaNames(about.names).resource), replacement(about)),
    },
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
    summary: `Update ${asOne(about)}`,
    description:
      "Changes some attributes, with a JSON Merge Patch (RFC 7396) or a JSON Patch (RFC 6902). The whole patch applies, or nothing changes.",
    parameters: target(about, "ifMatch", "ifUnmodifiedSince", "ifNoneMatch", "idempotencyKey", "prefer"),
    requestBody: { required: true, content: patches(about) },
    answers: { 200: updated(about, must(["ETag"])), 204: minimal(about, must(["ETag"])) },
    problems: [400, 404, 406, 409, 412, 413, 415, 422, ...required(about)],
  }),
  DELETE: (about) => ({
    ...asked(about, "resource", "DELETE"),
    id: operationIds(about.names).delete,
    summary: `Delete ${asOne(about)}`,
    description: "Deletes a resource.",
    parameters: target(about, "ifMatch", "ifUnmodifiedSince", "ifNoneMatch"),
    answers: { 205: answer(about.described, "The resource is deleted. The response has no body.") },
    problems: [400, 404, ...(isReferenced(about) ? [409] : []), 412, ...required(about)],
  }),
};

/** By method, of the list of a resource's changes. */
export const changesOperations: Record<MethodsOf<"changes">, (about: About) => OperationPlan> = {
  GET: (about) => ({
    ...asked(about, "changes", "GET"),
    id: operationIds(about.names).changes,
    summary: `List the changes of ${asOne(about)}`,
    description:
      "Returns the stored changes of a resource, newest first. The changes of a deleted resource also remain for a time.",
    parameters: [...target(about), ref("parameters", "limit"), ref("parameters", "cursor")],
    answers: {
      200: answer(about.described, "A page of changes.", {
        must: ["Link", "Page-Limit"],
        content: json({ type: "array", items: ref("schemas", "Change") }, exampleChanges),
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
    description: "Restores an earlier version, as a new version. You can also restore a deleted resource.",
    parameters: target(about, "ifMatch", "ifUnmodifiedSince", "ifNoneMatch", "idempotencyKey", "prefer"),
    requestBody: { required: true, content: json(ref("schemas", "Restoration"), { version: 3 }) },
    answers: {
      200: updated(about, must(["ETag"])),
      201: { ...created(about), description: "The resource was deleted before, and exists again." },
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

/** The body of a PUT in examples: what clients send, with the id. */
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

function found({ described, names, examples }: About): Part {
  const { resource, part } = schemaNames(names);
  return answer(described, "The resource. With `fields`, only those attributes and the id.", {
    must: ["ETag"],
    may: ["Last-Modified"],
    content: json({ anyOf: [ref("schemas", resource), ref("schemas", part)] }, examples?.resource),
  });
}

function unmodified({ described }: About): Part {
  return answer(described, "The resource has not changed.", { must: ["ETag"], may: ["Last-Modified"] });
}

function updated(about: About, tags: Tags): Part {
  return answer(about.described, "The resource after the change.", {
    must: [...tags.must, "Content-Location"],
    may: [...tags.may, "Last-Modified", "Preference-Applied", "Idempotent-Replayed"],
    content: json(resourceOrPart(about), about.examples?.resource),
  });
}

function minimal({ described }: About, tags: Tags): Part {
  return answer(
    described,
    "The resource was changed. The response has no body because of `Prefer: return=minimal`.",
    {
      must: tags.must,
      may: [...tags.may, "Last-Modified", "Preference-Applied", "Idempotent-Replayed"],
    },
  );
}
