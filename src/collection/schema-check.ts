/** Refuses what a schema may not be, in words that name the place, before Ajv sees it. */
import { StartError } from "../errors.ts";
import { formatOf, formats } from "./formats.ts";
import { isSchemaObject, keywords, type Schema, subschemasOf } from "./keywords.ts";
import { didYouMean } from "./nearest.ts";
import { createResolve, groupOf, isCircular, type Resolve } from "./references.ts";

/** How large a schema may be. */
const limits = { bytes: 256 * 1024, nesting: 64, properties: 1000 };

const dialect = "https://json-schema.org/draft/2020-12/schema";

/** A schema that may be compiled, and the way from its references to what they mean. */
export interface CheckedSchema {
  root: Schema;
  resolve: Resolve;
}

/** Where in the declaration something is wrong, and what. */
type Refuse = (path: readonly string[], why: string) => never;

/** What is needed to judge one schema. */
interface Judge {
  refuse: Refuse;
  compilePattern: (source: string) => unknown;
}

/** Copies and checks a schema. Throws StartError with the place below `at`. */
export function checkSchema(
  schema: unknown,
  at: string,
  compilePattern: (source: string) => unknown,
): CheckedSchema {
  const refuse: Refuse = (path, why) => {
    throw new StartError(`${at}${path.length === 0 ? "" : ` at ${path.join("/")}`}: ${why}`);
  };
  const root = copyOf(schema, refuse);
  const found = walk(root, { refuse, compilePattern });
  const resolve = createResolve(root, anchorsOf(found, refuse));
  for (const [each, path] of found) requireReference(each, { path, found, resolve, refuse });
  for (const [each, path] of found) {
    if (isCircular(each, resolve)) refuse(path, "the schema refers to itself without end.");
  }
  requireResource(groupOf(root, resolve), refuse);
  return { root, resolve };
}

/** The schema as plain JSON of a bearable size. */
function copyOf(schema: unknown, refuse: Refuse): Schema {
  if (!isSchemaObject(schema)) return refuse([], "a schema is an object.");
  const text = textOf(schema, refuse);
  if (Buffer.byteLength(text) > limits.bytes)
    refuse([], `the schema is larger than ${limits.bytes / 1024} kB.`);
  const copy = JSON.parse(text) as Schema;
  if (!isWithinNesting(copy, limits.nesting)) refuse([], "the schema is nested more than 32 schemas deep.");
  return copy;
}

function textOf(schema: Schema, refuse: Refuse): string {
  try {
    return JSON.stringify(schema);
  } catch {
    return refuse([], "the schema cannot be written as JSON.");
  }
}

function isWithinNesting(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isWithinNesting(inner, levels - 1));
}

/** Checks every schema in a schema by itself, and gives them all with their places. */
function walk(root: Schema, judge: Judge): Map<Schema, readonly string[]> {
  const found = new Map<Schema, readonly string[]>();
  let properties = 0;
  const visit = (schema: Schema, path: readonly string[]) => {
    found.set(schema, path);
    requireKeywords(schema, path, judge);
    properties +=
      Object.keys(schema.properties ?? {}).length + Object.keys(schema.patternProperties ?? {}).length;
    if (properties > limits.properties)
      judge.refuse([], `the schema has more than ${limits.properties} properties.`);
    for (const inner of subschemasOf(schema)) {
      const place = [...path, ...inner.path];
      if (isSchemaObject(inner.schema)) visit(inner.schema, place);
      else if (typeof inner.schema !== "boolean")
        judge.refuse(place, "a schema is an object, true or false.");
    }
  };
  visit(root, []);
  return found;
}

function requireKeywords(schema: Schema, path: readonly string[], { refuse, compilePattern }: Judge): void {
  for (const keyword of Object.keys(schema)) {
    if (!keywords.has(keyword)) refuse(path, unknownKeyword(keyword));
  }
  const { $schema, format, pattern, properties, patternProperties } = schema;
  if ($schema !== undefined && $schema !== dialect) refuse(path, `$schema may only be ${dialect}.`);
  if (typeof format === "string" && formatOf(format) === undefined)
    refuse([...path, "format"], unknownFormat(format));
  if (isSchemaObject(properties) && Object.hasOwn(properties, "__proto__"))
    refuse([...path, "properties"], 'an attribute called "__proto__" cannot be declared.');
  const sources = [pattern, ...Object.keys(patternProperties ?? {})].filter(
    (each) => typeof each === "string",
  );
  for (const source of sources) {
    try {
      compilePattern(source);
    } catch (error) {
      refuse(path, (error as Error).message);
    }
  }
}

const otherDialects: Record<string, string> = {
  $id: "References stay inside of the schema here, so take it out.",
  $dynamicRef: "Write $ref.",
  $dynamicAnchor: "Write $anchor.",
  nullable: 'Write "type": ["string", "null"], or whatever the type is.',
  additionalItems: "Write prefixItems and items.",
  unevaluatedItems: "Write prefixItems and items: false.",
  dependencies: "Write dependentRequired or dependentSchemas.",
};

function unknownKeyword(keyword: string): string {
  const hint = Object.hasOwn(otherDialects, keyword)
    ? ` ${otherDialects[keyword]}`
    : didYouMean(keyword, [...keywords]);
  return `"${keyword}" is not a keyword that is supported.${hint}`;
}

function unknownFormat(format: string): string {
  const known = Object.keys(formats);
  return `there is no format "${format}".${didYouMean(format, known) || ` Known are ${known.join(", ")}.`}`;
}

function anchorsOf(found: ReadonlyMap<Schema, readonly string[]>, refuse: Refuse): Map<string, Schema> {
  const anchors = new Map<string, Schema>();
  for (const [schema, path] of found) {
    if (typeof schema.$anchor !== "string") continue;
    if (anchors.has(schema.$anchor)) refuse(path, `there are two anchors "${schema.$anchor}".`);
    anchors.set(schema.$anchor, schema);
  }
  return anchors;
}

interface ReferenceContext {
  path: readonly string[];
  found: ReadonlyMap<Schema, readonly string[]>;
  resolve: Resolve;
  refuse: Refuse;
}

function requireReference({ $ref }: Schema, { path, found, resolve, refuse }: ReferenceContext): void {
  if (typeof $ref !== "string") return; // the meta-schema refuses it if it is anything else
  const target = resolve($ref);
  if (typeof target === "boolean" || found.has(target as Schema)) return;
  refuse(
    [...path, "$ref"],
    `"${$ref}" does not lead to a schema inside of this one; write "#/$defs/<name>".`,
  );
}

/** A resource is an object, and its id is not the schema's matter. */
function requireResource(group: ReadonlySet<Schema>, refuse: Refuse): void {
  for (const { type, properties, required } of group) {
    if (type !== undefined && ![type].flat().includes("object"))
      refuse([], 'a resource is an object, so "type" must be "object".');
    if (isSchemaObject(properties) && Object.hasOwn(properties, "id"))
      refuse(["properties", "id"], "the service looks after the id; a schema may not declare it.");
    if (Array.isArray(required) && required.includes("id"))
      refuse(["required"], 'the service looks after the id; take "id" out.');
  }
}
