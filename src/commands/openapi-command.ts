/** `holdfast openapi` and `holdfast types`: write the OpenAPI document, and the types of the collections in such a document. */
import { ProblemError } from "holdfast-client";
import { endpointsOf, loadCapabilities } from "../capabilities/all.ts";
import type { Collection } from "../collection/collection.ts";
import { timestampNames } from "../collection/timestamps.ts";
import type { Config } from "../config.ts";
import { StartError } from "../errors.ts";
import { openApiDocument } from "../http/describe/document.ts";
import type { EndpointTable } from "../http/endpoint/router.ts";
import { createEndpointTable } from "../http/endpoints/endpoint-table.ts";
import type { OpenApiVersion } from "../http/openapi/described.ts";
import { isObject } from "../json/values.ts";
import { isInternal } from "../store/port/record.ts";
import { configOf, type Environment, type Flags } from "./flags.ts";
import { clientOf, isNotJson, reasonOf, tokenOf } from "./running-service.ts";
import { writeText } from "./shell.ts";

/** Writes the document. Throws StartError if the configuration has faults or the file cannot be written. */
export async function runOpenapi({ output, version, ...flags }: Flags, env: Environment): Promise<void> {
  const config = await configOf(flags, env);
  const collections = () => config.collections;
  const document = await openApiDocument(
    { ...config, collections, settings: config.http, endpoints: await tableOfEndpoints(config) },
    version as OpenApiVersion,
  );
  await writeText(`${JSON.stringify(document, undefined, 2)}\n`, output);
}

/**
 * Writes the types. Throws StartError if the configuration has faults, the service has no OpenAPI document, or the file
 * cannot be written.
 */
export async function runTypes({ url, token, output, ...flags }: Flags, env: Environment): Promise<void> {
  const isRemote = typeof url === "string";
  if (isRemote && (flags.config !== undefined || flags.store !== undefined))
    throw new StartError("Give either the URL of a service, or --config and --store.");
  if (!isRemote && token !== undefined)
    throw new StartError("--token is for a running service: give its URL too.");
  const document = isRemote
    ? await fetchDocument(url, tokenOf(token, env))
    : await configuredDocument(flags, env);
  await writeText(typesOf(document), output);
}

/** The OpenAPI document for a caller who can see every attribute. */
async function configuredDocument(flags: Flags, env: Environment): Promise<object> {
  const config = await configOf(flags, env);
  const { collections, openCollections, http } = config;
  const all = new Map([...collections].map(([name, collection]) => [name, visibleToAll(collection)]));
  return openApiDocument(
    { collections: () => all, openCollections, settings: http, endpoints: await tableOfEndpoints(config) },
    "3.1",
  );
}

async function tableOfEndpoints(config: Config): Promise<EndpointTable> {
  return createEndpointTable(endpointsOf(await loadCapabilities(), config));
}

function visibleToAll(collection: Collection): Collection {
  const attributeRules = collection.attributeRules.map((rule) => ({ ...rule, roles: undefined }));
  return { ...collection, attributeRules, visibility: undefined };
}

const timeoutMs = 30_000;

/** The OpenAPI document of the service at a URL. Throws StartError if the service does not return one. */
async function fetchDocument(address: string, token: string | undefined): Promise<object> {
  const url = documentUrl(address);
  const client = clientOf({ base: url, token }, fetch);
  const document = await client.$read("", { timeoutMs }).catch((error: unknown) => {
    if (error instanceof ProblemError) throw new StartError(`${url} ${refusalOf(error.status, token)}`);
    if (isNotJson(error)) return undefined;
    throw new StartError(`${url} cannot be read: ${reasonOf(error)}.`);
  });
  if (isObject(document) && isObject(document.paths) && typeof document.openapi === "string") return document;
  throw new StartError(`${url} is not an OpenAPI document. Check that a Holdfast service runs there.`);
}

/** Every service has its document at the root, whatever its prefix is. A proxy can serve it at another `.json` path. */
function documentUrl(address: string): URL {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new StartError(`"${address}" is not the URL of a service. Give one such as http://localhost:3000.`);
  return url.pathname.endsWith(".json") ? url : new URL("/openapi.json", url);
}

function refusalOf(status: number, token: string | undefined): string {
  if (status === 404)
    return 'does not exist. Either no Holdfast service runs at that address, or it has "docs": false.';
  if (status !== 401 && status !== 403) return `responded with status ${status}.`;
  return token === undefined
    ? "requires a credential. Give one with --token or HOLDFAST_TOKEN."
    : "refused the credential.";
}

/** The text of a module. It contains the schemas as literal types, and the client makes types of resources from them. */
function typesOf(document: object): string {
  const declared = collectionsOf(document).map(
    ([name, declaration]) => `    ${JSON.stringify(name)}: ${literal(declaration)};`,
  );
  const all = declared.length === 0 ? "Record<string, object>" : `{\n${declared.join("\n")}\n  }`;
  return `// Written by "holdfast types". Use it with holdfast-client: createClient<Service>({ baseUrl: "…" })

export interface Service {
  readonly collections: ${all};
}
`;
}

function literal(declaration: object): string {
  return JSON.stringify(declaration, undefined, 2).replaceAll("\n", "\n    ");
}

/** A path with an `{id}` below it is a collection. Undeclared and internal collections have no types. */
function collectionsOf(document: object): [name: string, declaration: object][] {
  const paths = Object.keys(objectAt(document, "paths"));
  const collections = paths.filter((path) => !path.includes("{") && paths.includes(`${path}/{id}`));
  return collections
    .map((path): [string, object] => [path.slice(path.lastIndexOf("/") + 1), declarationAt(document, path)])
    .filter(([name]) => !isInternal(name));
}

/** A declaration with only the members that decide the types of resources. */
function declarationAt(document: object, path: string): object {
  const input = bodySchemaOf(document, [path, "post"]);
  const resource = bodySchemaOf(document, [`${path}/{id}`, "put"]);
  const sent = namesIn(input.required);
  const stored = namesIn(resource.required).filter((name) => name !== "id");
  const references = objectAt(
    document,
    "components",
    "schemas",
    `${bodySchemaName(document, [`${path}/{id}`, "put"])}Embedded`,
    "x-holdfast-references",
  );
  const properties = objectAt(resource, "properties");
  const required = [...new Set([...stored, ...sent])];
  return {
    id: objectAt(properties, "id").type === "integer" ? "integer" : "uuid",
    timestamps: timestampNames.every((name) => isReadOnly(properties, input, name)),
    defaults: Object.fromEntries(stored.filter((name) => !sent.includes(name)).map((name) => [name, true])),
    schema: { ...input, ...(required.length > 0 ? { required } : {}) },
    ...(Object.keys(references).length > 0 && { references }),
  };
}

function isReadOnly(properties: object, input: object, name: string): boolean {
  return objectAt(properties, name).readOnly === true && !Object.hasOwn(objectAt(input, "properties"), name);
}

function bodySchemaOf(document: object, operation: readonly string[]): Record<string, unknown> {
  return objectAt(document, "components", "schemas", bodySchemaName(document, operation));
}

function bodySchemaName(document: object, operation: readonly string[]): string {
  const content = objectAt(document, "paths", ...operation, "requestBody", "content");
  const { $ref } = objectAt(content, "application/json", "schema");
  return String($ref).split("/").at(-1) ?? "";
}

/** The object at a path; an empty object if it does not exist. */
function objectAt(value: object, ...path: readonly string[]): Record<string, unknown> {
  let found: unknown = value;
  for (const name of path) found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  return isObject(found) ? found : {};
}

function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
}
