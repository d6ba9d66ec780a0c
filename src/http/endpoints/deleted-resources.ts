/** The endpoints of deleted resources: list them as they were, and restore many of them. */
import { requireNoParameters } from "../../query/list-parameters.ts";
import { maxTaskResources } from "../../tasks/task.ts";
import { type CollectionEndpoint, hiddenResult, type Success } from "../endpoint/endpoint.ts";
import { parseDeleted, readDeleted } from "../lists/deleted.ts";
import { performList } from "../lists/lists.ts";
import { maxBulk, type restoresMembers } from "../many/bulk-content.ts";
import { performRestores } from "../many/restores.ts";
import { beginRestores } from "../many/tasks/restore-task.ts";
import { isForTask } from "../many/tasks/task-begin.ts";
import { type About, asMany } from "../openapi/about.ts";
import { type Described, json, only, type Part, ref } from "../openapi/described.ts";
import { operationIds, schemaNames } from "../openapi/names.ts";
import { attributeFilters, headerParameters } from "../openapi/parameters.ts";
import type { ResponseHeader } from "../openapi/response-headers.ts";
import type { Bulk, ListRead, Query } from "../operations/operation.ts";
import { collectionOf, writeOf } from "./in-collection.ts";
import { acceptedTask } from "./tasks.ts";

const hasHistory = ({ settings }: Described) => settings.hasFeed;

const listParameters = [
  "limit",
  "cursor",
  "offset",
  "sort",
  "filter",
  "timezone",
  "fields",
  "envelope",
  "count",
  "bom",
  "delimiter",
] as const;

export const deletedEndpoint: CollectionEndpoint<ListRead> = {
  path: "/{collection}/_deleted",
  method: "GET",
  who: { action: ["list"] },
  exists: hasHistory,
  formats: "list",
  id: ({ names }) => operationIds(names).deleted,
  summary: (about) => `List deleted ${asMany(about)}`,
  description:
    "Returns a page of the deleted resources whose last version the history has, the latest deletes first unless you set `sort`. Each is as it was, with the member `_deleted`. Filters and sorts are those of a list, and can name `_deleted.at`.",
  parameters: ({ names }) => [
    attributeFilters(names),
    ...listParameters.map((name) => ref("parameters", name)),
    ...headerParameters("ifNoneMatch", "ifMatch"),
  ],
  successes: (about) => ({ 200: page(about), 304: unmodified() }),
  errors: [412],
  parse: (service, routed) =>
    parseDeleted(service, collectionOf(service, routed), {
      query: routed.route.query,
      request: routed.request,
    }),
  handle: (service, { parsed, request }) => performList(service, parsed, request),
};

export const queryDeletedEndpoint: CollectionEndpoint<Query> = {
  path: "/{collection}/_deleted",
  method: "QUERY",
  who: { action: ["list"] },
  exists: hasHistory,
  formats: "list",
  id: ({ names }) => operationIds(names).queryDeleted,
  summary: (about) => `Query deleted ${asMany(about)}`,
  description:
    "Lists deleted resources as GET does, with the parameters in the body. Use it if a filter is too long for a URL (RFC 10008).",
  parameters: headerParameters("ifNoneMatch", "ifMatch"),
  body: () => ({ required: true, content: json(ref("schemas", "ListQuery"), { limit: 10 }) }),
  successes: (about) => ({ 200: page(about, ["Location"]), 304: unmodified(["Location"]) }),
  errors: [412],
  parse(service, routed) {
    requireNoParameters(routed.route.query);
    return collectionOf(service, routed);
  },
  handle: async (service, { parsed, request }) =>
    performList(service, await readDeleted(service, parsed, request), request),
};

function page({ names, version, path }: About, more: readonly ResponseHeader[] = []): Success {
  const { deleted, deletedPage } = schemaNames(names);
  const schema = {
    anyOf: [{ type: "array", items: ref("schemas", deleted) }, ref("schemas", deletedPage)],
  };
  const lines = version === "3.2" ? { itemSchema: ref("schemas", deleted) } : { schema: { type: "string" } };
  return {
    description: "A page of deleted resources.",
    must: ["Accept-Query", "Page-Limit", "ETag"],
    may: [
      "Link",
      "X-Total-Count",
      "Content-Range",
      ...more,
      ...(path.length > 0 ? (["Holdfast-Hint"] as const) : []),
    ],
    content: { ...json(schema), "application/x-ndjson": lines, "text/csv": { schema: { type: "string" } } },
  };
}

function unmodified(more: readonly ResponseHeader[] = []): Success {
  return { description: "The page has not changed.", must: ["ETag"], may: more };
}

export const restoreDeletedEndpoint: CollectionEndpoint<Bulk> = {
  path: "/{collection}/_deleted/_restore",
  method: "POST",
  who: { action: ["create"] }, // it also needs the actions "list" and "delete"
  exists: hasHistory,
  isKeyed: true,
  id: ({ names }) => operationIds(names).restoreDeleted,
  summary: (about) => `Restore many deleted ${asMany(about)}`,
  description:
    "Restores all deleted resources that match a filter, each to its last version, in one commit: all of them, or nothing changes. With `dryRun`, nothing changes, and the response says what would. With `Prefer: respond-async`, the restore becomes a task, which can be larger.",
  parameters: [ref("parameters", "idempotencyKey"), ref("parameters", "preferAsync")],
  body: () => ({
    required: true,
    content: json(bodySchema, { filter: { id: { in: ["7", "8"] } }, max: 2, dryRun: true }),
  }),
  successes: {
    200: {
      description: "How many deleted resources match, and which ones exist again.",
      may: ["Idempotent-Replayed"],
      content: json(ref("schemas", "BulkResult"), { matched: 1, changed: 1, dryRun: true, ids: ["7"] }),
    },
    202: acceptedTask,
    204: hiddenResult,
  },
  parse(service, routed) {
    requireNoParameters(routed.route.query);
    return collectionOf(service, routed);
  },
  handle: (service, asked) => {
    const write = writeOf(service, asked);
    return isForTask(service, asked) ? beginRestores(write) : performRestores(write);
  },
};

const properties: Record<(typeof restoresMembers)[number], Part> = {
  filter: {
    description: "Selects deleted resources by what they were, and by `_deleted`.",
    type: "object",
    minProperties: 1,
  },
  all: only(true, "Selects all deleted resources of the caller's list, instead of `filter`."),
  max: {
    description: `If more deleted resources match, nothing changes. Without \`Prefer: respond-async\`, it is at most ${maxBulk}.`,
    type: "integer",
    minimum: 1,
    maximum: maxTaskResources,
  },
  dryRun: { type: "boolean", default: false },
};

/** Either `filter` or `all`. */
const bodySchema: Part = {
  type: "object",
  required: ["max"],
  properties,
  additionalProperties: false,
  oneOf: [{ required: ["filter"] }, { required: ["all"] }],
};
