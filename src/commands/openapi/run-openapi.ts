import type { OpenApiVersion } from "../../http/openapi/described.ts";
import { openApiDocument } from "../../http/openapi/document.ts";
import { configOf, type Environment } from "../options.ts";
import { writeText } from "../output.ts";

/** Writes the document. Throws StartError when the configuration is wrong, or the file cannot be written. */
export async function runOpenapi(
  { output, version, ...flags }: Record<string, unknown>,
  env: Environment,
): Promise<void> {
  const config = await configOf(flags, env);
  const document = await openApiDocument({ ...config, settings: config.http }, version as OpenApiVersion);
  const text = `${JSON.stringify(document, undefined, 2)}\n`;
  await writeText(text, output);
}
