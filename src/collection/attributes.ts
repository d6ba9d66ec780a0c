/** What the schema of a collection allows for one attribute: whether it can exist, and which types it can have. */
import { isObject } from "../json/values.ts";
import type { Collection } from "./collection.ts";
import { type Deletions, deletedMember } from "./deletions.ts";
import type { IdKind } from "./ids.ts";
import { itemName, type Path } from "./paths.ts";
import { alwaysWith, createResolve, groupOf, itemsOf, type ResolveRef, type Schema } from "./subschemas.ts";
import { timestampNames } from "./timestamps.ts";
import type { DeclaredType } from "./types/declared-type.ts";
import { type DeclaredMeaning, declaredFormats, typeOfForm } from "./types/declared-types.ts";

/** The parts of a collection that decide which attributes can exist. */
export interface AttributeSource {
  idKind: IdKind;
  schema: string | undefined;
  timestamps: boolean;
  deletions?: Deletions;
}

/** The types of JSON. Integers are numbers. */
export type AttributeType = "null" | "boolean" | "number" | "string" | "array" | "object";

/** What a schema allows for an attribute. */
export interface AttributeInfo {
  /** Whether the schema lists it by name. */
  isDeclared: boolean;
  /** The types that it can have; `undefined`: any. */
  types: ReadonlySet<AttributeType> | undefined;
  /** If the schema refuses the attribute: the names that it allows instead. `undefined`: it allows the attribute. */
  alternatives: readonly string[] | undefined;
  /** If the schema refuses the attribute: how many names at the start of the path can exist. */
  knownDepth?: number;
  /** The most code points of a string; `undefined`: any number. */
  maxLength?: number | undefined;
  /** The types that the items of an array can have; `undefined`: any. */
  itemTypes?: ReadonlySet<AttributeType> | undefined;
  /** The fewest items of an array. */
  minItems?: number | undefined;
  /** Whether the schema requires it. */
  isRequired?: boolean;
  /** The type that all its texts and numbers have; `undefined`: the schema allows other texts or numbers. */
  declared?: DeclaredValues | undefined;
  /** The same for the items of an array. */
  declaredItems?: DeclaredValues | undefined;
  /** The schemas that every value must fit, and how they find others. */
  fits?: Fits;
}

/** Schemas that a value must fit. */
export interface Fits {
  schemas: readonly unknown[];
  resolve: ResolveRef;
}

/** Values that are compared by what they mean. */
export interface DeclaredValues {
  type: DeclaredType<DeclaredMeaning>;
  /** The forms that they can have, as the formats of the type name them. */
  forms: ReadonlySet<string>;
}

const anything: AttributeInfo = { isDeclared: false, types: undefined, alternatives: undefined };

/** What the schema allows for the attribute at a path. If this is hard to find out, everything counts as allowed. */
export function attributeInfo(collection: AttributeSource, path: Path): AttributeInfo {
  const [first, ...rest] = path;
  if (first === "id") return rest.length === 0 ? idInfo(collection) : noneBelow(1);
  if (collection.timestamps && isTimestampName(first))
    return rest.length === 0 ? timestampInfo : noneBelow(1);
  if (collection.deletions !== undefined && first === deletedMember)
    return deletionInfo(collection.deletions, rest);
  const declared = schemaOf(collection);
  if (declared === undefined) return anything;
  return findInfo(declared, path, collection.timestamps ? ["id", ...timestampNames] : ["id"]);
}

/** Whether the schema names a top-level attribute. One that is hidden from the caller does not count. */
export function declaresAttribute(
  collection: AttributeSource & Pick<Collection, "visibility">,
  name: string,
): boolean {
  return attributeInfo(collection, [name]).isDeclared && collection.visibility?.hidden.has(name) !== true;
}

/** The type that the schema declares for an attribute; `undefined` without one. */
export type TypeAt = (path: Path) => DeclaredType<DeclaredMeaning> | undefined;

/** The types of the attributes of a collection. */
export function typesIn(collection: AttributeSource): TypeAt {
  return (path) => attributeInfo(collection, path).declared?.type;
}

