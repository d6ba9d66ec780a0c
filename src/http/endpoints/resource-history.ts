/** The endpoints of the history of a resource: lists its changes, and restores a version. */
import { requireNoParameters } from "../../query/list-parameters.ts";
import type { CollectionEndpoint } from "../endpoint/endpoint.ts";
import { asOne } from "../openapi/about.ts";
import { json, ref } from "../openapi/described.ts";
import { exampleChanges } from "../openapi/examples.ts";
import { operationIds } from "../openapi/names.ts";
import { headerParameters } from "../openapi/parameters.ts";
import { parseChanges } from "../operations/history-parameters.ts";
import type { ChangesRead, Restore } from "../operations/operation.ts";
import { readChanges } from "../reads/history.ts";
import { restore } from "../writes/restore.ts";
import { created } from "./collection-lists.ts";
import { collectionOf, writeOf } from "./in-collection.ts";
import { minimal, must, required, updated } from "./one-resource.ts";

export const changesEndpoint: CollectionEndpoint<ChangesRead> = {
  path: "/{collection}/{id}/_changes",
  method: "GET",
  who: { action: ["read"] },
  id: ({ names }) => operationIds(names).changes,
  summary: (about) => `List the changes of ${asOne(about)}`,
  description:
    "Returns the stored changes of a resource, newest first. The changes of a deleted resource also remain for a time.",
  parameters: [ref("parameters", "limit"), ref("parameters", "cursor")],
  successes: {
    200: {
      description: "A page of changes.",
      must: ["Link", "Page-Limit"],
      content: json({ type: "array", items: ref("schemas", "Change") }, exampleChanges),
    },
  },
  parse(service, routed) {
    const { id, query, collection } = routed.route;
    const asked = parseChanges(query, { collection: collection.name, id }, service.settings.limits.page);
    return { ...collectionOf(service, routed), id, asked };
  },
  handle: (service, { parsed, request }) => readChanges(service, parsed, request),
};

export const restoreEndpoint: CollectionEndpoint<Restore> = {
  path: "/{collection}/{id}/_restore",
  method: "POST",
  who: { action: ["update", "create"] }, // a restore creates a deleted resource again
  isKeyed: true,
  id: ({ names }) => operationIds(names).restore,
  summary: (about) => `Restore ${asOne(about)}`,
  description: ({ collection: { expires } }) =>
    `Restores an earlier version, as a new version. You can also restore a deleted resource.${expires === undefined ? "" : " A restore sets no new date: a version that has expired is refused."}`,
  parameters: headerParameters("ifMatch", "ifUnmodifiedSince", "ifNoneMatch", "idempotencyKey", "prefer"),
  body: () => ({ required: true, content: json(ref("schemas", "Restoration"), { version: 3 }) }),
  successes: (about) => ({
    200: updated(about, must(["ETag"])),
    201: { ...created(about), description: "The resource was deleted before, and exists again." },
    204: minimal(must(["ETag"])),
  }),
  errors: (about) => [412, ...required(about)],
  parse(service, routed) {
    requireNoParameters(routed.route.query);
    return { ...collectionOf(service, routed), id: routed.route.id };
  },
  handle: (service, asked) => restore(writeOf(service, asked)),
};
