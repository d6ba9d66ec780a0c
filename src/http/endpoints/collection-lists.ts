/**
 * The endpoints that list, query and create the resources of a collection. Nested paths have the same ones: they lead from one
 * resource to those that refer to it.
 */
import { asksForFigures, parseFigures } from "../../query/figures-request.ts";
import {
  embedParameters,
  type ListParameter,
  listParameters,
  requireNoParameters,
} from "../../query/list-parameters.ts";
import { parseList } from "../../query/query-string.ts";
import { isInternal } from "../../store/port/record.ts";
import { inPast, viewsOf } from "../caller/permission.ts";
import type { CollectionEndpoint, NestedEndpoint, Success } from "../endpoint/endpoint.ts";
import { performFigures } from "../lists/figures.ts";
import { performList } from "../lists/lists.ts";
import { readListing } from "../lists/query.ts";
import { type About, asMany, asOne } from "../openapi/about.ts";
import { json, type Part, ref } from "../openapi/described.ts";
import { hasRelations } from "../openapi/embedded-schema.ts";
import { operationIds, schemaNames } from "../openapi/names.ts";
import { attributeFilters, headerParameters } from "../openapi/parameters.ts";
import type { ResponseHeader } from "../openapi/response-headers.ts";
import { belowParent, parentOf } from "../operations/nested.ts";
import type { Create, FiguresRead, ListRead, Query } from "../operations/operation.ts";
import type { Result, Routed } from "../operations/result.ts";
import { type ListType, listTypeFor } from "../protocol/accept.ts";
import type { HttpRequest } from "../protocol/message.ts";
import type { CollectionRoute } from "../route.ts";
import type { Callers, Service } from "../service.ts";
import { create } from "../writes/create.ts";
import { collectionOf, writeOf } from "./in-collection.ts";

/** The collection of the request, and the resource above it if the path is nested. */
function placeOf(service: Callers, routed: Routed<CollectionRoute>): Create {
  const { route, caller } = routed;
  const common = collectionOf(service, routed);
  return route.nested === undefined
    ? common
    : { ...common, parent: parentOf(service, route, route.nested, caller) };
}

const listDescription = [
  "Returns a page of resources, in ascending order of id unless you set `sort`. The header `Link` has the URL of the next page.",
  "You can filter by any attribute: `status=draft`, `year:gte=1950`, `author.name=Ann`.",
  "With `aggregate` or `distinct`, it returns figures instead: `aggregate=count,max(year)&group=author.name`.",
  "\n\nThe parameters of json-server and similar servers also work: `range`, `_start`, `_end`, `_page`, `_limit`, `_per_page`, `_sort`, `_order`, `_embed`, `_expand`.",
].join(" ");

const listEndpoint: CollectionEndpoint<ListRead | FiguresRead> = {
  path: "/{collection}",
  method: "GET",
  who: { action: ["list"] },
  formats: "list",
  id: ({ names }) => operationIds(names).list,
  summary: (about) => `List ${asMany(about)}`,
  description: listDescription,
  parameters: (about) => [...listed(about), ...headerParameters("ifNoneMatch", "ifMatch")],
  successes: (about) => ({ 200: page(about), 304: unmodified() }),
  errors: [412],
  parse: parseListing,
  handle: (service, { parsed, request }) =>
    belowParent(service, parsed.parent, () => readList(service, parsed, request)),
};

function parseListing(service: Service, routed: Routed<CollectionRoute>): ListRead | FiguresRead {
  const { route, caller, request } = routed;
  const { query, nested } = route;
  const place = placeOf(service, routed);
  const common = { ...place, path: nested?.path ?? route.path, query, contentHash: undefined };
  const limit = service.settings.limits.page;
  const scope = { within: place.parent?.filter, viewOf: viewsOf(service, caller) };
  if (asksForFigures(query)) {
    const asked = parseFigures(query, place.collection, limit, scope);
    return { kind: "figures", ...common, asked, type: listTypeFor(request, asked) };
  }
  const asked = parseList(query, place.collection, limit, scope);
  const past = asked.at === undefined ? place : inPast(service, place);
  const own = past === place ? asked : parseList(query, past.collection, limit, scope);
  const { collection, guard } = past;
  return { kind: "list", ...common, collection, guard, asked: own, type: listTypeFor(request, own) };
}

function readList(
  service: Service,
  asked: ListRead | FiguresRead,
  request: HttpRequest,
): Result | Promise<Result> {
  return asked.kind === "figures"
    ? performFigures(service, asked, request)
    : performList(service, asked, request);
}

const createEndpoint: CollectionEndpoint<Create> = {
  path: "/{collection}",
  method: "POST",
  who: { action: ["create"] },
  isKeyed: true,
  id: ({ names }) => operationIds(names).create,
  summary: (about) => `Create ${asOne(about)}`,
  description: "Creates a resource. The service assigns the id, and ignores an `id` in the body.",
  parameters: headerParameters("idempotencyKey", "prefer", "ifMatch", "ifNoneMatch"),
  body: ({ names, examples }) => ({
    required: true,
    content: json(ref("schemas", schemaNames(names).input), examples?.input),
  }),
  successes: (about) => ({ 201: created(about) }),
  errors: [412],
  parse(service, routed) {
    requireNoParameters(routed.route.query);
    return placeOf(service, routed);
  },
  handle: (service, asked) =>
    belowParent(service, asked.parsed.parent, () => create(writeOf(service, asked))),
};