/** Finds what the schema allows. `others` are the top-level names that exist without the schema. */
function findInfo(declared: Declared, path: Path, others: readonly string[]): AttributeInfo {
  let level = levelOf(declared, declared.root, [declared.root]);
  for (const [depth, name] of path.entries()) {
    const { info, next } = memberOf(declared, level, name);
    const { alternatives, types } = info;
    if (alternatives !== undefined)
      return {
        ...info,
        alternatives: depth === 0 ? [...others, ...alternatives] : alternatives,
        knownDepth: depth,
      };
    if (depth === path.length - 1) return info;
    if (types?.has("object") === false) return noneBelow(depth + 1);
    level = next;
  }
  return anything;
}

/** An attribute of the objects in an array. */
export interface ListedAttribute {
  /**
   * The arrays that its path leads through, from the resource inwards, each with the number of names in the path up to it. The path of each starts in an
   * item of the array before it.
   */
  lists: readonly { path: Path; depth: number }[];
  /** The path in an item of the last array. */
  path: Path;
  info: AttributeInfo;
}

/**
 * What the schema allows for the attribute at a path that leads into the objects of arrays; `undefined` if the path leads into no array.
 * Arrays are what the schema declares as nothing else, and the attributes whose paths have one of the `known` numbers of names.
 */
export function listedAttribute(
  collection: AttributeSource,
  path: Path,
  known: readonly number[] = [],
): ListedAttribute | undefined {
  const isOther = path[0] === "id" || path[0] === deletedMember;
  const declared = schemaOf(collection) ?? (known.length > 0 ? undeclared : undefined);
  if (isOther || declared === undefined) return undefined;
  const lists: { path: Path; depth: number }[] = [];
  const found = (names: readonly string[], info: AttributeInfo) =>
    lists.length === 0 ? undefined : { lists, path: names as Path, info };
  let names: string[] = [];
  let level = levelOf(declared, declared.root, [declared.root]);
  for (const [n, name] of path.entries()) {
    const depth = n + 1;
    const { info, next } = memberOf(declared, level, name);
    names.push(name);
    if (info.alternatives !== undefined || depth === path.length)
      return found(names, { ...info, knownDepth: n });
    const { types, itemTypes, fits } = info;
    const isList = types?.has("array") === true && !types.has("object") && itemTypes?.has("object") !== false;
    if (isList || known.includes(depth)) {
      lists.push({ path: names as unknown as Path, depth });
      names = [itemName];
      const items = itemsOf(fits?.schemas ?? [], declared.resolve).filter(isObject);
      level = levelOf(declared, items.length === 1 ? items[0] : undefined, items);
    } else if (types?.has("object") === false) return found(names, noneBelow(depth));
    else level = next;
  }
  return undefined;
}

/** What is below an attribute that has no members. */
function noneBelow(knownDepth: number): AttributeInfo {
  return { ...anything, alternatives: [], knownDepth };
}

function idInfo({ idKind }: AttributeSource): AttributeInfo {
  const type = idKind === "integer" ? "number" : "string";
  return { isDeclared: true, types: new Set([type] as const), alternatives: undefined };
}

const timestampValues = declaredIn({
  texts: new Set(declaredFormats["date-time"]?.texts),
  numbers: new Set(),
});

/** Not required: a resource that is older than the option `timestamps` can lack them. */
const timestampInfo: AttributeInfo = {
  isDeclared: true,
  types: new Set(["string"]),
  alternatives: undefined,
  declared: timestampValues,
};

/** What `_deleted` has. */
function deletionInfo({ showsPrincipals }: Deletions, [name, ...below]: readonly string[]): AttributeInfo {
  const known: Record<string, AttributeInfo> = {
    at: timestampInfo,
    version: { ...anything, isDeclared: true, types: new Set(["number"]) },
    ...(showsPrincipals && { by: { ...anything, isDeclared: true, types: new Set(["string"]) } }),
  };
  if (name === undefined) return { ...anything, isDeclared: true, types: new Set(["object"]) };
  if (below.length > 0 && Object.hasOwn(known, name)) return noneBelow(2);
  return known[name] ?? { ...anything, alternatives: Object.keys(known), knownDepth: 1 };
}

function isTimestampName(name: string): boolean {
  return (timestampNames as readonly string[]).includes(name);
}

interface Declared {
  root: Schema;
  resolve: ResolveRef;
  /** The levels, by their site. A schema that refers to itself has attributes without end, but few levels. */
  levels: Map<Schema | undefined, Level[]>;
}

/** The schema of a collection without one. */
const undeclared: Declared = { root: {}, resolve: () => undefined, levels: new Map() };

