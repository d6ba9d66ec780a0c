/** The operations of a collection as a whole. */

import { listParameters } from "../../query/list-parameters.ts";
import { isInternal } from "../../store/port/record.ts";
import type { ListType } from "../protocol/accept.ts";
import { type About, asMany, asOne } from "./about.ts";
import { json, type Part, ref } from "./described.ts";
import { hasRelations } from "./embedded-schema.ts";
import { type Names, operationIds, schemaNames } from "./names.ts";
import { type MethodsOf, type OperationPlan, success } from "./operations.ts";
import type { ResponseHeader } from "./response-headers.ts";

/** The operations, by method. */
export const collectionOperations: Record<MethodsOf<"collection">, (about: About) => OperationPlan> = {
  GET: (about) => ({
    ...inCollection(about),
    id: operationIds(about.names).list,
    summary: `List ${asMany(about)}`,
    description: listDescription,
    parameters: [
      ...about.path,
      ...listed(about),
      ref("parameters", "ifNoneMatch"),
      ref("parameters", "ifMatch"),
    ],
    successes: { 200: page(about, []), 304: unmodified(about, []) },
    problems: [400, ...unknown(about), 406, 412],
  }),
  QUERY: (about) => ({
    ...inCollection(about),
    id: operationIds(about.names).query,
    summary: `Query ${asMany(about)}`,
    description:
      "Lists resources as GET does, with the parameters in the body. Use it if a filter is too long for a URL (RFC 10008).",
    parameters: [...about.path, ref("parameters", "ifNoneMatch"), ref("parameters", "ifMatch")],
    requestBody: { required: true, content: json(ref("schemas", "ListQuery"), { sort: ["-id"], limit: 10 }) },
    successes: { 200: page(about, ["Location"]), 304: unmodified(about, ["Location"]) },
    problems: [400, ...unknown(about), 406, 412, 413, 415],
  }),
  POST: (about) => ({
    ...inCollection(about),
    id: operationIds(about.names).create,
    summary: `Create ${asOne(about)}`,
    description: "Creates a resource. The service assigns the id, and ignores an `id` in the body.",
    credential: about.credentialFor("collection", "POST"),
    parameters: [
      ...about.path,
      ref("parameters", "idempotencyKey"),
      ref("parameters", "prefer"),
      ref("parameters", "ifMatch"),
      ref("parameters", "ifNoneMatch"),
    ],
    requestBody: {
      required: true,
      content: json(ref("schemas", schemaNames(about.names).input), about.examples?.input),
    },
    successes: { 201: created(about) },
    problems: [400, ...unknown(about), 406, 409, 412, 413, 415, 422],
  }),
};

/** 404 if the collection is a path parameter, because some names are not valid, or if only administrators see it. */
function unknown({ path, collection, described }: About): number[] {
  const isHidden = isInternal(collection.name) && described.access !== undefined;
  return path.length > 0 || isHidden ? [404] : [];
}

function inCollection(about: About): Pick<OperationPlan, "tag" | "credential"> {
  return { tag: about.tag, credential: about.credentialFor("collection", "GET") };
}

const listDescription = [
  "Returns a page of resources, in ascending order of id unless you set `sort`. The header `Link` has the URL of the next page.",
  "You can filter by any attribute: `status=draft`, `year:gte=1950`, `author.name=Ann`.",
  "With `aggregate` or `distinct`, it returns figures instead: `aggregate=count,max(year)&group=author.name`.",
  "\n\nThe parameters of json-server and similar servers also work for paging and sorting: `range`, `_start`, `_end`, `_page`, `_limit`, `_per_page`, `_sort`, `_order`.",
].join(" ");

function listed({ names, collection }: About): Part[] {
  const known = listParameters.filter((name) => name !== "embed" || hasRelations(collection));
  return [attributeFilters(names), ...known.map((name) => ref("parameters", name))];
}

/** The parameter for filters by attribute. */
export function attributeFilters(names: Names): Part {
  return {
    name: "attributes",
    in: "query",
    description: "Filters by attribute. Each filter is a separate parameter.",
    style: "form",
    explode: true,
    schema: ref("schemas", schemaNames(names).filter),
    example: {}, // otherwise, pages for trying requests fill in every filter
  };
}

const ofPages: readonly ResponseHeader[] = ["Link", "X-Total-Count", "Content-Range"];

function page(
  { described, names, version, examples, collection, path }: About,
  more: readonly ResponseHeader[],
): Part {
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
  return success(described, "A page of the list.", {
    must: ["Accept-Query", "Page-Limit"],
    may: ["ETag", ...ofPages, ...more, ...(path.length > 0 ? (["Holdfast-Hint"] as const) : [])],
    content: { ...json(schema, examples && [examples.resource]), ...others },
  });
}

function unmodified({ described }: About, more: readonly ResponseHeader[]): Part {
  return success(described, "The list has not changed.", { must: ["ETag"], may: more });
}

/** The response to a create, with links to the operations on the new resource. */
export function created(about: About): Part {
  const { described, names } = about;
  const made = success(
    described,
    "The resource was created. With `Prefer: return=minimal`, the response has no body.",
    {
      must: ["Location", "ETag"],
      may: ["Content-Location", "Last-Modified", "Preference-Applied", "Idempotent-Replayed"],
      content: json(resourceOrPart(about), about.examples?.resource),
    },
  );
  const ids = operationIds(names);
  const ofHistory = isInternal(about.collection.name) ? [] : [ids.changes];
  const targets = [ids.read, ids.replace, ids.patch, ids.delete, ...ofHistory];
  return {
    ...made,
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
