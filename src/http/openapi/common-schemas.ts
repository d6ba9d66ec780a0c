/** The schemas that all collections share. */
import { problems } from "../../errors.ts";
import { patchOperationNames } from "../../json/patch-operations.ts";
import { operatorNames } from "../../query/operators.ts";
import type { bodyMembers } from "../../query/query-body.ts";
import { changeKinds } from "../../store/change-log.ts";
import { createdName, operationHeaders, type operationMembers, operationMethods } from "../batch/content.ts";
import type { Limits } from "../settings.ts";
import { type Part, ref } from "./described.ts";
import { feedSchemas } from "./event-schemas.ts";

const text: Part = { type: "string" };
const whole: Part = { type: "integer" };
const version: Part = { type: "integer", minimum: 1 };

const durability: Part = {
  description: "`relaxed` if the database is set up so that it can lose acknowledged writes.",
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
    ...feedSchemas,
    ListQuery: listQuery,
    Restoration: closed({ version }, ["version"], { description: "The version to restore." }),
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
  description: "An error (RFC 9457). Programs can rely on `code`.",
  type: "object",
  required: ["type", "title", "status", "detail", "instance", "code", "message"],
  properties: {
    type: { type: "string", format: "uri-reference" },
    title: text,
    status: { type: "integer", minimum: 400, maximum: 599 },
    detail: { description: "What is wrong and how to correct it, for people.", ...text },
    instance: { description: "The id of the request in the service's log.", type: "string", format: "uri" },
    code: { type: "string", enum: Object.keys(problems) },
    message: { description: "The same as `detail`.", ...text },
    operation: {
      description: "The index of the batch operation with the error, from 0.",
      type: "integer",
      minimum: 0,
    },
    errors: {
      description: "The errors of single attributes, by dotted path.",
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
    pointer: { description: "A JSON Pointer into the body, as a URI fragment.", ...text },
    name: { description: "The name of the parameter or header.", ...text },
    code: { description: "The rule that the value breaks.", ...text },
    detail: text,
  },
  ["in", "code", "detail"],
);

const change: Part = closed(
  {
    version,
    kind: { type: "string", enum: changeKinds },
    at: { type: "string", format: "date-time" },
    principal: {
      description: "Who made the change. Left out if unknown or hidden from the caller.",
      ...text,
    },
    group: { description: "Changes that were made together have the same value.", ...text },
  },
  ["version", "kind", "at"],
  { description: "A change of a resource." },
);

const queryMembers: Record<(typeof bodyMembers)[number], Part> = {
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
  at: {
    description: "A time, as the query parameter `at`. A number is Unix time in milliseconds.",
    type: ["string", "integer"],
  },
  envelope: { type: "boolean" },
  count: { type: "string", enum: ["exact", "none"] },
};

const listQuery: Part = closed(queryMembers, [], {
  description: "The parameters of a list, as in GET.",
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
    path: {
      description: "The path of a collection or resource, below the prefix.",
      type: "string",
      pattern: "^/",
    },
    headers: { type: "object", properties: Object.fromEntries(operationHeaders.map((name) => [name, text])) },
    body: { description: "The body, if the method has one." },
    as: {
      description: "A name by which later operations refer to the created resource.",
      type: "string",
      pattern: createdName.source,
    },
  };
  const operations = { type: "array", maxItems: max, items: closed(members, ["method", "path"]) };
  return closed({ operations }, ["operations"], {
    description: "Operations. All of them succeed, or nothing changes.",
  });
}

const batchResults: Part = closed(
  {
    results: {
      type: "array",
      items: closed(
        {
          status: whole,
          headers: { type: "object", additionalProperties: text },
          body: { description: "The resource, if the response has a body." },
        },
        ["status", "headers"],
      ),
    },
  },
  ["results"],
  { description: "The result of each operation, in order." },
);