/** The most levels that are kept for one site. */
const maxLevels = 100;

/** Parsed schemas. Each is released together with its collection. */
const parsed = new WeakMap<AttributeSource, Declared>();

function schemaOf(collection: AttributeSource): Declared | undefined {
  if (collection.schema === undefined) return undefined;
  const known = parsed.get(collection);
  if (known !== undefined) return known;
  const root: unknown = JSON.parse(collection.schema);
  if (!isObject(root)) return undefined;
  const declared = { root, resolve: createResolve(root), levels: new Map() };
  parsed.set(collection, declared);
  return declared;
}

/** The schemas that describe one value. */
interface Level {
  /** The one schema that describes the value; `undefined` if none or several do. */
  site: Schema | undefined;
  /** Schemas that every value must match, without a condition. */
  certain: readonly Schema[];
  /** The declared members that requests have named. */
  known: Map<string, Member>;
}

/** A member of a value: what is allowed for it, and the schemas that describe its own members. */
interface Member {
  info: AttributeInfo;
  next: Level;
}

function levelOf({ levels }: Declared, site: Schema | undefined, certain: readonly Schema[]): Level {
  const known = levels.get(site) ?? [];
  const same = known.find(
    (each) =>
      each.certain.length === certain.length && each.certain.every((schema, n) => schema === certain[n]),
  );
  const level = same ?? { site, certain, known: new Map() };
  if (same === undefined && known.length < maxLevels) levels.set(site, [...known, level]);
  return level;
}

function memberOf(declared: Declared, level: Level, name: string): Member {
  const known = level.known.get(name);
  if (known !== undefined) return known;
  const member = findMember(declared, level, name);
  if (member.info.isDeclared) level.known.set(name, member);
  return member;
}

function findMember(declared: Declared, level: Level, name: string): Member {
  const { resolve } = declared;
  const group = level.site === undefined ? new Set<Schema>() : groupOf(level.site, resolve);
  const descriptions = [...group].flatMap((schema) => propertyOf(schema, name));
  const certain = certainOf(level.certain, resolve).flatMap((schema) => propertyOf(schema, name));
  const names = closedNames(level.site, group, resolve);
  const sites = new Set(descriptions);
  const all = certainOf(certain.filter(isObject), resolve);
  const maxLengths = numbersOf(all, "maxLength");
  const minItems = numbersOf(all, "minItems");
  const formsOfAll = (each: readonly unknown[]) =>
    intersectForms(each.map((schema) => formsOf(schema, resolve, new Set())));
  const [forms, itemForms] = [formsOfAll(certain), formsOfAll(itemsOf(certain, resolve))];
  // If several schemas describe one value, none of them is closed.
  const site = sites.size === 1 ? descriptions.find(isObject) : undefined;
  const info: AttributeInfo = {
    isDeclared: descriptions.length + certain.length > 0,
    types: intersection(certain.map((schema) => typesOf(schema, resolve, new Set()))),
    itemTypes: intersection(all.map(({ items }) => typesOf(items, resolve, new Set()))),
    declaredItems: declaredIn(itemForms),
    maxLength: maxLengths && Math.min(...maxLengths),
    minItems: minItems && Math.max(...minItems),
    fits: { schemas: certain, resolve },
    declared: declaredIn(forms),
    isRequired: certainOf(level.certain, resolve).some(
      ({ required }) => Array.isArray(required) && required.includes(name),
    ),
    alternatives: names === undefined || names.includes(name) ? undefined : names,
  };
  return { info, next: levelOf(declared, site, certain.filter(isObject)) };
}

function numbersOf(schemas: readonly Schema[], keyword: string): number[] | undefined {
  const numbers = schemas.map((schema) => schema[keyword]).filter((each) => typeof each === "number");
  return numbers.length === 0 ? undefined : numbers;
}

function propertyOf({ properties }: Schema, name: string): unknown[] {
  return isObject(properties) && Object.hasOwn(properties, name) ? [properties[name]] : [];
}