const queryEndpoint: CollectionEndpoint<Query> = {
  path: "/{collection}",
  method: "QUERY",
  who: { action: ["list"] },
  formats: "list",
  id: ({ names }) => operationIds(names).query,
  summary: (about) => `Query ${asMany(about)}`,
  description:
    "Lists resources as GET does, with the parameters in the body. Use it if a filter is too long for a URL (RFC 10008).",
  parameters: headerParameters("ifNoneMatch", "ifMatch"),
  body: () => ({
    required: true,
    content: json(ref("schemas", "ListQuery"), { sort: ["-id"], limit: 10 }),
  }),
  successes: (about) => ({ 200: page(about, ["Location"]), 304: unmodified(["Location"]) }),
  errors: [412],
  parse(service, routed) {
    const { query, path, nested } = routed.route;
    requireNoParameters(query);
    return { ...placeOf(service, routed), path: nested?.path ?? path };
  },
  handle: (service, { parsed, request }) =>
    belowParent(service, parsed.parent, async () =>
      readList(service, await readListing(service, parsed, request), request),
    ),
};

/** The endpoints of a collection, in the order of `Allow`. A batch has no nested paths. */
export const listEndpoints: readonly CollectionEndpoint[] = [
  listEndpoint,
  { ...createEndpoint, isInBatch: true },
  queryEndpoint,
];

const nestedPath = "/{collection}/{id}/{relation}";

/** The endpoints of nested paths. They also need the right to read the resource above. */
export const nestedEndpoints: readonly NestedEndpoint[] = [
  {
    ...listEndpoint,
    path: nestedPath,
    id: ({ ids }) => ids.list,
    summary: (nested) => `List the ${asMany(nested)} of ${asOne(nested.parent)}`,
  },
  {
    ...createEndpoint,
    path: nestedPath,
    id: ({ ids }) => ids.create,
    summary: (nested) => `Create ${asOne(nested)} of ${asOne(nested.parent)}`,
    description: ({ relation }) =>
      `Creates a resource that refers to this one. The service sets \`${relation.path.join(".")}\`.`,
  },
  {
    ...queryEndpoint,
    path: nestedPath,
    id: ({ ids }) => ids.query,
    summary: (nested) => `Query the ${asMany(nested)} of ${asOne(nested.parent)}`,
  },
];

function listed({ names, collection }: About): Part[] {
  const known = listParameters.filter((name) => !isEmbed(name) || hasRelations(collection));
  return [attributeFilters(names), ...known.map((name) => ref("parameters", name))];
}

function isEmbed(name: ListParameter): boolean {
  return (embedParameters as readonly ListParameter[]).includes(name);
}

const ofPages: readonly ResponseHeader[] = ["Link", "X-Total-Count", "Content-Range"];

function page(about: About, more: readonly ResponseHeader[] = []): Success {
  const { names, version, examples, collection, path } = about;
  const called = schemaNames(names);
  const list = (name: string) => ({ type: "array", items: ref("schemas", name) });
  const schema = {
    anyOf: [
      { ...list(called.resource), description: "The resources." },
      { ...list(called.part), description: "The resources with only the requested `fields`." },
      ...(hasRelations(collection)
        ? [{ ...list(called.embedded), description: "The resources with related ones." }]
        : []),
      ref("schemas", called.page),
      { ...list("Figures"), description: "The figures of the list, with `aggregate` or `distinct`." },
    ],
  };
  const line = hasRelations(collection)
    ? { anyOf: [ref("schemas", called.part), ref("schemas", called.embedded)] }
    : ref("schemas", called.part);
  const lines = version === "3.2" ? { itemSchema: line } : { schema: { type: "string" } };
  const others: Record<Exclude<ListType, "application/json">, Part> = {
    "application/x-ndjson": lines,
    "text/csv": { schema: { type: "string" } },
  };
  return {
    description: "A page of the list.",
    must: ["Accept-Query", "Page-Limit"],
    may: ["ETag", ...ofPages, ...more, ...(path.length > 0 ? (["Holdfast-Hint"] as const) : [])],
    content: { ...json(schema, examples && [examples.resource]), ...others },
  };
}

function unmodified(more: readonly ResponseHeader[] = []): Success {
  return { description: "The list has not changed.", must: ["ETag"], may: more };
}

/**
 * The response to a create, with links to the operations on the new resource. To a PUT, it has an ETag only if the service stores
 * exactly what was sent.
 */
export function created(about: About, { isPut = false } = {}): Success {
  const ids = operationIds(about.names);
  const ofHistory = isInternal(about.collection.name) ? [] : [ids.changes];
  const targets = [ids.read, ids.replace, ids.patch, ids.delete, ...ofHistory];
  return {
    description: "The resource was created. With `Prefer: return=minimal`, the response has no body.",
    must: isPut ? ["Location"] : ["Location", "ETag"],
    may: [
      ...(isPut ? (["ETag"] as const) : []),
      "Content-Location",
      "Last-Modified",
      "Preference-Applied",
      "Idempotent-Replayed",
    ],
    content: json(resourceOrPart(about), about.examples?.resource),
    links: Object.fromEntries(targets.map((operationId) => [operationId, linkTo(operationId, about)])),
  };
}

/** The body of the response to a write. If some callers cannot see all attributes, it can be a part of the resource. */
export function resourceOrPart({ collection, names }: About): Part {
  const called = schemaNames(names);
  const hides = collection.attributeRules.some(({ roles }) => roles !== undefined);
  return ref("schemas", hides ? called.part : called.resource);
}

function linkTo(operationId: string, { path }: About): Part {
  const collection = path.length > 0 ? { collection: "$request.path.collection" } : {};
  return {
    operationId,
    description: "The created resource.",
    parameters: { ...collection, id: "$response.body#/id" },
  };
}
