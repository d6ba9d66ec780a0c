/** What a collection's schema tells about an attribute before any resource is there: whether it can be, and of what type. */
import type { IdKind } from "./ids.ts";
import { isSchemaObject, type Schema, subschemasOf } from "./keywords.ts";
import { formatPath, type Path } from "./paths.ts";
import { createResolve, groupOf, type Resolve } from "./references.ts";
import { timestampNames } from "./timestamps.ts";

/** What tells of attributes: a collection's schema, and what the service adds to it. */
export interface Describing {
  idKind: IdKind;
  schema: string | undefined;
  timestamps: boolean;
}

/** The types of JSON; integers are numbers. */
export type AttributeType = "null" | "boolean" | "number" | "string" | "array" | "object";

/** What is known of an attribute. */
export interface AttributeFacts {
  /** Whether it is listed by name. */
  isDeclared: boolean;
  /** The types that it can have; `undefined`: any. */
  types: ReadonlySet<AttributeType> | undefined;
  /** The names that stand in its place where the schema refuses it; `undefined`: it can be there. */
  insteadOf: readonly string[] | undefined;
  /** How many code points it has at most where it is a string; `undefined`: any number. */
  maxLength?: number | undefined;
  /** How many items it has at least where it is an array. */
  minItems?: number | undefined;
  /** Whether it must be there. */
  isRequired?: boolean;
}

const anything: AttributeFacts = { isDeclared: false, types: undefined, insteadOf: undefined };

/** What is known of the attribute at a path. Where a schema is hard to read, nothing is. */
export function attributeFacts(collection: Describing, path: Path): AttributeFacts {
  const [first, ...rest] = path;
  if (first === "id") return rest.length === 0 ? idFacts(collection) : { ...anything, insteadOf: [] };
  if (collection.timestamps && isTimestampName(first))
    return rest.length === 0 ? timestampFacts : { ...anything, insteadOf: [] };
  const declared = schemaOf(collection);
  if (declared === undefined) return anything;
  const name = formatPath(path);
  const known = declared.facts.get(name);
  if (known !== undefined) return known;
  const facts = findFacts(declared, path, collection.timestamps ? ["id", ...timestampNames] : ["id"]);
  if (facts.isDeclared && declared.facts.size < maxKept) declared.facts.set(name, facts);
  return facts;
}

/** What is known of what a schema declares, beside the names that are there whatever it says. */
function findFacts({ root, resolve }: Declared, path: Path, others: readonly string[]): AttributeFacts {
  let levels: Level = { site: root, certain: [root] };
  for (const [depth, name] of path.entries()) {
    const facts = factsOf(levels, name, resolve);
    const isLast = depth === path.length - 1;
    if (facts.insteadOf !== undefined && depth === 0) facts.insteadOf = [...others, ...facts.insteadOf];
    const { next, ...known } = facts;
    if (isLast || known.insteadOf !== undefined) return known;
    if (facts.types?.has("object") === false) return { ...anything, insteadOf: [] };
    levels = next;
  }
  return anything;
}

function idFacts({ idKind }: Describing): AttributeFacts {
  const type = idKind === "integer" ? "number" : "string";
  return { isDeclared: true, types: new Set([type] as const), insteadOf: undefined };
}

/** A resource from before the collection had timestamps may lack them. */
const timestampFacts: AttributeFacts = { isDeclared: true, types: new Set(["string"]), insteadOf: undefined };

function isTimestampName(name: string): boolean {
  return (timestampNames as readonly string[]).includes(name);
}

interface Declared {
  root: Schema;
  resolve: Resolve;
  /** What was found out before, by path: a list asks for the same few attributes again and again. */
  facts: Map<string, AttributeFacts>;
}

/** A schema that refers to itself has attributes without end. */
const maxKept = 1_000;

/** Schemas that were read once; they go with their collection. */
const read = new WeakMap<Describing, Declared>();

function schemaOf(collection: Describing): Declared | undefined {
  if (collection.schema === undefined) return undefined;
  const known = read.get(collection);
  if (known !== undefined) return known;
  const root: unknown = JSON.parse(collection.schema);
  if (!isSchemaObject(root)) return undefined;
  const declared = { root, resolve: createResolve(root, anchorsOf(root)), facts: new Map() };
  read.set(collection, declared);
  return declared;
}

function anchorsOf(root: Schema): Map<string, Schema> {
  const anchors = new Map<string, Schema>();
  const open: unknown[] = [root];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (!isSchemaObject(next)) continue;
    if (typeof next.$anchor === "string") anchors.set(next.$anchor, next);
    open.push(...subschemasOf(next).map(({ schema }) => schema));
  }
  return anchors;
}

/** The schemas that describe one value. */
interface Level {
  /** The one schema where a reader begins; `undefined` when several describe the value, or none. */
  site: Schema | undefined;
  /** Schemas that hold of the value whatever it is. */
  certain: readonly Schema[];
}

