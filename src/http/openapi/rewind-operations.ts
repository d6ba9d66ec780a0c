/** The operation that brings collections back to an earlier time, and the schemas of its bodies. */

import type { RewindReport } from "../../rewind/attempt.ts";
import type { Misfit, RewindCounts } from "../../rewind/rewind-plan.ts";
import { maxChangesSince } from "../../store/core/changes-since.ts";
import { maxRefusals } from "../../store/core/commits/refusals.ts";
import type { rewindMembers } from "../writes/rewind-content.ts";
import { closedObject, count, type Described, json, type Part, ref, text } from "./described.ts";
import { hiddenResult, type MethodsOf, type OperationPlan, success } from "./operations.ts";
import { serviceTag } from "./service-operations.ts";

const time: Part = { type: "string", format: "date-time" };

const contentMembers: Record<(typeof rewindMembers)[number], Part> = {
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

const reportMembers: Record<keyof RewindReport, Part> = {
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

/** The schemas, by their names. */
export const rewindSchemas: Record<string, Part> = {
  Rewind: {
    type: "object",
    required: ["to", "max"],
    properties: contentMembers,
    additionalProperties: false,
  },
  RewindReport: closedObject(reportMembers, {
    optional: ["before"],
    description: "What a rewind did. In a dry run: what it would do.",
  }),
};

/** The operations on the path of rewinds, by method. */
export const rewindOperations: Record<MethodsOf<"rewind">, (described: Described) => OperationPlan> = {
  POST: (described) => ({
    id: "rewind",
    tag: serviceTag,
    summary: "Go back in time",
    description:
      "Returns collections to their state at an earlier time, with new versions, in one transaction. Only administrators can rewind.",
    credential: "required",
    isNeverForbidden: true, // for others, the path does not exist
    parameters: [ref("parameters", "idempotencyKey")],
    requestBody: {
      required: true,
      content: json(ref("schemas", "Rewind"), { to: "2026-01-31T08:30:00.000Z", max: 100, dryRun: true }),
    },
    successes: {
      200: success(described, "What the rewind did.", {
        may: ["Idempotent-Replayed"],
        content: json(ref("schemas", "RewindReport"), exampleReport),
      }),
      204: hiddenResult(described),
    },
    problems: [400, ...(described.access === undefined ? [] : [404]), 406, 409, 413, 415, 422],
  }),
};

const exampleReport: RewindReport = {
  to: "2026-01-31T08:30:00.000Z",
  dryRun: true,
  created: 1,
  replaced: 2,
  deleted: 0,
  collections: [{ name: "topics", created: 1, replaced: 2, deleted: 0 }],
  misfits: { first: [], more: false },
};
