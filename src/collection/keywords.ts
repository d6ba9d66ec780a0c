/** The keywords of JSON Schema 2020-12 that a schema may use, and where each keeps schemas of its own. */

/** A schema that is an object. */
export type Schema = Record<string, unknown>;

/** How a keyword keeps the schemas in it. */
type Holds = "schema" | "list" | "map";

/**
 * What a subschema is about: `here` the same value as the schema around it, `child` a member or item of it,
 * `test` something that only decides what applies, `nowhere` nothing until a `$ref` leads to it.
 */
export type Applies = "here" | "child" | "test" | "nowhere";

/** Keywords that hold schemas. */
export const applicators = {
  properties: { holds: "map", applies: "child" },
  patternProperties: { holds: "map", applies: "child" },
  additionalProperties: { holds: "schema", applies: "child" },
  unevaluatedProperties: { holds: "schema", applies: "child" },
  items: { holds: "schema", applies: "child" },
  prefixItems: { holds: "list", applies: "child" },
  allOf: { holds: "list", applies: "here" },
  anyOf: { holds: "list", applies: "here" },
  oneOf: { holds: "list", applies: "here" },
  // biome-ignore lint/suspicious/noThenProperty: a keyword's name in a table that nobody awaits
  then: { holds: "schema", applies: "here" },
  else: { holds: "schema", applies: "here" },
  dependentSchemas: { holds: "map", applies: "here" },
  if: { holds: "schema", applies: "test" },
  not: { holds: "schema", applies: "test" },
  contains: { holds: "schema", applies: "test" },
  propertyNames: { holds: "schema", applies: "test" },
  $defs: { holds: "map", applies: "nowhere" },
  definitions: { holds: "map", applies: "nowhere" },
} as const satisfies Record<string, { holds: Holds; applies: Applies }>;

const plainKeywords =
  "$schema $ref $comment $anchor type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum \
maxLength minLength pattern format maxItems minItems uniqueItems maxContains minContains maxProperties \
minProperties required dependentRequired title description default deprecated readOnly writeOnly examples \
contentEncoding contentMediaType".split(" ");

/** Every keyword that a schema may use. */
export const keywords: ReadonlySet<string> = new Set([...Object.keys(applicators), ...plainKeywords]);

/** A schema directly inside another. */
export interface Subschema {
  schema: unknown;
  /** Where it stands in the schema around it, as segments of a JSON Pointer. */
  path: readonly string[];
  applies: Applies;
  /** The keyword that it belongs to. */
  keyword: string;
}

/** The schemas directly inside a schema. */
export function subschemasOf(schema: Schema): Subschema[] {
  return Object.entries(applicators).flatMap(([keyword, { holds, applies }]) => {
    if (!Object.hasOwn(schema, keyword)) return [];
    return partsOf(schema[keyword], holds).map(([segments, part]) => ({
      schema: part,
      path: [keyword, ...segments],
      applies,
      keyword,
    }));
  });
}

function partsOf(value: unknown, holds: Holds): [segments: string[], part: unknown][] {
  if (holds === "schema") return [[[], value]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).map(([name, part]) => [[name], part]);
}

/** Whether this is a schema other than `true` and `false`. */
export function isSchemaObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
