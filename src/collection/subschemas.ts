/**
 * The structure of a JSON Schema 2020-12: the keywords that a schema can use, the schemas inside it, and where each `$ref`
 * leads.
 */
import { isObject } from "../json/values.ts";

/** A schema that is an object. */
export type Schema = Record<string, unknown>;

/** How a keyword contains schemas: one schema, an array of them, or an object with schemas as its members. */
type Holds = "schema" | "list" | "map";

/**
 * The value that a subschema describes: `here` is the value of the outer schema, and `child` is a member or an item of
 * it. A `test` only decides whether something applies. `nowhere` is used only if a `$ref` leads to it.
 */
export type Applies = "here" | "child" | "test" | "nowhere";

/** Keywords that contain schemas. */
const applicators = {
  properties: { holds: "map", applies: "child" },
  patternProperties: { holds: "map", applies: "child" },
  additionalProperties: { holds: "schema", applies: "child" },
  unevaluatedProperties: { holds: "schema", applies: "child" },
  items: { holds: "schema", applies: "child" },
  prefixItems: { holds: "list", applies: "child" },
  allOf: { holds: "list", applies: "here" },
  anyOf: { holds: "list", applies: "here" },
  oneOf: { holds: "list", applies: "here" },
  // biome-ignore lint/suspicious/noThenProperty: the name of a keyword in a table
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

/** Every keyword that a schema can use. */
export const keywords: ReadonlySet<string> = new Set([...Object.keys(applicators), ...plainKeywords]);

/** A schema directly inside another schema. */
export interface Subschema {
  schema: unknown;
  /** The segments of its JSON Pointer in the outer schema. */
  path: readonly string[];
  applies: Applies;
  /** The keyword that contains it. */
  keyword: string;
}

/** All schemas directly inside a schema. */
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

/** Finds the schema that a `$ref` leads to; `undefined` if it does not exist. */
export type ResolveRef = (ref: string) => unknown;

/** Resolves `#`, `#/a/pointer` and `#anchor` in a root schema, and nothing outside of it. */
export function createResolve(root: Schema): ResolveRef {
  let anchors: Map<string, Schema> | undefined;
  return (ref) => {
    if (!ref.startsWith("#")) return undefined;
    const fragment = decode(ref.slice(1));
    if (fragment === "") return root;
    if (fragment.startsWith("/")) return follow(root, fragment);
    anchors ??= anchorsOf(root);
    return anchors.get(fragment);
  };
}

function anchorsOf(root: Schema): Map<string, Schema> {
  const anchors = new Map<string, Schema>();
  const open: unknown[] = [root];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (!isObject(next)) continue;
    if (typeof next.$anchor === "string") anchors.set(next.$anchor, next);
    open.push(...subschemasOf(next).map(({ schema }) => schema));
  }
  return anchors;
}

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

function follow(root: unknown, pointer: string): unknown {
  let value = root;
  for (const segment of pointer.slice(1).split("/")) {
    const name = segment.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Schema)[name];
  }
  return value;
}

/** The schema and all others that can apply to the same value, through `$ref`, `allOf`, `anyOf`, `then` and so on. */
export function groupOf(schema: Schema, resolve: ResolveRef): Set<Schema> {
  return reachedFrom([schema], resolve, ["here"]);
}

/**
 * All schemas that this schema applies to the same value, including conditions. The schema itself is among them only if it
 * refers to itself.
 */
export function schemasReachedFrom(schema: Schema, resolve: ResolveRef): ReadonlySet<Schema> {
  const which = ["here", "if", "not"];
  return reachedFrom(sameValue(schema, resolve, which), resolve, which);
}

function reachedFrom(open: unknown[], resolve: ResolveRef, which: readonly string[]): Set<Schema> {
  const reached = new Set<Schema>();
  while (open.length > 0) {
    const next = open.pop();
    if (!isObject(next) || reached.has(next)) continue;
    reached.add(next);
    open.push(...sameValue(next, resolve, which));
  }
  return reached;
}

function sameValue(schema: Schema, resolve: ResolveRef, which: readonly string[]): unknown[] {
  const inside = subschemasOf(schema)
    .filter(({ applies, keyword }) => which.includes(applies) || which.includes(keyword))
    .map((each) => each.schema);
  return typeof schema.$ref === "string" ? [resolve(schema.$ref), ...inside] : inside;
}

/** The schemas that a value which fits the schema must fit too: the target of `$ref`, and the items of `allOf`. */
export function alwaysWith({ $ref, allOf }: Schema, resolve: ResolveRef): unknown[] {
  return [...(typeof $ref === "string" ? [resolve($ref)] : []), ...(Array.isArray(allOf) ? allOf : [])];
}

/** The schemas that every item of an array must fit, if the array fits these schemas. */
export function itemsOf(
  schemas: readonly unknown[],
  resolve: ResolveRef,
  seen: ReadonlySet<unknown> = new Set(),
): readonly unknown[] {
  return schemas.filter(isObject).flatMap((schema) => {
    if (seen.has(schema)) return [];
    const { items, prefixItems } = schema;
    const own = items === undefined || prefixItems !== undefined ? [] : [items];
    return [...own, ...itemsOf(alwaysWith(schema, resolve), resolve, new Set([...seen, schema]))];
  });
}