function factsOf(level: Level, name: string, resolve: Resolve): AttributeFacts & { next: Level } {
  const group = level.site === undefined ? new Set<Schema>() : groupOf(level.site, resolve);
  const descriptions = [...group].flatMap((schema) => propertyOf(schema, name));
  const certain = certainOf(level.certain, resolve).flatMap((schema) => propertyOf(schema, name));
  const names = closedNames(level.site, group, resolve);
  const sites = new Set(descriptions);
  return {
    isDeclared: descriptions.length + certain.length > 0,
    types: intersection(certain.map((schema) => typesOf(schema, resolve, new Set()))),
    maxLength: maxLengthOf(certainOf(certain.filter(isSchemaObject), resolve)),
    minItems: minItemsOf(certainOf(certain.filter(isSchemaObject), resolve)),
    isRequired: certainOf(level.certain, resolve).some(
      ({ required }) => Array.isArray(required) && required.includes(name),
    ),
    insteadOf: names === undefined || names.includes(name) ? undefined : names,
    next: {
      // What two schemas describe together is not closed by itself.
      site: sites.size === 1 ? descriptions.find(isSchemaObject) : undefined,
      certain: certain.filter(isSchemaObject),
    },
  };
}

function maxLengthOf(schemas: readonly Schema[]): number | undefined {
  const lengths = schemas.map(({ maxLength }) => maxLength).filter((length) => typeof length === "number");
  return lengths.length === 0 ? undefined : Math.min(...lengths);
}

function minItemsOf(schemas: readonly Schema[]): number | undefined {
  const least = schemas.map(({ minItems }) => minItems).filter((items) => typeof items === "number");
  return least.length === 0 ? undefined : Math.max(...least);
}

function propertyOf({ properties }: Schema, name: string): unknown[] {
  return isSchemaObject(properties) && Object.hasOwn(properties, name) ? [properties[name]] : [];
}

/** Every name that can be there; `undefined` when others can be too, or when that is not plain. */
function closedNames(
  site: Schema | undefined,
  group: ReadonlySet<Schema>,
  resolve: Resolve,
): string[] | undefined {
  const all = new Set(group);
  // The attributes that an `if` lists are known where it holds.
  for (const { if: condition } of all) {
    if (isSchemaObject(condition)) for (const schema of groupOf(condition, resolve)) all.add(schema);
  }
  const schemas = [...all];
  if (schemas.some(isOpen)) return undefined;
  const lists = schemas.map(({ properties }) => properties).filter(isSchemaObject);
  const isClosed = lists.length > 0 || (site !== undefined && refusesOthers(site));
  return isClosed ? [...new Set(lists.flatMap((list) => Object.keys(list)))] : undefined;
}

const closers = ["additionalProperties", "unevaluatedProperties"] as const;

function isOpen(schema: Schema): boolean {
  return (
    Object.hasOwn(schema, "patternProperties") ||
    closers.some((keyword) => Object.hasOwn(schema, keyword) && schema[keyword] !== false)
  );
}

function refusesOthers(schema: Schema): boolean {
  return closers.some((keyword) => schema[keyword] === false);
}

/** The schemas and all that hold of the same value whatever it is: by `$ref` and `allOf`. */
function certainOf(schemas: readonly Schema[], resolve: Resolve): Schema[] {
  const found = new Set(schemas);
  for (const { $ref, allOf } of found) {
    const more = [
      typeof $ref === "string" ? resolve($ref) : undefined,
      ...(Array.isArray(allOf) ? allOf : []),
    ];
    for (const schema of more.filter(isSchemaObject)) found.add(schema);
  }
  return [...found];
}

type Types = ReadonlySet<AttributeType> | undefined;

/** The types that a schema leaves a value. */
function typesOf(schema: unknown, resolve: Resolve, seen: ReadonlySet<unknown>): Types {
  if (!isSchemaObject(schema) || seen.has(schema)) return undefined;
  const inner = new Set([...seen, schema]);
  const of = (each: unknown): Types => typesOf(each, resolve, inner);
  const { type, $ref, allOf, anyOf, oneOf } = schema;
  return intersection([
    type === undefined ? undefined : new Set([type].flat().map(toType)),
    Array.isArray(schema.enum) ? new Set(schema.enum.map(typeOf)) : undefined,
    Object.hasOwn(schema, "const") ? new Set([typeOf(schema.const)]) : undefined,
    typeof $ref === "string" ? of(resolve($ref)) : undefined,
    ...(Array.isArray(allOf) ? allOf.map(of) : []),
    Array.isArray(anyOf) ? union(anyOf.map(of)) : undefined,
    Array.isArray(oneOf) ? union(oneOf.map(of)) : undefined,
  ]);
}

function toType(name: unknown): AttributeType {
  return name === "integer" ? "number" : (name as AttributeType);
}

/** The type of a JSON value. */
export function typeOf(value: unknown): AttributeType {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : (typeof value as AttributeType);
}

function intersection(all: readonly Types[]): Types {
  const [first, ...others] = all.filter((types) => types !== undefined);
  if (first === undefined) return undefined;
  return new Set([...first].filter((type) => others.every((types) => types.has(type))));
}

function union(all: readonly Types[]): Types {
  const types = new Set<AttributeType>();
  for (const each of all) {
    if (each === undefined) return undefined;
    for (const type of each) types.add(type);
  }
  return types;
}
