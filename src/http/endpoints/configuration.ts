/** The endpoint of the effective configuration, for administrators. */
import type { Endpoint } from "../endpoint/endpoint.ts";
import { closedObject, hasAdministrators, json, listOf, text } from "../openapi/described.ts";
import { jsonType } from "../protocol/message.ts";

const configuration = closedObject({
  file: { description: "The configuration file.", type: ["string", "null"] },
  options: listOf(
    closedObject(
      {
        name: text,
        value: { description: "The effective value, without secrets. `null` if it is not set." },
        source: { enum: ["default", "file", "application", "environment", "flag"] },
        from: { description: "The flag or the environment variable.", ...text },
      },
      { optional: ["from"] },
    ),
  ),
});

/** The endpoint. The response contains no secrets. */
export const configurationEndpoint: Endpoint = {
  path: "/_configuration",
  method: "GET",
  who: "administrators",
  exists: hasAdministrators,
  id: "getConfiguration",
  summary: "Read the configuration",
  description:
    "Returns each option with its effective value and where the value comes from. Only for administrators.",
  successes: {
    200: { description: "The configuration.", content: json(configuration) },
  },
  handle({ configuration: { file, options } }) {
    const body = JSON.stringify({ file: file ?? null, options });
    return { kind: "document", document: { status: 200, type: jsonType, body } };
  },
};
