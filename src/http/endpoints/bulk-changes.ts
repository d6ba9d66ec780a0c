/** The endpoint that changes many resources of a collection. */
import { requireNoParameters } from "../../query/list-parameters.ts";
import { maxTaskResources } from "../../tasks/task.ts";
import { type CollectionEndpoint, hiddenResult } from "../endpoint/endpoint.ts";
import { performBulk } from "../many/bulk.ts";
import { type bulkMembers, maxBulk } from "../many/bulk-content.ts";
import { beginBulk } from "../many/tasks/bulk-task.ts";
import { isForTask } from "../many/tasks/task-begin.ts";
import { type About, asMany } from "../openapi/about.ts";
import { json, only, type Part, ref } from "../openapi/described.ts";
import { operationIds, schemaNames } from "../openapi/names.ts";
import type { Bulk } from "../operations/operation.ts";
import { collectionOf, writeOf } from "./in-collection.ts";
import { required } from "./one-resource.ts";
import { acceptedTask } from "./tasks.ts";

const example = { filter: { id: { in: ["7", "8"] } }, delete: true, max: 2, dryRun: true };

const exampleResult = { matched: 1, changed: 1, dryRun: true, ids: ["7"] };

export const bulkEndpoint: CollectionEndpoint<Bulk> = {
  path: "/{collection}/_bulk",
  method: "POST",
  who: { action: ["update", "delete"] }, // the body says which one. It also needs the action "list"
  isKeyed: true,
  id: ({ names }) => operationIds(names).bulk,
  summary: (about) => `Change or delete many ${asMany(about)}`,
  description:
    "Changes all resources that match a filter, in one commit: all succeed, or nothing changes. With `dryRun`, nothing changes, and the response says what would. With `Prefer: respond-async`, the change becomes a task, which can be larger.",
  parameters: [ref("parameters", "idempotencyKey"), ref("parameters", "preferAsync")],
  body: (about) => ({ required: true, content: json(bodySchema(about), example) }),
  successes: {
    200: {
      description: "How many resources match, and which ones changed.",
      may: ["Idempotent-Replayed"],
      content: json(ref("schemas", "BulkResult"), exampleResult),
    },
    202: acceptedTask,
    204: hiddenResult,
  },
  errors: required,
  parse(service, routed) {
    requireNoParameters(routed.route.query);
    return collectionOf(service, routed);
  },
  handle: (service, asked) => {
    const write = writeOf(service, asked);
    return isForTask(service, asked) ? beginBulk(write) : performBulk(write);
  },
};

/** Either `filter` or `all`, and one of `patch`, `update` and `delete`. */
function bodySchema({ names }: About): Part {
  const properties: Record<(typeof bulkMembers)[number], Part> = {
    filter: {
      description: "Selects the resources, as the filter of a QUERY.",
      type: "object",
      minProperties: 1,
    },
    all: only(true, "Selects all resources of the caller's list, instead of `filter`."),
    patch: ref("schemas", schemaNames(names).patch),
    update: ref("schemas", "Update"),
    delete: only(true),
    max: {
      description: `If more resources match, nothing changes. Without \`Prefer: respond-async\`, it is at most ${maxBulk}.`,
      type: "integer",
      minimum: 1,
      maximum: maxTaskResources,
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
