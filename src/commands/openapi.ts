/** `holdfast openapi`: writes the OpenAPI document of the configured service. */

import { openApiDocument } from "../http/describe/document.ts";
import { endpointTable } from "../http/endpoints/endpoint-table.ts";
import type { OpenApiVersion } from "../http/openapi/described.ts";
import { configOf, type Environment, type Flags } from "./options.ts";
import { writeText } from "./output.ts";

/** Writes the document. Throws StartError if the configuration has faults or the file cannot be written. */
export async function runOpenapi({ output, version, ...flags }: Flags, env: Environment): Promise<void> {
  const config = await configOf(flags, env);
  const document = await openApiDocument(
    { ...config, settings: config.http, endpoints: endpointTable },
    version as OpenApiVersion,
  );
  await writeText(`${JSON.stringify(document, undefined, 2)}\n`, output);
}
