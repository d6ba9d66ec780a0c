/** The endpoint of the collections that a caller can list, each as this caller sees it. */
import { createHash } from "node:crypto";
import { actions, scopeOf } from "../../access/access-declaration.ts";
import { type Collection, openCollection } from "../../collection/collection.ts";
import { idKinds } from "../../collection/ids.ts";
import { formatKey, type Index } from "../../collection/indexes.ts";
import { formatPath, type Path } from "../../collection/paths.ts";
import { pathsOf } from "../../collection/unique.ts";
import { requireNoParameters } from "../../query/list-parameters.ts";
import { usableNames } from "../../query/related-resources.ts";
import type { Caller } from "../caller/admit.ts";
import { administers, type Guard, guardOf, viewFor, viewsOf } from "../caller/permission.ts";
import { collectionsDocument, listedNames } from "../documents/collections.ts";
import { documentResult, isRootPage, rootPage } from "../documents/root-page.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import {
  closedObject,
  count,
  json,
  listOf,
  next,
  operation,
  ref,
  text,
  texts,
  truth,
} from "../openapi/described.ts";
import { inputSchemaFor } from "../openapi/resource-schemas.ts";
import type { Asked, Result } from "../operations/result.ts";
import { requireJsonAcceptable } from "../protocol/accept.ts";
import { isUnmodified } from "../protocol/conditional.ts";
import { jsonType, revalidate } from "../protocol/message.ts";
import type { Callers, Data, Service, Surface } from "../service.ts";

const declaredRule = closedObject({
  at: { description: "The place of the rule in the configuration.", type: ["string", "null"] },
  rule: { description: "The rule as the configuration declares it." },
});

const reference = closedObject({
  attribute: text,
  collection: text,
  onDelete: { enum: ["restrict", "cascade", "clear"] },
});

const relation = closedObject({
  name: text,
  kind: { enum: ["reference", "inverse"] },
  collection: text,
  attribute: text,
  list: { description: "Whether a resource can have several related resources.", ...truth },
});

const collectionDetails = closedObject(
  {
    name: text,
    href: { description: "The path of the collection.", type: "string", format: "uri-reference" },
    declared: { description: "Whether the configuration declares the collection.", ...truth },
    id: { enum: Object.keys(idKinds) },
    schema: {
      description:
        "The JSON Schema of the attributes that clients send. `null` without a schema, or if hidden attributes cannot be left out of it.",
      type: ["object", "boolean", "null"],
    },
    defaults: {
      description:
        "The defaults of attributes as the configuration has them. Leaves out those of hidden attributes.",
      type: "object",
      additionalProperties: true,
    },
    timestamps: truth,
    expires: {
      description:
        "The attribute with the time from which a resource does not exist any more. Left out: none.",
      ...text,
    },
    requirePreconditions: truth,
    indexes: listOf(
      texts,
      "The attributes of each index. `-` means descending, `:natural` natural order, and `:nullsfirst` or `:nullslast` where nulls are.",
    ),
    unique: listOf(
      closedObject(
        {
          attribute: text,
          attributes: { description: "The attributes of a combination, instead of `attribute`.", ...texts },
          ignoreCase: truth,
          ignore: {
            description: "What differs between equal strings. Left out: nothing, or what `ignoreCase` says.",
            enum: ["case", "accents"],
          },
          where: {
            description: "Only resources that match this filter can conflict. Left out: all resources.",
            type: "object",
            additionalProperties: true,
          },
        },
        { optional: ["attribute", "attributes", "ignore", "where"] },
      ),
    ),
    search: { ...texts, description: "The attributes that `q` searches." },
    references: listOf(reference),
    relations: listOf(relation),
    operations: listOf(operation, "What the caller can do with at least some resources."),
    count: { ...count, description: "The number of resources, if the caller can list all of them." },
    computing: closedObject(
      {
        attributes: {
          ...texts,
          description: "The attributes that some resources lack, or have with an earlier value.",
        },
        left: {
          ...count,
          description:
            "About how many resources the service still has to look at, if the caller can list all of them.",
        },
      },
      {
        optional: ["left"],
        description: "The computed attributes that are not complete. Left out if all are.",
      },
    ),
    bytes: {
      ...count,
      description:
        "About how many bytes of the database the collection takes, with its history, its indexes and its search words. Only for administrators, and only if the service can find it out quickly.",
    },
    rules: {
      description: "The access rules, for administrators. `null` without `auth`.",
      type: ["object", "null"],
      properties: Object.fromEntries(actions.map((action) => [action, listOf(declaredRule)])),
    },
  },
  { optional: ["expires", "count", "computing", "bytes", "rules"] },
);

/** The endpoint. */
export const collectionDetailsEndpoint: Endpoint = {
  path: "/_collections",
  method: "GET",
  exists: ({ isBatch }) => isBatch !== true,
  who: "everyone",
  isNeverForbidden: true,
  page: { usual: 100, most: 500, hasAfter: true },
  parameters: [ref("parameters", "ifNoneMatch"), ref("parameters", "ifMatch")],
  id: "getCollectionDetails",
  summary: "Describe the collections",
  description: ({ access }) =>
    `Returns the schema and the options of each collection, sorted by name.${access === undefined ? "" : " It leaves out what is hidden from the caller."}`,
  successes: {
    200: {
      description: "The collections.",
      must: ["ETag"],
      content: json(closedObject({ collections: listOf(collectionDetails), next }, { optional: ["next"] })),
    },
    304: { description: "The collections have not changed.", must: ["ETag"] },
  },
  errors: [412],
  handle: describeCollections,
};

