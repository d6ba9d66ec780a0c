/** The schemas of writes of all collections: their bodies, and the results of those that change many resources. */
import type { UpdateOperator } from "../../collection/update.ts";
import type { CellType, ColumnSummary } from "../../import/cells.ts";
import { maxReportedColumns } from "../../import/table.ts";
import { patchOperationNames } from "../../json/patch-operations.ts";
import type { RewindReport } from "../../rewind/attempt.ts";
import type { Misfit, RewindCounts } from "../../rewind/rewind-plan.ts";
import { maxChangesSince } from "../../store/core/changes-since.ts";
import { maxRefusals } from "../../store/core/commits/refusals.ts";
import {
  createdName,
  operationHeaders,
  type operationMembers,
  operationMethods,
} from "../many/batch-content.ts";
import { maxBulk } from "../many/bulk-content.ts";
import { type ImportReport, maxErrors, maxNamedIds } from "../many/import-report.ts";
import type { Limits } from "../settings.ts";
import type { rewindMembers } from "../writes/rewind-content.ts";
import { closedObject, count, only, type Part, text } from "./described.ts";
import { taskSchema } from "./task-schema.ts";

/** The schemas, by their names. */
export function writeSchemas(limits: Limits): Record<string, Part> {
  return {
    JsonPatch: jsonPatch(limits),
    Update: update(limits),
    Restoration: restoration,
    Batch: batch(limits),
    BatchResults: batchResults,
    BulkResult: bulkResult,
    ServiceTask: taskSchema,
    ImportReport: importReport,
    ...rewindSchemas,
  };
}

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

const items: Part = { type: "array", items: {} };

/** A string is an exact number, for an attribute that the schema declares as one. */
const number: Part = { type: ["number", "string"] };

const operatorOperands: Record<UpdateOperator, Part> = {
  $increment: { description: "Adds the number. An absent attribute counts as 0.", ...number },
  $min: { description: "Keeps the smaller number. An absent attribute counts as 0.", ...number },
  $max: { description: "Keeps the larger number. An absent attribute counts as 0.", ...number },
  $append: { description: "Adds the items at the end. An absent attribute counts as [].", ...items },
  $addUnique: { description: "Adds the items that the array does not have.", ...items },
  $remove: { description: "Removes all items that are equal to one of these.", ...items },
  $set: { description: "Replaces the value." },
  $unset: only(true, "Removes the attribute."),
};

function update({ patchOperations }: Limits): Part {
  const operation = {
    type: "object",
    minProperties: 1,
    maxProperties: 1,
    properties: operatorOperands,
    additionalProperties: false,
  };
  return {
    description: "Attributes, or dotted paths such as `author.name`, each with one operator.",
    type: "object",
    maxProperties: patchOperations,
    additionalProperties: operation,
  };
}

const restoration: Part = closedObject(
  { version: { type: "integer", minimum: 1 } },
  { description: "The version to restore." },
);

function batch({ batch: max }: Limits): Part {
  const members: Record<(typeof operationMembers)[number], Part> = {
    method: { type: "string", enum: operationMethods },
    path: {
      description:
        "The path of a collection or resource, below the prefix. A query can name a resource by a unique key.",
      type: "string",
      pattern: "^/",
    },
    headers: { type: "object", properties: Object.fromEntries(operationHeaders.map((name) => [name, text])) },
    body: { description: "The body, if the method has one." },
    as: {
      description:
        "A name by which later operations refer to the resource: of a POST, or of a PUT by a unique key.",
      type: "string",
      pattern: createdName.source,
    },
  };
  const operation = closedObject(members, { optional: ["headers", "body", "as"] });
  return closedObject(
    { operations: { type: "array", maxItems: max, items: operation } },
    { description: "Operations. All of them succeed, or nothing changes." },
  );
}

const batchResults: Part = closedObject(
  {
    results: {
      type: "array",
      items: closedObject(
        {
          status: { type: "integer" },
          headers: { type: "object", additionalProperties: text },
          body: { description: "The resource, if the response has a body." },
        },
        { optional: ["body"] },
      ),
    },
  },
  { description: "The result of each operation, in order." },
);

const bulkResult: Part = closedObject(
  {
    matched: { description: "The number of resources that match.", ...count },
    changed: {
      description: "The number of resources that get a new version, or are deleted.",
      ...count,
    },
    dryRun: { description: "Whether nothing was written.", type: "boolean" },
    ids: {
      description: "The ids of the changed resources, in ascending order.",
      type: "array",
      maxItems: maxBulk,
      items: { type: ["string", "integer"] },
    },
  },
  { description: "The result of a bulk change." },
);

/** The place of a resource in the body of an import. */
const inImport = {
  line: { description: "The line of the body, from 1.", type: "integer", minimum: 1 },
  element: { description: "The element of the JSON array, from 1.", type: "integer", minimum: 1 },
};

const reportedIds = (description: string): Part =>
  closedObject(
    {
      count,
      first: {
        type: "array",
        maxItems: maxNamedIds,
        items: closedObject({ ...inImport, id: text }, { optional: ["element", "id"] }),
      },
    },
    { description },
  );

