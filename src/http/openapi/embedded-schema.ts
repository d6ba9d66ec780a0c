/** The schema of a resource with the related resources that `embed` names. */
import type { Collection } from "../../collection/collection.ts";
import { formatPath } from "../../collection/paths.ts";
import { hiddenMember, nextMember } from "../../query/embed-request.ts";
import { type Part, ref } from "./described.ts";
import { type Names, schemaNames } from "./names.ts";

/** Finds another collection of the document by its name. */
export type FindDescribed = (name: string) => { collection: Collection; names: Names } | undefined;

/** Whether the document describes relations of the collection. */
export function hasRelations({ relations }: Collection): boolean {
  return [...relations.values()].some(({ isRestricted }) => !isRestricted);
}

/** A resource with related ones. Every caller can read the document, so it leaves out relations that some cannot use. */
export function embeddedSchema(
  collection: Collection,
  {
    called,
    find,
    all,
    isClosed,
  }: {
    called: ReturnType<typeof schemaNames>;
    find: FindDescribed;
    all: Record<string, unknown>;
    isClosed: boolean;
  },
): Record<string, Part> {
  if (!hasRelations(collection)) return {};
  const relations = [...collection.relations.values()];
  const members = relations.flatMap(({ name, collection: target, isList, isRestricted }) => {
    const found = find(target);
    if (isRestricted || found === undefined) return [];
    const { part, embedded } = schemaNames(found.names);
    const shapes = [part, ...(hasRelations(found.collection) ? [embedded] : [])];
    const one = { anyOf: shapes.map((shape) => ref("schemas", shape)) };
    return [[name, isList ? { type: "array", items: one } : { anyOf: [...one.anyOf, { type: "null" }] }]];
  });
  const lists = relations.filter(({ isList, isRestricted }) => isList && !isRestricted);
  const links = Object.fromEntries(
    lists.map(({ name }) => [name, { type: "string", format: "uri-reference" }]),
  );
  const single = relations.filter(({ isList, isRestricted }) => !isList && !isRestricted);
  const isComplete = relations.every(({ isRestricted }) => !isRestricted);
  return {
    [called.embedded]: {
      description: "A resource with the related resources that `embed` names.",
      type: "object",
      required: ["id"],
      properties: {
        ...all,
        ...Object.fromEntries(members),
        ...hiddenPart(
          single.map(({ name }) => name),
          isComplete,
        ),
        [nextMember]: {
          description: "The links to the next related resources, for each array that does not contain all.",
          type: "object",
          properties: links,
          additionalProperties: !isComplete,
        },
      },
      additionalProperties: !(isClosed && isComplete),
      ...declaredReferences(collection),
    },
  };
}

/** `_hidden`, if the collection refers to others. `isComplete`: every relation is in the document. */
function hiddenPart(names: readonly string[], isComplete: boolean): Part {
  if (names.length === 0) return {};
  return {
    [hiddenMember]: {
      description:
        "The references that are null because the caller cannot list the resource, or because it does not exist.",
      type: "array",
      items: isComplete ? { enum: names } : { type: "string" },
    },
  };
}

/** The references behind the relations, as the configuration declares them. Typed clients derive the relations from them. */
function declaredReferences({ references, attributeRules }: Collection): Part {
  const shown = references.filter(
    ({ path }) =>
      !attributeRules.some((rule) => rule.name === path[0] && (rule.writeOnly || rule.roles !== undefined)),
  );
  const declared = shown.map(({ path, collection, as, inverse }) => [
    formatPath(path),
    { collection, ...(as !== undefined && { as }), ...(inverse !== undefined && { inverse }) },
  ]);
  return declared.length === 0 ? {} : { "x-holdfast-references": Object.fromEntries(declared) };
}
