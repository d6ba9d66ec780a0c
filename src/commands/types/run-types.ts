import type { Collection } from "../../collection/collection.ts";
import { StartError } from "../../errors.ts";
import { openApiDocument } from "../../http/openapi/document.ts";
import { configOf, type Environment } from "../options.ts";
import { writeText } from "../output.ts";
import { fetchDescription } from "./fetch-description.ts";
import { typesOf } from "./types-of.ts";

/**
 * Writes the types. Throws StartError when the configuration is wrong, the service does not describe itself, or the file
 * cannot be written.
 */
export async function runTypes(
  { url, token, output, ...flags }: Record<string, unknown>,
  env: Environment,
): Promise<void> {
  const isRemote = typeof url === "string";
  if (isRemote && (flags.config !== undefined || flags.store !== undefined))
    throw new StartError("Give either the URL of a service, or --config and --store.");
  if (!isRemote && token !== undefined)
    throw new StartError("--token is for a running service: give its URL too.");
  const description = isRemote
    ? await fetchDescription(url, token as string | undefined)
    : await configured(flags, env);
  await writeText(typesOf(description), output);
}

/** What a service of this configuration would say of itself to somebody who may see everything. */
async function configured(flags: Record<string, unknown>, env: Environment): Promise<object> {
  const { collections, openCollections, http } = await configOf(flags, env);
  const all = new Map([...collections].map(([name, collection]) => [name, toldToAll(collection)]));
  return openApiDocument({ collections: all, openCollections, settings: http }, "3.1");
}

function toldToAll(collection: Collection): Collection {
  const attributeRules = collection.attributeRules.map((rule) => ({ ...rule, roles: undefined }));
  return { ...collection, attributeRules, visibility: undefined };
}
