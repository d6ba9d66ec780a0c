/** The descriptions of the interface for programs: OpenAPI, AsyncAPI, and the API catalog with links to them. */

import type { Described, Part } from "../openapi/described.ts";
import type { Document } from "../operations/result.ts";
import { jsonType } from "../protocol/message.ts";
import type { Service } from "../service.ts";
import { asyncApiDocument } from "./asyncapi.ts";
import { type DescribedService, openApiDocument } from "./document.ts";

/** By file name. */
const documents: Readonly<Record<string, (described: DescribedService) => Promise<Part>>> = {
  "openapi.json": (described) => openApiDocument(described, "3.1"),
  "openapi-3.2.json": (described) => openApiDocument(described, "3.2"),
  "asyncapi.json": asyncApiDocument,
};

/** The file names of the documents that a service has. */
function namesFor({ settings }: Described): string[] {
  return Object.keys(documents).filter((name) => settings.hasFeed || name !== "asyncapi.json");
}

/** The texts of documents that were requested before. They never change while the service runs. */
const texts = new WeakMap<Service, Map<string, Promise<string>>>();

/** The description with this name; `undefined` if it does not exist. */
export async function descriptionOf(
  service: Service & DescribedService,
  name: string,
): Promise<Document | undefined> {
  if (name === ".well-known/api-catalog") return catalogOf(service);
  const create = namesFor(service).includes(name) ? documents[name] : undefined;
  return create && { status: 200, type: jsonType, body: await textOf(service, name, create) };
}

function textOf(
  service: Service & DescribedService,
  name: string,
  create: (described: DescribedService) => Promise<Part>,
): Promise<string> {
  const known = texts.get(service) ?? new Map<string, Promise<string>>();
  texts.set(service, known);
  const text = known.get(name) ?? create(service).then((document) => JSON.stringify(document));
  known.set(name, text);
  return text;
}

/** The API catalog (RFC 9727): links to the descriptions, as a linkset (RFC 9264). */
function catalogOf(service: Service): Document {
  const described = namesFor(service).map((name) => ({ href: `/${name}`, type: "application/json" }));
  const links = {
    anchor: service.settings.prefix || "/",
    "service-desc": described,
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
