/** The operation that changes many resources of a collection. */
import { type bulkMembers, maxBulk } from "../batch/bulk-content.ts";
import { type About, asMany } from "./about.ts";
import { json, type Part, ref } from "./described.ts";
import { operationIds, schemaNames } from "./names.ts";
import { hiddenResult, type MethodsOf, type OperationPlan, success } from "./operations.ts";

/** The operations on the path of bulk changes, by method. */
export const bulkOperations: Record<MethodsOf<"bulk">, (about: About) => OperationPlan> = {
  POST: (about) => ({
    id: operationIds(about.names).bulk,
    tag: about.tag,
    summary: `Change or delete many ${asMany(about)}`,
    description:
      "Changes all resources that match a filter, in one transaction: all succeed, or nothing changes. With `dryRun`, nothing changes, and the response says what would.",
    credential: about.credentialFor("bulk", "POST"),
    parameters: [...about.path, ref("parameters", "idempotencyKey")],
    requestBody: { required: true, content: json(bodySchema(about), example) },
    successes: {
      200: success(about.described, "How many resources match, and which ones changed.", {
        may: ["Idempotent-Replayed"],
        content: json(ref("schemas", "BulkResult"), exampleResult),
      }),
      204: hiddenResult(about.described),
    },
    problems: [
      400,
      ...(about.path.length > 0 ? [404] : []),
      406,
      409,
      413,
      415,
      422,
      ...(about.collection.requirePreconditions ? [428] : []),
    ],
  }),
};

const example = { filter: { id: { in: ["7", "8"] } }, delete: true, max: 2, dryRun: true };

const exampleResult = { matched: 1, changed: 1, dryRun: true, ids: ["7"] };

/** Either `filter` or `all`, and one of `patch`, `update` and `delete`. */
function bodySchema({ names }: About): Part {
  const properties: Record<(typeof bulkMembers)[number], Part> = {
    filter: {
      description: "Selects the resources, as the filter of a QUERY.",
      type: "object",
      minProperties: 1,
    },
    all: { description: "Selects all resources of the caller's list, instead of `filter`.", const: true },
    patch: ref("schemas", schemaNames(names).patch),
    update: ref("schemas", "Update"),
    delete: { const: true },
    max: {
      description: "If more resources match, nothing changes.",
      type: "integer",
      minimum: 1,
      maximum: maxBulk,
    },
    dryRun: { type: "boolean", default: false },
  };
  const oneOf = (...members: readonly (typeof bulkMembers)[number][]) => ({
    oneOf: members.map((name) => ({ required: [name] })),
  });
  return {
    type: "object",
    required: ["max"],
    properties,
    additionalProperties: false,
    allOf: [oneOf("filter", "all"), oneOf("patch", "update", "delete")],
  };
}