/** Every name that can exist; `undefined` if other names can exist, or if this is hard to find out. */
function closedNames(
  site: Schema | undefined,
  group: ReadonlySet<Schema>,
  resolve: ResolveRef,
): string[] | undefined {
  const all = new Set(group);
  // If an `if` matches, its attributes are allowed too.
  for (const { if: condition } of all) {
    if (isObject(condition)) for (const schema of groupOf(condition, resolve)) all.add(schema);
  }
  const schemas = [...all];
  if (schemas.some(isOpen)) return undefined;
  const lists = schemas.map(({ properties }) => properties).filter(isObject);
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

/** The schemas, and all others that every value must match because of `$ref` and `allOf`. */
function certainOf(schemas: readonly Schema[], resolve: ResolveRef): Schema[] {
  const found = new Set(schemas);
  for (const each of found)
    for (const schema of alwaysWith(each, resolve).filter(isObject)) found.add(schema);
  return [...found];
}

type Types = ReadonlySet<AttributeType> | undefined;

/** The types that a schema allows. */
function typesOf(schema: unknown, resolve: ResolveRef, seen: ReadonlySet<unknown>): Types {
  if (!isObject(schema) || seen.has(schema)) return undefined;
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

/** The forms that the texts and the numbers of an attribute can have. `undefined`: any form. An empty set: the attribute has no such values. */
interface Forms {
  texts: ReadonlySet<string> | undefined;
  numbers: ReadonlySet<string> | undefined;
}

const anyForms: Forms = { texts: undefined, numbers: undefined };

/** The one type that all texts and numbers have. */
function declaredIn({ texts, numbers }: Forms): DeclaredValues | undefined {
  const known = texts?.size === 0 ? numbers : texts;
  const types = new Set([...(known ?? [])].map(typeOfForm));
  const [type] = types;
  if (texts === undefined || type === undefined || types.size > 1) return undefined;
  const { numberForm } = type;
  if (numberForm === undefined) return numbers?.size === 0 ? { type, forms: texts } : undefined;
  return { type, forms: new Set([...texts, ...(numbers ?? [numberForm])]) };
}

/** The forms of a format. A format says nothing about values of other types. */
function formsOfFormat(format: unknown): Forms {
  const { texts, numbers } = declaredFormats[String(format)] ?? {};
  return { texts: texts && new Set(texts), numbers: numbers && new Set(numbers) };
}

/** The forms that a schema allows. */
function formsOf(schema: unknown, resolve: ResolveRef, seen: ReadonlySet<unknown>): Forms {
  if (!isObject(schema) || seen.has(schema)) return anyForms;
  const inner = new Set([...seen, schema]);
  const of = (each: unknown): Forms => formsOf(each, resolve, inner);
  const { format, $ref, allOf, anyOf, oneOf } = schema;
  const types = typesOf(schema, resolve, new Set());
  const none: ReadonlySet<string> = new Set();
  return intersectForms([
    {
      texts: types === undefined || types.has("string") ? undefined : none,
      numbers: types === undefined || types.has("number") ? undefined : none,
    },
    formsOfFormat(format),
    typeof $ref === "string" ? of(resolve($ref)) : anyForms,
    ...(Array.isArray(allOf) ? allOf.map(of) : []),
    ...[anyOf, oneOf].map((all) => (Array.isArray(all) ? uniteForms(all.map(of)) : anyForms)),
  ]);
}

function intersectForms(all: readonly (Forms | undefined)[]): Forms {
  const known = all.filter((each) => each !== undefined);
  return {
    texts: intersection(known.map(({ texts }) => texts)),
    numbers: intersection(known.map(({ numbers }) => numbers)),
  };
}

function uniteForms(all: readonly Forms[]): Forms {
  return { texts: union(all.map(({ texts }) => texts)), numbers: union(all.map(({ numbers }) => numbers)) };
}

function toType(name: unknown): AttributeType {
  return name === "integer" ? "number" : (name as AttributeType);
}

/** The type of a JSON value. */
export function typeOf(value: unknown): AttributeType {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : (typeof value as AttributeType);
}

function intersection<T>(all: readonly (ReadonlySet<T> | undefined)[]): ReadonlySet<T> | undefined {
  const [first, ...others] = all.filter((set) => set !== undefined);
  if (first === undefined) return undefined;
  return new Set([...first].filter((item) => others.every((set) => set.has(item))));
}

function union<T>(all: readonly (ReadonlySet<T> | undefined)[]): ReadonlySet<T> | undefined {
  const items = new Set<T>();
  for (const each of all) {
    if (each === undefined) return undefined;
    for (const item of each) items.add(item);
  }
  return items;
}