/** The endpoint at the prefix. If the prefix is the root, browsers get a page there. */
export const collectionsEndpoint: Endpoint<{ isPage: boolean }> = {
  path: "/",
  method: "GET",
  who: "everyone",
  isNeverForbidden: true,
  formats: "any",
  id: "getCollections",
  summary: "List the collections",
  description: ({ access }) =>
    `Returns the name and the path of each collection, sorted by name.${access === undefined ? "" : " The list has only the collections that the caller can list."}`,
  successes: ({ settings }) => ({
    200: {
      description: "The collections.",
      may: settings.docs ? ["Link"] : [],
      content: {
        ...json(ref("schemas", "CollectionList")),
        ...(settings.prefix === "" ? { "text/html": { schema: text } } : {}),
      },
    },
  }),
  errors: [406],
  parse(service, { route: { query }, request }) {
    const isPage = isRootPage(service, request);
    if (!isPage) requireJsonAcceptable(request);
    requireNoParameters(query);
    return { isPage };
  },
  handle: (service, { parsed: { isPage }, caller, request }) =>
    documentResult(isPage ? rootPage(service, caller, request) : collectionsDocument(service, caller)),
};

/** A page of collections, sorted by name. Throws PRECONDITION_FAILED, and UNAVAILABLE as the store does. */
async function describeCollections(
  service: Service,
  { page: { limit, after }, caller, request }: Asked,
): Promise<Result> {
  const names = await listedNames(service, caller);
  const start = after === undefined ? 0 : names.filter((name) => name <= after).length;
  const page = names.slice(start, start + limit);
  const sizes = administers(service, caller) ? await service.store.sizes(page) : new Map();
  const collections = await Promise.all(
    page.map((name) => describe(service, caller, { name, bytes: sizes.get(name) })),
  );
  const hasMore = start + limit < names.length;
  const more = hasMore ? { next: nextOf(service, { limit, after: page.at(-1) as string }) } : {};
  const body = JSON.stringify({ collections, ...more });
  const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
  const validators = { etag, lastModifiedMs: undefined };
  if (isUnmodified(request.headers, validators, service.now()))
    return { kind: "unmodified", validators, location: undefined };
  const headers = { etag, "cache-control": revalidate };
  return { kind: "document", document: { status: 200, type: jsonType, body, headers } };
}

function nextOf({ settings }: Surface, { limit, after }: { limit: number; after: string }): string {
  return `${settings.prefix}/_collections?limit=${limit}&after=${encodeURIComponent(after)}`;
}

async function describe(
  service: Data & Callers & Surface,
  caller: Caller,
  { name, bytes }: { name: string; bytes: number | undefined },
): Promise<object> {
  const declared = service.collections().get(name);
  const collection = viewFor(service, declared ?? openCollection(name), caller);
  const guard = guardOf(service, collection, caller);
  const isCounted = guard.listed === "everything";
  return {
    name,
    href: `${service.settings.prefix}/${name}`,
    declared: declared !== undefined,
    ...declarationOf(service, caller, collection),
    operations: operationsOf(service, guard),
    ...(isCounted && { count: await service.store.count(name) }),
    ...(await computingIn(service, collection, isCounted)),
    ...(bytes !== undefined && { bytes }),
    ...(administers(service, caller) && { rules: rulesOf(service, name) }),
  };
}

/** What the service still computes, without attributes that do not exist for the caller. */
async function computingIn(
  { unfinished }: Data,
  { name, visibility }: Collection,
  isCounted: boolean,
): Promise<object> {
  const all = await unfinished?.(name);
  const attributes = all?.attributes.filter((each) => visibility?.restricted.has(each) !== true) ?? [];
  if (all === undefined || attributes.length === 0) return {};
  return { computing: { attributes, ...(isCounted && { left: all.left }) } };
}

/** The actions that the caller can do with at least one resource, or could do if one existed. */
function operationsOf({ readOnly }: Data, guard: Guard): readonly string[] {
  return actions.filter((action) => guard.can(action) && !(readOnly && scopeOf(action) === "write"));
}

/** The declaration without attributes that do not exist for the caller. */
function declarationOf(service: Data & Callers, caller: Caller, collection: Collection): object {
  const restricted = collection.visibility?.restricted ?? new Set<string>();
  const isSeen = ([name]: Path) => !restricted.has(name);
  const hidden = [...restricted];
  const { relations, references, indexes, unique, search, expires } = collection;
  const defaults = collection.defaults.filter(({ name }) => collection.visibility?.hidden.has(name) !== true);
  return {
    id: collection.idKind,
    schema: inputSchemaFor(collection, { pointer: "#", hidden }) ?? null,
    defaults: Object.fromEntries(defaults.map(({ name, declared }) => [name, declared])),
    timestamps: collection.timestamps,
    ...(expires !== undefined && isSeen(expires.path) && { expires: formatPath(expires.path) }),
    requirePreconditions: collection.requirePreconditions,
    indexes: indexes.filter((index) => index.every(({ path }) => isSeen(path))).map(keysOf),
    unique: unique
      .filter((each) => [...pathsOf(each), ...(each.where?.paths ?? [])].every(isSeen))
      .map((each) => ({
        ...(each.others === undefined
          ? { attribute: formatPath(each.path) }
          : { attributes: pathsOf(each).map(formatPath) }),
        ignoreCase: each.ignoreCase,
        ...(each.ignore && { ignore: each.ignore }),
        ...(each.where && { where: each.where.declared }),
      })),
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
  return index.map(formatKey);
}

/** The rules of each action as the configuration declares them; `null` without `auth`. */
function rulesOf({ access }: Callers, name: string): object | null {
  if (access === undefined) return null;
  const rules = access.rulesOf(name);
  return Object.fromEntries(
    actions.map((action) => [
      action,
      (rules[action].alternatives ?? []).map(({ at, declared }) => ({ at: at ?? null, rule: declared })),
    ]),
  );
}
