/** The collections that a caller can list, each as this caller sees it. */
import { createHash } from "node:crypto";
import { actions, scopeOf } from "../../access/actions.ts";
import { type Collection, openCollection } from "../../collection/collection.ts";
import type { Index } from "../../collection/indexes.ts";
import { formatPath, type Path } from "../../collection/paths.ts";
import { usableNames } from "../../query/relations.ts";
import { administers, type Guard, guardOf, viewFor, viewsOf } from "../caller/permission.ts";
import { listedNames } from "../documents/collections.ts";
import { inputSchemaFor } from "../openapi/resource-schemas.ts";
import type { OperationOf } from "../operations/operation.ts";
import type { Result } from "../operations/result.ts";
import { isUnmodified } from "../protocol/conditional.ts";
import { type HttpRequest, jsonType, revalidate } from "../protocol/message.ts";
import type { Service } from "../service.ts";

type Details = OperationOf<"collectionDetails">;

/** A page of collections, sorted by name. Throws PRECONDITION_FAILED, and UNAVAILABLE as the store does. */
export async function describeCollections(
  service: Service,
  operation: Details,
  request: HttpRequest,
): Promise<Result> {
  const { limit, after } = operation.asked;
  const names = await listedNames(service, operation.caller);
  const start = after === undefined ? 0 : names.filter((name) => name <= after).length;
  const page = names.slice(start, start + limit);
  const sizes = administers(service, operation.caller) ? await service.store.sizes(page) : new Map();
  const collections = await Promise.all(
    page.map((name) => describe(service, operation, { name, bytes: sizes.get(name) })),
  );
  const hasMore = start + limit < names.length;
  const next = hasMore ? { next: nextOf(service, { limit, after: page.at(-1) as string }) } : {};
  const body = JSON.stringify({ collections, ...next });
  const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
  const validators = { etag, lastModifiedMs: undefined };
  if (isUnmodified(request.headers, validators, service.now()))
    return { kind: "unmodified", validators, location: undefined };
  const headers = { etag, "cache-control": revalidate };
  return { kind: "document", document: { status: 200, type: jsonType, body, headers } };
}

function nextOf({ settings }: Service, { limit, after }: { limit: number; after: string }): string {
  return `${settings.prefix}/_collections?limit=${limit}&after=${encodeURIComponent(after)}`;
}

async function describe(
  service: Service,
  { caller }: Details,
  { name, bytes }: { name: string; bytes: number | undefined },
): Promise<object> {
  const declared = service.collections.get(name);
  const collection = viewFor(service, declared ?? openCollection(name), caller);
  const guard = guardOf(service, collection, caller);
  const isCounted = guard.listed === "everything";
  return {
    name,
    href: `${service.settings.prefix}/${name}`,
    declared: declared !== undefined,
    ...declarationOf(service, { caller }, collection),
    operations: operationsOf(service, guard),
    ...(isCounted && { count: await service.store.count(name) }),
    ...(bytes !== undefined && { bytes }),
    ...(administers(service, caller) && { rules: rulesOf(service, name) }),
  };
}

/** The actions that the caller can do with at least one resource, or could do if one existed. */
function operationsOf({ readOnly }: Service, guard: Guard): readonly string[] {
  return actions.filter((action) => guard.can(action) && !(readOnly && scopeOf(action) === "write"));
}

/** The declaration without attributes that do not exist for the caller. */
function declarationOf(
  service: Service,
  { caller }: Pick<Details, "caller">,
  collection: Collection,
): object {
  const restricted = collection.visibility?.restricted ?? new Set<string>();
  const isSeen = ([name]: Path) => !restricted.has(name);
  const hidden = [...restricted];
  const { relations, references, indexes, unique, search } = collection;
  const defaults = collection.defaults.filter(({ name }) => collection.visibility?.hidden.has(name) !== true);
  return {
    id: collection.idKind,
    schema: inputSchemaFor(collection, { pointer: "#", hidden }) ?? null,
    defaults: Object.fromEntries(defaults.map(({ name, declared }) => [name, declared])),
    timestamps: collection.timestamps,
    requirePreconditions: collection.requirePreconditions,
    indexes: indexes.filter((index) => index.every(({ path }) => isSeen(path))).map(keysOf),
    unique: unique
      .filter(({ path }) => isSeen(path))
      .map(({ path, ignoreCase }) => ({ attribute: formatPath(path), ignoreCase })),
    search: search.filter(isSeen).map(formatPath),
    references: references
      .filter(({ path }) => isSeen(path))
      .map(({ path, collection: target, onDelete }) => ({
        attribute: formatPath(path),
        collection: target,
        onDelete,
      })),
    relations: usableNames(collection, viewsOf(service, caller)).map((name) => {
      const relation = relations.get(name);
      if (relation === undefined) throw new Error(`The relation ${name} must exist.`);
      const { kind, collection: target, path, isList } = relation;
      return { name, kind, collection: target, attribute: formatPath(path), list: isList };
    }),
  };
}

function keysOf(index: Index): readonly string[] {
  return index.map(({ path, descending }) => `${descending ? "-" : ""}${formatPath(path)}`);
}

/** The rules of each action as the configuration declares them; `null` without `auth`. */
function rulesOf({ access }: Service, name: string): object | null {
  if (access === undefined) return null;
  const rules = access.rulesOf(name);
  return Object.fromEntries(
    actions.map((action) => [
      action,
      (rules[action].alternatives ?? []).map(({ at, declared }) => ({ at: at ?? null, rule: declared })),
    ]),
  );
}
