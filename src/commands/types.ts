/** `holdfast types`: writes the types of the collections, of a configuration or of a running service. */
import type { Collection } from "../collection/collection.ts";
import { StartError } from "../errors.ts";
import { openApiDocument } from "../http/describe/document.ts";
import { endpointTable } from "../http/endpoints/endpoint-table.ts";
import { configOf, type Environment, type Flags, tokenVariable } from "./options.ts";
import { writeText } from "./output.ts";
import { fetchDocument } from "./types/fetch-document.ts";
import { typesOf } from "./types/types-of.ts";

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
    ? await fetchDocument(url, (token as string | undefined) ?? env[tokenVariable])
    : await configuredDocument(flags, env);
  await writeText(typesOf(document), output);
}

/** The OpenAPI document for a caller who can see every attribute. */
async function configuredDocument(flags: Flags, env: Environment): Promise<object> {
  const { collections, openCollections, http } = await configOf(flags, env);
  const all = new Map([...collections].map(([name, collection]) => [name, visibleToAll(collection)]));
  return openApiDocument(
    { collections: all, openCollections, settings: http, endpoints: endpointTable },
    "3.1",
  );
}

function visibleToAll(collection: Collection): Collection {
  const attributeRules = collection.attributeRules.map((rule) => ({ ...rule, roles: undefined }));
  return { ...collection, attributeRules, visibility: undefined };
}
