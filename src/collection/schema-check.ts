/** Checks a schema before Ajv compiles it, with messages that name the place of each fault. */
import { StartFaults } from "../errors/start-faults.ts";
import { StartError } from "../errors.ts";
import { isObject, isWithin } from "../json/values.ts";
import { formatOf, formats } from "./formats.ts";
import { didYouMean } from "./messages.ts";
import {
  createResolve,
  groupOf,
  keywords,
  type ResolveRef,
  type Schema,
  schemasReachedFrom,
  subschemasOf,
} from "./subschemas.ts";
import { declaredFormats } from "./types/declared-types.ts";

/** The largest size of a schema. */
const limits = { bytes: 256 * 1024, nesting: 64, properties: 1000 };

const dialect = "https://json-schema.org/draft/2020-12/schema";

/** A valid schema, and the function that resolves its references. */
export interface CheckedSchema {
  root: Schema;
  resolve: ResolveRef;
}

/** Adds a fault: its place in the schema, and the message. */
export type Refuse = (path: readonly string[], why: string) => void;

/** What the checks of a single subschema need. */
interface CheckContext {
  refuse: Refuse;
  compilePattern: (source: string) => unknown;
}

/** The options of `checkSchema`. */
export interface SchemaCheckOptions {
  /** The place of the schema. Messages begin with it. */
  at: string;
  compilePattern: (source: string) => unknown;
  /** Refuses what the meta-schema refuses. */
  checkMetaSchema: (root: Schema, refuse: Refuse) => void;
}

/** Copies and checks a schema. Throws StartError with every fault, each with its place below `at`. */
export function checkSchema(
  schema: unknown,
  { at, compilePattern, checkMetaSchema }: SchemaCheckOptions,
): CheckedSchema {
  const root = copyOf(schema, at);
  const faults = new StartFaults();
  const places = new Set<string>();
  const refuse: Refuse = (path, why) => {
    places.add(path.join("/"));
    faults.add(path, messageOf(at, path, why));
  };
  const found = checkEach(root, { refuse, compilePattern });
  const refuseOnce: Refuse = (path, why) => {
    if (!places.has(path.join("/"))) refuse(path, why);
  };
  checkMetaSchema(root, refuseOnce);
  requireDistinctAnchors(found, refuse);
  const resolve = createResolve(root);
  for (const [each, path] of found) requireReference(each, { path, found, resolve, refuse });
  requireEnds(found, resolve, refuse);
  for (const each of groupOf(root, resolve)) requireResource(each, found.get(each) ?? [], refuseOnce);
  faults.throwIfAny();
  return { root, resolve };
}

function messageOf(at: string, path: readonly string[], why: string): string {
  return `${at}${path.length === 0 ? "" : ` at ${path.join("/")}`}: ${why}`;
}

/** The schema as plain JSON. Throws StartError if it is too large, nested too deep, or not JSON. */
function copyOf(schema: unknown, at: string): Schema {
  if (!isObject(schema)) throw new StartError(`${at}: a schema must be an object.`);
  const text = textOf(schema, at);
  if (Buffer.byteLength(text) > limits.bytes)
    throw new StartError(`${at}: the schema is larger than ${limits.bytes / 1024} kB.`);
  const copy = JSON.parse(text) as Schema;
  if (!isWithin(copy, { depth: limits.nesting, members: Number.POSITIVE_INFINITY }))
    throw new StartError(`${at}: the schema is nested more than 32 schemas deep.`);
  return copy;
}

function textOf(schema: Schema, at: string): string {
  try {
    return JSON.stringify(schema);
  } catch (error) {
    if (error instanceof StartError) throw error; // this member is reported in another place
    throw new StartError(`${at}: the schema cannot be written as JSON.`);
  }
}

/** Checks every subschema separately, and returns all of them with their places. */
function checkEach(root: Schema, context: CheckContext): Map<Schema, readonly string[]> {
  const found = new Map<Schema, readonly string[]>();
  let properties = 0;
  const visit = (schema: Schema, path: readonly string[]) => {
    found.set(schema, path);
    requireKeywords(schema, path, context);
    requireRequired(schema, path, context);
    properties +=
      Object.keys(schema.properties ?? {}).length + Object.keys(schema.patternProperties ?? {}).length;
    for (const inner of subschemasOf(schema)) {
      const place = [...path, ...inner.path];
      if (isObject(inner.schema)) visit(inner.schema, place);
      else if (typeof inner.schema !== "boolean")
        context.refuse(place, "a schema must be an object, true or false.");
    }
  };
  visit(root, []);
  if (properties > limits.properties)
    context.refuse([], `the schema has more than ${limits.properties} properties.`);
  return found;
}