const cellTypes = ["number", "boolean", "date", "string"] as const satisfies CellType[];

const columnMembers: Record<keyof ColumnSummary, Part> = {
  name: { description: "The attribute.", ...text },
  types: {
    description: "The types that its values are stored with. A date is a string that is a date.",
    type: "array",
    items: { enum: [...cellTypes, "null", "array", "object"] },
  },
  inferred: {
    description: "The type that `types=infer` gives. Left out if the schema declares the types.",
    enum: cellTypes,
  },
  found: {
    description: "How many cells read as each type. Left out if the schema declares the types.",
    ...closedObject(Object.fromEntries([...cellTypes, "empty"].map((type) => [type, count]))),
  },
  prevents: {
    description: "The first cell that keeps the column from another type than `string`.",
    ...closedObject({ line: inImport.line, value: text, detail: text }, { optional: ["detail"] }),
  },
  converted: { description: "How many cells were converted. Left out if none was.", ...count },
  cut: {
    description: "How many of these had digits below milliseconds, which were cut off. Left out if none had.",
    ...count,
  },
};

const reportMembers: Record<keyof ImportReport, Part> = {
  dryRun: { type: "boolean" },
  complete: { description: "Whether the service could read the body to its end.", type: "boolean" },
  resources: { description: "The resources in the body.", ...count },
  invalid: { description: "The invalid resources.", ...count },
  imported: { description: "The resources that were written. In a dry run: that would be.", ...count },
  made: { description: "With `on`: the new resources.", ...count },
  changed: { description: "With `on`: the resources that were changed.", ...count },
  same: { description: "With `on`: the resources that were the same already.", ...count },
  errors: {
    description: "The first errors, in the order of the body.",
    type: "array",
    maxItems: maxErrors,
    items: closedObject(
      { ...inImport, pointer: text, code: text, detail: text, value: text },
      { optional: ["element", "pointer", "value"] },
    ),
  },
  generatedIds: reportedIds("Resources without an id, which got a generated one."),
  replacedIds: reportedIds(
    "With `ids`: the resources whose id does not fit the collection, which got another one.",
  ),
  stringIds: reportedIds("Resources whose id was a number, and is now a string."),
  reusedIds: reportedIds(
    "Resources with the id of a resource that was deleted. The report of a task does not have this member.",
  ),
  columns: {
    description:
      "With CSV: the columns, and what the service found in them. Only the first ones of very many.",
    type: "array",
    maxItems: maxReportedColumns,
    items: closedObject(columnMembers, { optional: ["inferred", "found", "prevents", "converted", "cut"] }),
  },
};

const importReport: Part = closedObject(reportMembers, {
  optional: ["made", "changed", "same", "reusedIds", "columns"],
  description: "What an import did.",
});

const time: Part = { type: "string", format: "date-time" };

const rewindContent: Record<(typeof rewindMembers)[number], Part> = {
  to: { description: "The time to go back to, as in `at`.", type: ["string", "integer"] },
  collections: {
    description: "The collections to rewind. Without it, all of them.",
    type: "array",
    minItems: 1,
    items: text,
  },
  max: {
    description: "If more resources would change, nothing changes.",
    type: "integer",
    minimum: 1,
    maximum: maxChangesSince,
  },
  dryRun: { description: "Only says what would change.", type: "boolean", default: false },
};

const counts: Record<keyof RewindCounts, Part> = {
  created: { description: "Resources that were deleted since, and exist again.", ...count },
  replaced: { description: "Resources that have their earlier attributes again.", ...count },
  deleted: { description: "Resources that were created since.", ...count },
};

const misfitMembers: Record<keyof Misfit, Part> = {
  collection: text,
  id: text,
  pointer: { description: "The attribute, as a JSON Pointer in a URI fragment.", ...text },
  code: { description: "A keyword of JSON Schema, `unique`, `reference` or `referenced`.", ...text },
  detail: text,
};

const rewindReport: Record<keyof RewindReport, Part> = {
  to: { description: "The time that the collections went back to.", ...time },
  dryRun: { type: "boolean" },
  before: { description: "A rewind to this time undoes this rewind. Only if something changed.", ...time },
  ...counts,
  collections: {
    description: "The rewound collections, sorted by name unless the request names them.",
    type: "array",
    items: closedObject({ name: text, ...counts }),
  },
  misfits: closedObject(
    {
      first: {
        type: "array",
        maxItems: maxRefusals,
        items: closedObject(misfitMembers, { optional: ["pointer"] }),
      },
      more: { description: "Whether there are more.", type: "boolean" },
    },
    { description: "The resources that would not fit today's schemas, unique attributes and references." },
  ),
};

const rewindSchemas: Record<string, Part> = {
  Rewind: {
    type: "object",
    required: ["to", "max"],
    properties: rewindContent,
    additionalProperties: false,
  },
  RewindReport: closedObject(rewindReport, {
    optional: ["before"],
    description: "What a rewind did. In a dry run: what it would do.",
  }),
};
