/**
 * The OpenAPI document of a service. It is made from the tables with which the service routes, reads and refuses requests,
 * so it describes only what exists. It leaves out HEAD and OPTIONS. QUERY is in OpenAPI 3.2 only.
 */
import { type Collection, openCollection } from "../../collection/collection.ts";
import { nextTurn } from "../admission/turns.ts";
import { credentialsOf } from "../endpoint/description.ts";
import type { EndpointTable } from "../endpoint/router.ts";
import { type About, nestedBelow } from "../openapi/about.ts";
import { commonSchemas } from "../openapi/common-schemas.ts";
import {
  type Described,
  hasAdministrators,
  type OpenApiVersion,
  openApiVersions,
  type Part,
  ref,
} from "../openapi/described.ts";
import { examplesFor } from "../openapi/examples.ts";
import { folded, type Names, namesFor, operationIds, schemaNames, serviceTag } from "../openapi/names.ts";
import { parameterParts } from "../openapi/parameters.ts";
import { problemParts, problemStatuses } from "../openapi/problem-responses.ts";
import { resourceSchemas } from "../openapi/resource-schemas.ts";
import { commonHeaders, headerParts } from "../openapi/response-headers.ts";

/** What a document describes, with the table of its endpoints. */
export interface DescribedService extends Described {
  endpoints: EndpointTable;
}

/** The document. It is built one collection at a time, so that other requests get turns in between. */
export async function openApiDocument(described: DescribedService, version: OpenApiVersion): Promise<Part> {
  const { endpoints } = described;
  const all = aboutAll(described, version);
  const paths: Record<string, Part> = {};
  const schemas = commonSchemas(described.settings.limits);
  const complete: About[] = [];
  for (const about of all) {
    const own = resourceSchemas(about.collection, about.names, (name) =>
      all.find(({ collection }) => collection.name === name),
    );
    const examples = examplesFor(about.collection, own, schemaNames(about.names).input);
    Object.assign(schemas, own);
    complete.push({ ...about, examples });
    await nextTurn();
  }
  const taken = new Set([...endpoints.ids, ...all.flatMap(idsOf)].map(folded));
  for (const about of complete) {
    Object.assign(paths, endpoints.describeIn(about));
    for (const nested of nestedBelow(about, complete, taken))
      Object.assign(paths, endpoints.describeNested(nested));
    await nextTurn();
  }
  Object.assign(paths, endpoints.describe({ ...described, version }));
  return {
    openapi: openApiVersions[version],
    info: infoOf(described),
    servers: [{ url: "/", description: "This service." }],
    tags: [
      ...all.map(({ tag, collection }) => tagOf(tag, collection)),
      { name: serviceTag, description: ofService },
    ],
    security: described.access === undefined ? [] : credentialsOf(described),
    paths,
    components: componentsOf(described, paths, schemas),
  };
}

const ofService =
  "Operations on the whole service: batches, rewinds, the feed of all collections, health checks and descriptions of the interface.";

function infoOf(described: Described): Part {
  const { title, version, description } = described.settings.info;
  return { title, version, description: [description ?? [], descriptionOf(described)].flat().join("\n\n") };
}

function descriptionOf({ openCollections, access, settings }: Described): string {
  return [
    "Each collection has a JSON interface over HTTP.",
    ...(openCollections
      ? ["The first resource that you create in a collection also creates the collection."]
      : []),
    ...(access === undefined ? [] : [credentials]),
    `Every path that has GET also has HEAD, and every path has OPTIONS${settings.prefix === "" ? "" : ", except `/`"}.`,
    ...(settings.compression
      ? ["Responses above 1 kB to GET are compressed if `Accept-Encoding` accepts `br` or `gzip`."]
      : []),
  ].join(" ");
}

const credentials =
  "Each operation says whether it needs a credential, which is an API key or a JSON Web Token. Send it as `Authorization: Bearer …`.";

