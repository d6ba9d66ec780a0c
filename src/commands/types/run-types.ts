import type { Collection } from "../../collection/collection.ts";
import { configOf, type Environment } from "../options.ts";
import { writeText } from "../output.ts";

/** Writes the types. Throws StartError when the configuration is wrong, or the file cannot be written. */
export async function runTypes(
  { output, ...flags }: Record<string, unknown>,
  env: Environment,
): Promise<void> {
  const { collections } = await configOf(flags, env);
  const text = typesOf([...collections.values()]);
  await writeText(text, output);
}

/** The text of a module. The client makes types of schemas itself, and JSON is the literal type of what it says. */
function typesOf(collections: readonly Collection[]): string {
  const declared = collections.map(
    (collection) => `    ${JSON.stringify(collection.name)}: ${typeOf(collection)};`,
  );
  const all = declared.length === 0 ? "Record<string, object>" : `{\n${declared.join("\n")}\n  }`;
  return `// Written by "holdfast types". Use it with holdfast-client: createClient<Service>({ baseUrl: "…" })

export interface Service {
  readonly collections: ${all};
}
`;
}

/** What of a declaration says how resources are read and written. */
function typeOf({ idKind, schema, timestamps, defaults, attributeRules }: Collection): string {
  const marks = attributeRules.map(({ name, readOnly, writeOnly }) => [name, { readOnly, writeOnly }]);
  const declaration = {
    id: idKind,
    timestamps,
    defaults: Object.fromEntries(defaults.map(({ name }) => [name, true])),
    attributes: Object.fromEntries(marks),
    ...(schema === undefined ? {} : { schema: JSON.parse(schema) as unknown }),
  };
  return JSON.stringify(declaration, undefined, 2).replaceAll("\n", "\n    ");
}
