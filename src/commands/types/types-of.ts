/** The TypeScript types of what a description of an interface tells of its collections. */
import { timestampNames } from "../../collection/timestamps.ts";
import { isObject } from "../../json/gate.ts";

/** The text of a module. The client makes types of schemas itself, and JSON is the literal type of what it says. */
export function typesOf(description: object): string {
  const declared = collectionsOf(description).map(
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

/** What has one resource below it is a collection; any collection that nobody declared has no types. */
function collectionsOf(description: object): [name: string, declaration: object][] {
  const paths = Object.keys(at(description, "paths"));
  const collections = paths.filter((path) => !path.includes("{") && paths.includes(`${path}/{id}`));
  return collections.map((path) => [path.slice(path.lastIndexOf("/") + 1), declarationAt(description, path)]);
}

/** What of a declaration says how resources are read and written. */
function declarationAt(description: object, path: string): object {
  const input = contentOf(description, [path, "post"]);
  const resource = contentOf(description, [`${path}/{id}`, "put"]);
  const sent = namesIn(input.required);
  const kept = namesIn(resource.required).filter((name) => name !== "id");
  const properties = at(resource, "properties");
  const required = [...new Set([...kept, ...sent])];
  return {
    id: at(properties, "id").type === "integer" ? "integer" : "uuid",
    timestamps: timestampNames.every((name) => isServices(properties, input, name)),
    defaults: Object.fromEntries(kept.filter((name) => !sent.includes(name)).map((name) => [name, true])),
    schema: { ...input, ...(required.length > 0 ? { required } : {}) },
  };
}

/** Whether the service itself looks after an attribute. */
function isServices(properties: object, input: object, name: string): boolean {
  return at(properties, name).readOnly === true && !Object.hasOwn(at(input, "properties"), name);
}

/** The schema of what an operation takes. */
function contentOf(description: object, operation: readonly string[]): Record<string, unknown> {
  const content = at(description, "paths", ...operation, "requestBody", "content");
  const { $ref } = at(content, "application/json", "schema");
  return at(description, "components", "schemas", String($ref).split("/").at(-1) ?? "");
}

/** The object at a place; an empty one where there is none. */
function at(value: object, ...path: readonly string[]): Record<string, unknown> {
  let found: unknown = value;
  for (const name of path) found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  return isObject(found) ? found : {};
}

function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
}