/** The name and the description of a collection, for its operations. */
export function tagOf(name: string, { schema }: Collection): Part {
  const { description, title } = (schema === undefined ? {} : JSON.parse(schema)) as Record<string, unknown>;
  if (typeof description === "string") return { name, description };
  if (name === anyCollection) return { name, description: ofAnyCollection };
  return { name, description: typeof title === "string" ? `${title}.` : `The collection \`${name}\`.` };
}

/** Every declared collection, after the generic one of open mode. */
export function aboutAll(described: DescribedService, version: OpenApiVersion): Omit<About, "examples">[] {
  const taken = new Set(
    [...Object.keys(commonSchemas(described.settings.limits)), ...described.endpoints.ids].map(folded),
  );
  const about = (
    collection: Collection,
    tag: string,
    names: Names,
    path: readonly Part[],
  ): Omit<About, "examples"> => ({ ...described, version, collection, names, tag, path });
  const any = () =>
    about(openCollection(""), anyCollection, namesFor("resources", taken), [ref("parameters", "collection")]);
  const open = described.openCollections ? [any()] : [];
  const declared = [...described.collections().values()].map((each) =>
    about(each, tagFor(each.name, described), namesFor(each.name, taken), []),
  );
  const own = hasAdministrators(described) ? described.endpoints.ownCollections : [];
  return [
    ...open,
    ...declared,
    ...own.map(({ collection, tag, called }) => about(collection, tag, namesFor(called, taken), [])),
  ];
}

const anyCollection = "Any collection";
const ofAnyCollection =
  "Every collection has these operations. Replace `{collection}` in the path with its name, such as `topics`.";

/** A collection can have the same name as a tag of the service. */
function tagFor(name: string, { endpoints }: DescribedService): string {
  const isTaken = name === serviceTag || endpoints.ownCollections.some(({ tag }) => tag === name);
  return isTaken ? `${name} (collection)` : name;
}

function idsOf({ names }: Pick<About, "names">): string[] {
  return Object.values(operationIds(names));
}

function componentsOf(described: Described, paths: Part, schemas: Record<string, Part>): Part {
  const { access, settings, openCollections } = described;
  const common = commonHeaders(settings.rate !== undefined);
  const used = refsIn(paths);
  const responses = onlyUsed("responses", problemParts([404, ...problemStatuses], common), used);
  return {
    schemas: onlyUsed("schemas", schemas, used),
    responses,
    parameters: onlyUsed("parameters", parameterParts(settings.limits, openCollections), used),
    headers: onlyUsed("headers", headerParts(), used),
    ...(access === undefined
      ? {}
      : { securitySchemes: settings.cookieOrigins === undefined ? { bearer } : { bearer, cookie } }),
  };
}

/** The cookie of people who have signed in. Browsers send it. Its name is that of one store, which a document does not know. */
const cookie: Part = {
  type: "apiKey",
  in: "cookie",
  name: "__Host-holdfast-000000",
  description:
    "The session of a browser, for pages of the service itself. In the name, the last six characters are those of the store. In a local service, it is `holdfast-<port>`.",
};

/** The kind of credential. */
export const bearer: Part = {
  type: "http",
  scheme: "bearer",
  description: "An API key, or a JSON Web Token.",
};

/** The components of a kind that are referred to, directly or by other components. */
export function onlyUsed(kind: string, parts: Record<string, Part>, used: Set<string>): Record<string, Part> {
  const place = `#/components/${kind}/`;
  for (const each of used) {
    const name = each.startsWith(place) ? each.slice(place.length).split("/", 1)[0] : undefined;
    if (name !== undefined && parts[name] !== undefined) refsIn(parts[name], used).add(place + name);
  }
  return Object.fromEntries(Object.entries(parts).filter(([name]) => used.has(place + name)));
}

/** Every reference in a part. */
export function refsIn(part: unknown, found = new Set<string>()): Set<string> {
  if (typeof part !== "object" || part === null) return found;
  for (const [name, inner] of Object.entries(part)) {
    if (name === "$ref" && typeof inner === "string") found.add(inner);
    else refsIn(inner, found);
  }
  return found;
}
