/**
 * The OpenAPI document of a service, made from the tables that it routes, reads and refuses by: it cannot tell of what is
 * not there. HEAD and OPTIONS go without saying; the later version of OpenAPI has QUERY too.
 */
import { about as program } from "../../about.ts";
import { type Collection, openCollection } from "../../collection/collection.ts";
import { problems } from "../../errors.ts";
import { methodsOf } from "../route.ts";
import { nextTurn } from "../wire/turns.ts";
import { type About, callersOf } from "./about.ts";
import { collectionOperations } from "./collection-operations.ts";
import { commonSchemas } from "./common-schemas.ts";
import { type Described, type OpenApiVersion, openApiVersions, type Part, ref } from "./described.ts";
import { folded, type Names, namesFor } from "./names.ts";
import { type OperationPlan, operationPart } from "./operations.ts";
import { parameterParts } from "./parameters.ts";
import { problemParts } from "./problem-responses.ts";
import { changesOperations, resourceOperations, restoreOperations } from "./resource-operations.ts";
import { resourceSchemas } from "./resource-schemas.ts";
import { commonFields, headerParts } from "./response-headers.ts";
import { rootPaths } from "./root-operations.ts";
import {
  batchOperations,
  descriptionPaths,
  documentOperations,
  serviceIds,
  serviceTag,
} from "./service-operations.ts";

/** The document. It is made a collection at a time, so that whatever else waits can have its turn in between. */
export async function openApiDocument(described: Described, version: OpenApiVersion): Promise<Part> {
  const all = aboutAll(described, version);
  const paths: Record<string, Part> = {};
  const schemas = commonSchemas(described.settings.limits);
  for (const about of all) {
    Object.assign(paths, collectionPaths(about));
    Object.assign(schemas, resourceSchemas(about.collection, about.names));
    await nextTurn();
  }
  Object.assign(paths, servicePaths(described));
  return {
    openapi: openApiVersions[version],
    info: {
      title: "Holdfast",
      version: program.version,
      summary: program.description,
      description: descriptionOf(described),
    },
    servers: [{ url: "/", description: "The service that gave this." }],
    tags: [
      ...all.map(({ tag, collection }) => tagOf(tag, collection)),
      { name: serviceTag, description: ofService },
    ],
    security: described.access === undefined ? [] : [{ bearer: [] }],
    paths,
    components: componentsOf(described, paths, schemas),
  };
}

const ofService = "What belongs to no collection.";

function descriptionOf({ openCollections, access, settings }: Described): string {
  return [
    `Resources in collections, as JSON over HTTP. Every path that has GET also has HEAD. Every path has OPTIONS${settings.prefix === "" ? "" : ", except the page at `/`"}.`,
    ...(settings.compression
      ? ["Responses above 1 kB to GET are compressed if `Accept-Encoding` accepts `br` or `gzip`."]
      : []),
    ...(openCollections ? ["A collection springs into being with its first create."] : []),
    ...(access === undefined ? [] : ["Requests need a credential: an API key or a JSON Web Token."]),
  ].join(" ");
}

function tagOf(name: string, { schema }: Collection): Part {
  const { description } = (schema === undefined ? {} : JSON.parse(schema)) as { description?: unknown };
  return { name, description: typeof description === "string" ? description : `The resources of ${name}.` };
}

/** What stands for any collection, where there can be any, and every declared one. */
function aboutAll(described: Described, version: OpenApiVersion): About[] {
  const taken = new Set(
    [...Object.keys(commonSchemas(described.settings.limits)), ...serviceIds].map(folded),
  );
  const about = (collection: Collection, tag: string, names: Names, path: readonly Part[]): About => ({
    described,
    version,
    collection,
    names,
    tag,
    path,
    callersOf: callersOf(described, collection.name),
  });
  const any = () =>
    about(openCollection(""), anyCollection, namesFor("resources", taken), [ref("parameters", "collection")]);
  const open = described.openCollections ? [any()] : [];
  const declared = [...described.collections.values()].map((each) =>
    about(each, tagFor(each.name), namesFor(each.name, taken), []),
  );
  return [...open, ...declared];
}

const anyCollection = "Any collection";

/** A collection may have the name of what is no collection. */
function tagFor(name: string): string {
  return name === serviceTag ? `${name} (collection)` : name;
}

/** The path items of a collection. */
function collectionPaths(about: About): Record<string, Part> {
  const { prefix } = about.described.settings;
  const path = `${prefix}/${about.path.length > 0 ? "{collection}" : about.collection.name}`;
  const item = (
    kind: keyof typeof methodsOf,
    plans: Record<string, (about: About) => OperationPlan>,
  ): Part => {
    const told = methodsOf[kind]
      .split(", ")
      .filter((method) => about.version === "3.2" || method !== "QUERY");
    const operations = told.flatMap((method) => {
      const plan = plans[method]?.(about);
      return plan === undefined
        ? []
        : [[method.toLowerCase(), operationPart(plan, about.described)] as const];
    });
    return Object.fromEntries(operations);
  };
  return {
    [path]: item("collection", collectionOperations),
    [`${path}/{id}`]: item("resource", resourceOperations),
    [`${path}/{id}/_changes`]: item("changes", changesOperations),
    [`${path}/{id}/_restore`]: item("restore", restoreOperations),
  };
}

/** The paths of the list of collections and of the batch, and the paths outside the prefix. */
function servicePaths(described: Described): Record<string, Part> {
  const told = Object.entries(documentOperations).filter(
    ([path]) => described.settings.docs || !descriptionPaths.includes(path),
  );
  const documents = told.map(([path, plan]) => [path, { get: operationPart(plan(described), described) }]);
  const batch = { post: operationPart(batchOperations.POST(described), described) };
  return {
    [`${described.settings.prefix}/_batch`]: batch,
    ...rootPaths(described),
    ...Object.fromEntries(documents),
  };
}

function componentsOf(described: Described, paths: Part, schemas: Record<string, Part>): Part {
  const { access, settings, openCollections } = described;
  const statuses = [...new Set(Object.values(problems).map(({ status }) => status))];
  const common = commonFields(settings.rate !== undefined);
  const used = refsIn(paths);
  const responses = onlyUsed("responses", problemParts([404, ...statuses], common), used);
  return {
    schemas: onlyUsed("schemas", schemas, used),
    responses,
    parameters: onlyUsed("parameters", parameterParts(settings.limits, openCollections), used),
    headers: onlyUsed("headers", headerParts(), used),
    ...(access === undefined ? {} : { securitySchemes: { bearer } }),
  };
}

const bearer: Part = {
  type: "http",
  scheme: "bearer",
  description: "An API key, or a JSON Web Token.",
};

/** The components of a kind that something refers to; what they refer to is used too. */
function onlyUsed(kind: string, parts: Record<string, Part>, used: Set<string>): Record<string, Part> {
  const place = `#/components/${kind}/`;
  for (const each of used) {
    const name = each.startsWith(place) ? each.slice(place.length).split("/", 1)[0] : undefined;
    if (name !== undefined && parts[name] !== undefined) refsIn(parts[name], used).add(place + name);
  }
  return Object.fromEntries(Object.entries(parts).filter(([name]) => used.has(place + name)));
}

/** Every reference in a part. */
function refsIn(part: unknown, found = new Set<string>()): Set<string> {
  if (typeof part !== "object" || part === null) return found;
  for (const [name, inner] of Object.entries(part)) {
    if (name === "$ref" && typeof inner === "string") found.add(inner);
    else refsIn(inner, found);
  }
  return found;
}
