/** The endpoints that write one resource of a collection by a unique key in the query: `PUT /users?email=ada@x.org`. */
import { attributeInfo } from "../../collection/attributes.ts";
import { formatPath, type Path } from "../../collection/paths.ts";
import { pathsOf } from "../../collection/unique.ts";
import { keysOf, parseUniqueKey } from "../../query/unique-keys.ts";
import type { CollectionEndpoint } from "../endpoint/endpoint.ts";
import { type About, asOne } from "../openapi/about.ts";
import { json, type Part, ref } from "../openapi/described.ts";
import { operationIds, schemaNames } from "../openapi/names.ts";
import { headerParameters } from "../openapi/parameters.ts";
import type { WriteByKey } from "../operations/operation.ts";
import type { Routed } from "../operations/result.ts";
import { patchFormat } from "../protocol/content-types.ts";
import type { CollectionRoute } from "../route.ts";
import type { Callers } from "../service.ts";
import { writeByKey } from "../writes/write-by-key.ts";
import { created } from "./collection-lists.ts";
import { collectionOf, writeOf } from "./in-collection.ts";
import { isReferenced, minimal, must, patches, required, tagsOfPut, updated } from "./one-resource.ts";

const path = "/{collection}";

function targetOf(service: Callers, routed: Routed<CollectionRoute>) {
  const common = collectionOf(service, routed);
  // The write finds the id.
  return { ...common, id: "", key: parseUniqueKey(routed.route.query, common.collection) };
}

/** Without a query, and in a collection without unique keys, the path does not support these methods. */
const withoutKey = 405;

const replaceEndpoint: CollectionEndpoint<WriteByKey> = {
  path,
  method: "PUT",
  who: { action: ["create", "update"] },
  isKeyed: true,
  isInBatch: true,
  id: ({ names }) => operationIds(names).replaceByKey,
  summary: (about) => `Replace or create ${asOne(about)} by a unique key`,
  description:
    "The query names the values of one unique attribute, or of one combination, and the body has the same values. If a resource has them, this replaces the whole resource. If none has them, this creates one, as a POST would. The body needs no `id`.",
  parameters: (about) => [
    ...keyParameters(about),
    ...headerParameters("ifMatch", "ifUnmodifiedSince", "ifNoneMatch", "idempotencyKey", "prefer"),
  ],
  body: ({ names, examples }) => ({
    required: true,
    content: json(ref("schemas", schemaNames(names).input), examples?.input),
  }),
  successes: (about) => ({
    200: updated(about, tagsOfPut(about)),
    201: created(about, { isPut: true }),
    204: minimal(tagsOfPut(about)),
  }),
  errors: (about) => [withoutKey, 412, ...required(about)],
  parse: (service, routed) => ({ kind: "replace", ...targetOf(service, routed) }),
  handle: (service, asked) => writeByKey(writeOf(service, asked)),
};

const patchEndpoint: CollectionEndpoint<WriteByKey> = {
  path,
  method: "PATCH",
  who: { action: ["update"] },
  isKeyed: true,
  isInBatch: true,
  id: ({ names }) => operationIds(names).patchByKey,
  summary: (about) => `Update ${asOne(about)} by a unique key`,
  description:
    "Changes some attributes of the resource that has the values in the query. The patch can also change these values.",
  parameters: (about) => [
    ...keyParameters(about),
    ...headerParameters("ifMatch", "ifUnmodifiedSince", "ifNoneMatch", "idempotencyKey", "prefer"),
  ],
  body: (about) => ({ required: true, content: patches(about) }),
  successes: (about) => ({ 200: updated(about, must(["ETag"])), 204: minimal(must(["ETag"])) }),
  errors: (about) => [404, withoutKey, 412, ...required(about)],
  parse: (service, routed) => ({
    kind: "patch",
    ...targetOf(service, routed),
    format: patchFormat(routed.request),
  }),
  handle: (service, asked) => writeByKey(writeOf(service, asked)),
};

const deleteEndpoint: CollectionEndpoint<WriteByKey> = {
  path,
  method: "DELETE",
  who: { action: ["delete"] },
  formats: "any",
  isInBatch: true,
  id: ({ names }) => operationIds(names).deleteByKey,
  summary: (about) => `Delete ${asOne(about)} by a unique key`,
  description: "Deletes the resource that has the values in the query.",
  parameters: (about) => [
    ...keyParameters(about),
    ...headerParameters("ifMatch", "ifUnmodifiedSince", "ifNoneMatch"),
  ],
  successes: { 205: { description: "The resource is deleted. The response has no body." } },
  errors: (about) => [404, withoutKey, ...(isReferenced(about) ? [409] : []), 412, ...required(about)],
  parse: (service, routed) => ({ kind: "delete", ...targetOf(service, routed) }),
  handle: (service, asked) => writeByKey(writeOf(service, asked)),
};

/** The endpoints, in the order of `Allow`. */
export const byKeyEndpoints = [replaceEndpoint, patchEndpoint, deleteEndpoint] as const;

/** A parameter for each attribute of a unique key. A request has those of one key. */
function keyParameters({ collection }: About): Part[] {
  const keys = keysOf(collection).map((unique) => pathsOf(unique).map(formatPath));
  const paths = new Map<string, Path>(
    keysOf(collection).flatMap((unique) => pathsOf(unique).map((each) => [formatPath(each), each] as const)),
  );
  return [...paths].map(([name, each]) => {
    const own = keys
      .filter((key) => key.includes(name))
      .map((key) => key.map((one) => `\`${one}\``).join(" and "));
    const { types } = attributeInfo(collection, each);
    const type = ["string", "number", "boolean"].filter((one) => types?.has(one as "string") === true);
    return {
      name,
      in: "query",
      description: `The value of a unique key: ${own.join(", or ")}.`,
      required: keys.length === 1,
      schema: { type },
    };
  });
}
