/** What describes the interface, for programs: the OpenAPI documents, and the set of links that leads to them. */

import type { OpenApiVersion } from "../openapi/described.ts";
import { openApiDocument } from "../openapi/document.ts";
import type { Document } from "../operations/result.ts";
import { jsonType } from "../protocol/message.ts";
import type { Service } from "../service.ts";

const versions: Readonly<Record<string, OpenApiVersion>> = {
  "openapi.json": "3.1",
  "openapi-3.2.json": "3.2",
};

/** Texts of documents that were asked for before: what they describe stays as long as the service. */
const made = new WeakMap<Service, Map<OpenApiVersion, Promise<string>>>();

/** The description of this name; `undefined` if there is none. */
export async function descriptionOf(service: Service, name: string): Promise<Document | undefined> {
  if (name === ".well-known/api-catalog") return catalogOf(service);
  const version = versions[name];
  return version && { status: 200, type: jsonType, body: await textOf(service, version) };
}

function textOf(service: Service, version: OpenApiVersion): Promise<string> {
  const texts = made.get(service) ?? new Map<OpenApiVersion, Promise<string>>();
  made.set(service, texts);
  const text =
    texts.get(version) ?? openApiDocument(service, version).then((document) => JSON.stringify(document));
  texts.set(version, text);
  return text;
}

/** RFC 9727: the links of the interface as a linkset (RFC 9264). */
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
