/** Makes the TypeScript types of collections from an OpenAPI document. */

import { timestampNames } from "../../collection/timestamps.ts";
import { isObject } from "../../json/values.ts";
import { isInternal } from "../../store/port/record.ts";

/** The text of a module. It contains the schemas as literal types, and the client makes types of resources from them. */
export function typesOf(document: object): string {
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
