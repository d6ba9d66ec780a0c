/** The schemas of what is the same for every collection. */
import { problems } from "../../errors.ts";
import { patchOperationNames } from "../../json/patch-operations.ts";
import type { contentMembers } from "../../query/content.ts";
import { operatorNames } from "../../query/operators.ts";
import { createdName, operationHeaders, type operationMembers, operationMethods } from "../batch/content.ts";
import type { Limits } from "../settings.ts";
import { type Part, ref } from "./described.ts";

const text: Part = { type: "string" };
const whole: Part = { type: "integer" };
const version: Part = { type: "integer", minimum: 1 };

const durability: Part = {
  description: "That the database may lose what it has acknowledged, where it is set to.",
  type: "string",
  enum: ["relaxed"],
};

/** An object whose members are all known. */
function closed(properties: Record<string, Part>, required: readonly string[], more: Part = {}): Part {
  return { ...more, type: "object", required, properties, additionalProperties: false };
}

/** By their names. */
export function commonSchemas(limits: Limits): Record<string, Part> {
  return {
    Problem: problem,
    CollectionList: collectionList,
    Violation: violation,
    Change: change,
    ListQuery: listQuery,
    Restoration: closed({ version }, ["version"], { description: "The version that is to be written anew." }),
    JsonPatch: jsonPatch(limits),
    Batch: batch(limits),
    BatchResults: batchResults,
    Health: closed({ status: { type: "string", enum: ["pass", "warn", "fail"] }, durability }, ["status"]),
    ProblemType: closed({ type: text, title: text, status: whole, code: text, meaning: text }, [
      "type",
      "title",
      "status",
      "code",
      "meaning",
    ]),
  };
}

const collectionList: Part = closed(
  {
    collections: {
      type: "array",
      items: closed(
        {
          name: text,
          href: { description: "The path of the collection.", type: "string", format: "uri-reference" },
        },
        ["name", "href"],
      ),
    },
  },
  ["collections"],
  { description: "The collections, sorted by name." },
);

const problem: Part = {
  description: "What went wrong (RFC 9457). `code` is the word to switch on.",
  type: "object",
  required: ["type", "title", "status", "detail", "instance", "code", "message"],
  properties: {
    type: { type: "string", format: "uri-reference" },
    title: text,
    status: { type: "integer", minimum: 400, maximum: 599 },
    detail: { description: "What is wrong and what would be right, for a person.", ...text },
    instance: { description: "Names the request in the service's log.", type: "string", format: "uri" },
    code: { type: "string", enum: Object.keys(problems) },
    message: { description: "As `detail`.", ...text },
    operation: {
      description: "Which operation of a batch it is about, from 0.",
      type: "integer",
      minimum: 0,
    },
    errors: {
      description: "What is wrong with single attributes, by their paths with dots.",
      type: "object",
      additionalProperties: text,
    },
    violations: { type: "array", maxItems: 50, items: ref("schemas", "Violation") },
    "violated-policies": { type: "array", items: text },
  },
};

const violation: Part = closed(
  {
    in: { type: "string", enum: ["body", "query", "path", "header"] },
    pointer: { description: "A JSON Pointer into the content, as a URI fragment.", ...text },
    name: { description: "The name of the parameter or the header field.", ...text },
    code: { description: "The rule that is broken.", ...text },
    detail: text,
  },
  ["in", "code", "detail"],
);

const change: Part = closed(
  {
    version,
    kind: { type: "string", enum: ["created", "updated", "deleted"] },
    at: { type: "string", format: "date-time" },
    principal: {
      description:
        "Who made the change. Left out where the service does not know it, or does not show it to the caller.",
      ...text,
    },
    group: { description: "The same for changes that were made together.", ...text },
  },
  ["version", "kind", "at"],
  { description: "A change of a resource." },
);

const queryMembers: Record<(typeof contentMembers)[number], Part> = {
  filter: {
    description: `Attributes with values, lists of values, or operators (${operatorNames.join(", ")}); and, or, not.`,
    type: "object",
  },
  sort: { type: "array", items: text },
  limit: { type: "integer", minimum: 1 },
  cursor: { type: "string", minLength: 1 },
  offset: { type: "integer", minimum: 0 },
  fields: { type: "array", minItems: 1, items: text },
  q: text,
  envelope: { type: "boolean" },
  count: { type: "string", enum: ["exact", "none"] },
};

const listQuery: Part = closed(queryMembers, [], {
  description: "What a list is asked for, as the parameters of GET.",
});

function jsonPatch({ patchOperations }: Limits): Part {
  const operation = {
    type: "object",
    required: ["op", "path"],
    properties: {
      op: { type: "string", enum: patchOperationNames },
      path: { description: "A JSON Pointer into the resource.", ...text },
      from: text,
      value: {},
    },
  };
  return {
    description: "A JSON Patch (RFC 6902).",
    type: "array",
    maxItems: patchOperations,
    items: operation,
  };
}

function batch({ batch: max }: Limits): Part {
  const members: Record<(typeof operationMembers)[number], Part> = {
    method: { type: "string", enum: operationMethods },
    path: { description: "Of a collection or a resource, below the prefix.", type: "string", pattern: "^/" },
    headers: { type: "object", properties: Object.fromEntries(operationHeaders.map((name) => [name, text])) },
    body: { description: "The content, where the method has any." },
    as: {
      description: "What later operations call what this one creates.",
      type: "string",
      pattern: createdName.source,
    },
  };
  const operations = { type: "array", maxItems: max, items: closed(members, ["method", "path"]) };
  return closed({ operations }, ["operations"], { description: "Operations of which all happen or none." });
}

const batchResults: Part = closed(
  {
    results: {
      type: "array",
      items: closed(
        {
          status: whole,
          headers: { type: "object", additionalProperties: text },
          body: { description: "The resource, where the answer has content." },
        },
        ["status", "headers"],
      ),
    },
  },
  ["results"],
  { description: "What came of each operation, in their order." },
);
