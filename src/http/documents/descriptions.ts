/** The descriptions of the interface for programs: the OpenAPI documents, and the API catalog with links to them. */

import type { OpenApiVersion } from "../openapi/described.ts";
import { openApiDocument } from "../openapi/document.ts";
import type { Document } from "../operations/result.ts";
import { jsonType } from "../protocol/message.ts";
import type { Service } from "../service.ts";

const versions: Readonly<Record<string, OpenApiVersion>> = {
  "openapi.json": "3.1",
  "openapi-3.2.json": "3.2",
};

/** The texts of documents that were requested before. They never change while the service runs. */
const texts = new WeakMap<Service, Map<OpenApiVersion, Promise<string>>>();

/** The description with this name; `undefined` if it does not exist. */
export async function descriptionOf(service: Service, name: string): Promise<Document | undefined> {
  if (name === ".well-known/api-catalog") return catalogOf(service);
  const version = versions[name];
  return version && { status: 200, type: jsonType, body: await textOf(service, version) };
}

function textOf(service: Service, version: OpenApiVersion): Promise<string> {
  const known = texts.get(service) ?? new Map<OpenApiVersion, Promise<string>>();
  texts.set(service, known);
  const text =
    known.get(version) ?? openApiDocument(service, version).then((document) => JSON.stringify(document));
  known.set(version, text);
  return text;
}

/** The API catalog (RFC 9727): links to the descriptions, as a linkset (RFC 9264). */
function catalogOf({ settings: { prefix } }: Service): Document {
  const documents = Object.keys(versions).map((name) => ({ href: `/${name}`, type: "application/json" }));
  const links = {
    anchor: prefix || "/",
    "service-desc": documents,
    "service-doc": [{ href: "/docs", type: "text/html" }],
    status: [{ href: "/readyz", type: "application/health+json" }],
  };
  return {
    status: 200,
    type: 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    body: JSON.stringify({ linkset: [links] }),
    headers: { link: '</.well-known/api-catalog>; rel="api-catalog"' },
  };
}