function requireKeywords(
  schema: Schema,
  path: readonly string[],
  { refuse, compilePattern }: CheckContext,
): void {
  for (const keyword of Object.keys(schema)) {
    if (!keywords.has(keyword)) refuse(path, unknownKeyword(keyword));
  }
  const { $schema, format, pattern, properties, patternProperties } = schema;
  if ($schema !== undefined && $schema !== dialect) refuse(path, `$schema must be ${dialect}.`);
  if (typeof format === "string" && formatOf(format) === undefined)
    refuse([...path, "format"], unknownFormat(format));
  const { whyNoNumbers } = declaredFormats[String(format)] ?? {};
  if (whyNoNumbers !== undefined && !hasOnlyTexts(schema.type))
    refuse(
      [...path, "format"],
      `the format "${format}" is for strings, because ${whyNoNumbers}. Add "type": "string" beside it.`,
    );
  if (isObject(properties) && Object.hasOwn(properties, "__proto__"))
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

/** Whether a type allows strings, and nothing else but null. */
function hasOnlyTexts(type: unknown): boolean {
  const types = [type].flat();
  return types.includes("string") && types.every((each) => each === "string" || each === "null");
}

/** Keywords that can describe more attributes of the same object in another schema. */
const combining = [
  "$ref",
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "dependentSchemas",
  "$defs",
];

/** A closed object must list what it requires. Otherwise no resource fits, and a name is probably misspelled. */
function requireRequired(schema: Schema, path: readonly string[], { refuse }: CheckContext): void {
  const { properties, patternProperties, required } = schema;
  if (!isObject(properties) || patternProperties !== undefined || !Array.isArray(required)) return;
  const { additionalProperties = false, unevaluatedProperties = false } = schema;
  const isClosed = additionalProperties === false && unevaluatedProperties === false;
  const isWhole = !combining.some((keyword) => Object.hasOwn(schema, keyword) || path.includes(keyword));
  if (!isClosed || !isWhole) return;
  const names = Object.keys(properties);
  for (const name of required as unknown[]) {
    if (typeof name === "string" && name !== "id" && !names.includes(name))
      refuse(
        [...path, "required"],
        `"${name}" is not among the properties, so no resource fits.${didYouMean(name, names)}`,
      );
  }
}

const otherDialects: Record<string, string> = {
  $id: "References stay inside the schema, so remove it.",
  $dynamicRef: "Write $ref.",
  $dynamicAnchor: "Write $anchor.",
  nullable: 'Write "type": ["string", "null"] instead, with your type.',
  additionalItems: "Write prefixItems and items.",
  unevaluatedItems: "Write prefixItems and items: false.",
  dependencies: "Write dependentRequired or dependentSchemas.",
};

function unknownKeyword(keyword: string): string {
  const hint = Object.hasOwn(otherDialects, keyword)
    ? ` ${otherDialects[keyword]}`
    : didYouMean(keyword, [...keywords]);
  return `"${keyword}" is not a supported keyword.${hint}`;
}

function unknownFormat(format: string): string {
  const known = Object.keys(formats);
  return `the format "${format}" does not exist.${didYouMean(format, known) || ` Known names: ${known.join(", ")}.`}`;
}

function requireDistinctAnchors(found: ReadonlyMap<Schema, readonly string[]>, refuse: Refuse): void {
  const anchors = new Set<string>();
  for (const [{ $anchor }, path] of found) {
    if (typeof $anchor !== "string") continue;
    if (anchors.has($anchor)) refuse(path, `the anchor "${$anchor}" occurs twice.`);
    anchors.add($anchor);
  }
}

interface ReferenceContext {
  path: readonly string[];
  found: ReadonlyMap<Schema, readonly string[]>;
  resolve: ResolveRef;
  refuse: Refuse;
}

function requireReference({ $ref }: Schema, { path, found, resolve, refuse }: ReferenceContext): void {
  if (typeof $ref !== "string") return; // the meta-schema refuses any other type
  const target = resolve($ref);
  if (typeof target === "boolean" || found.has(target as Schema)) return;
  refuse([...path, "$ref"], `"${$ref}" does not lead to a schema inside this one. Write "#/$defs/<name>".`);
}

/** Of the schemas that refer to each other in a circle, refuses the first one. */
function requireEnds(
  found: ReadonlyMap<Schema, readonly string[]>,
  resolve: ResolveRef,
  refuse: Refuse,
): void {
  const reported = new Set<Schema>();
  for (const [each, path] of found) {
    const reached = schemasReachedFrom(each, resolve);
    if (reported.has(each) || !reached.has(each)) continue;
    refuse(path, "the schema refers to itself endlessly.");
    for (const schema of reached) reported.add(schema);
  }
}

/** Checks that the schema describes an object and does not declare the id. */
function requireResource(
  { type, properties, required }: Schema,
  path: readonly string[],
  refuse: Refuse,
): void {
  if (type !== undefined && ![type].flat().includes("object"))
    refuse([...path, "type"], 'a resource is an object, so "type" must be "object".');
  if (isObject(properties) && Object.hasOwn(properties, "id"))
    refuse([...path, "properties", "id"], "the service sets the id, so the schema cannot declare it.");
  if (Array.isArray(required) && required.includes("id"))
    refuse([...path, "required"], 'the service sets the id. Remove "id" here.');
}
