/** Reads the declaration of a collection, option by option, so that all faults are reported at once. */
import { StartFaults } from "../errors/start-faults.ts";
import { StartError } from "../errors.ts";
import { isObject } from "../json/values.ts";
import {
  type AttributesDeclaration,
  readAttributeRules,
  readBoolean,
  requireSearchReadable,
  requireUniqueReadable,
  rulesOfSchema,
} from "./attribute-rules.ts";
import { type AttributeSource, attributeInfo } from "./attributes.ts";
import { type Collection, collectionName, openCollection } from "./collection.ts";
import type { CompileOptions } from "./compile.ts";
import {
  addSchemaDefaults,
  type DefaultsDeclaration,
  defaultsInSchema,
  isComputed,
  readDefaults,
} from "./defaults.ts";
import { readExpires, withExpiryIndex } from "./expiry.ts";
import { type IdKind, idKinds } from "./ids.ts";
import { readIndexes, readSearch } from "./indexes.ts";
import { mustBe } from "./messages.ts";
import { type Path, parsePath } from "./paths.ts";
import { type Reference, type ReferenceDeclaration, readReferences } from "./references.ts";
import type { Validator } from "./resource.ts";
import { timestampNames } from "./timestamps.ts";
import { type ReadWhere, readUnique, type Unique, type UniqueDeclaration } from "./unique.ts";
import { type AttributeRule, visibilityOf } from "./visibility.ts";

/** The configuration of one collection. */
export interface CollectionDeclaration {
  /** How new ids are made. @default "uuid" */
  readonly id?: IdKind;
  /** A JSON Schema (2020-12) that the attributes must fit. @default anything fits */
  readonly schema?: object;
  /** Indexes that make lists fast: attributes, or lists of attributes. `-` means descending, `:natural` natural order, and `:nullslast` that nulls are last. @default none */
  readonly indexes?: readonly (
    | string
    | readonly string[]
    | { readonly attributes: readonly string[]; readonly order: "natural" }
  )[];
  /** The attributes that `q` searches. @default none */
  readonly search?: readonly string[];
  /** Attributes, and combinations of them, whose values no two resources can share. @default none */
  readonly unique?: readonly UniqueDeclaration[];
  /** Attributes that contain ids of other resources, and the collections of these resources. @default none */
  readonly references?: Readonly<Record<string, ReferenceDeclaration>>;
  /** Whether PUT, PATCH and DELETE require a precondition, such as `If-Match`. @default false */
  readonly requirePreconditions?: boolean;
  /** The values of attributes that a create does not contain. `"$now"` is the time of the create. @default none */
  readonly defaults?: DefaultsDeclaration;
  /** Whether the service sets `createdAt` and `updatedAt` in every resource. @default false */
  readonly timestamps?: boolean;
  /** The attribute with the time from which a resource does not exist any more, such as "expiresAt". @default none */
  readonly expires?: string;
  /** Attributes that clients cannot change, that no response contains, or that only some roles can see. @default none */
  readonly attributes?: AttributesDeclaration;
}

/** A declaration with what follows from members that capabilities read (`declare` of a face). */
export interface CompletedDeclaration extends CollectionDeclaration {
  /** The attributes that the service computes. No configuration has this member. @default none */
  readonly computes?: readonly string[];
}

/** A collection as declared. Throws StartError with all faults of the declaration. Without `readWhere`, `unique` has no filters. */
export async function defineCollection(
  name: string,
  declaration: CollectionDeclaration,
  readWhere: ReadWhere = refuseWhere,
): Promise<Collection> {
  const faults = new StartFaults();
  const { whole } = await readCollection(name, declaration, { faults, readWhere });
  faults.throwIfAny();
  return whole();
}

function refuseWhere(): never {
  throw new Error("Nothing reads the filters of unique attributes.");
}

/** A collection whose declaration can have faults. A function throws a StartError without faults if its part has some. */
export interface CollectionReading {
  references: () => readonly Reference[];
  /** The collection with its schema, its kind of ids and its references, without the other options. */
  described: () => Collection;
  /** The collection with all options. */
  whole: () => Collection;
}

/** Reads a declaration option by option. Adds its faults, each below the name of its option. */
export async function readCollection(
  name: string,
  declaration: CompletedDeclaration,
  { faults, readWhere }: { faults: StartFaults; readWhere: ReadWhere },
): Promise<CollectionReading> {
  const at = `collections.${name}`;
  const option: ReadOption = (name, read) =>
    faults.read([name], () => read(declaration[name], `${at}.${name}`));

  faults.read([], () => requireName(name));
  const idKind = option("id", readIdKind);
  const requirePreconditions = option("requirePreconditions", readSwitch);
  const timestamps = option("timestamps", readSwitch);
  const schema = await faults.wait(["schema"], () => schemaOf(declaration.schema, `${at}.schema`));
  const described = faults.read([], () => ({
    ...openCollection(name),
    ...schema(),
    timestamps: timestamps(),
  }));
  const indexes = option("indexes", (declared, at) => readIndexes(declared, at, described));
  const search = option("search", (declared, at) => readSearch(declared, at, described));
  const withoutTimes: ReadOption = (name, read) =>
    option(name, (declared, at) => {
      requireTimesUnnamed(declared, at, described);
      return read(declared, at);
    });
  const references = withoutTimes("references", (declared, at) => readReferences(declared, at, described));
  const unique = withoutTimes("unique", (declared, at) =>
    readUnique(declared, at, {
      source: described,
      readWhere: (where, place) =>
        readWhere(where, place, { ...described(), idKind: idKind(), references: references() }),
    }),
  );
  const expires = withoutTimes("expires", (declared, at) => readExpires(declared, at, described));
  const withoutRequired = await faults.wait([], () => validatorForDefaults(declaration, schema));
  const declaredDefaults = withoutTimes("defaults", (declared, at) =>
    readDefaults(declared, at, withoutRequired),
  );
  const defaults = option("schema", (declared, at) =>
    addSchemaDefaults(declaredDefaults(), defaultsInSchema(declared), { at, validate: withoutRequired }),
  );
  const attributeRules = readRules(option, described, { search, unique });
  return {
    references,
    described: faults.read([], () =>
      Object.defineProperties({ ...described() } as Collection, {
        idKind: { get: idKind, enumerable: true },
        references: { get: references, enumerable: true },
      }),
    ),
    whole: () => ({
      ...described(),
      idKind: idKind(),
      indexes: withExpiryIndex(indexes(), expires()),
      search: search(),
      unique: unique(),
      references: references(),
      requirePreconditions: requirePreconditions(),
      defaults: defaults(),
      expires: expires(),
      ...(declaration.computes && { computes: new Set(declaration.computes) }),
      attributeRules: attributeRules(),
      visibility: visibilityOf(attributeRules(), []),
    }),
  };
}

/** Reads an option of a collection. `read` gets the declared value, and the place that messages begin with. */
type ReadOption = <Value>(
  name: keyof CollectionDeclaration,
  read: (declared: unknown, at: string) => Value,
) => () => Value;

/** The options of single attributes, with those in the schema. */
function readRules(
  option: ReadOption,
  described: () => Collection,
  { search, unique }: { search: () => readonly Path[]; unique: () => readonly Unique[] },
): () => readonly AttributeRule[] {
  option("schema", (_, at) => requireTimesUndeclared(described(), at));
  const schemaRules = option("schema", (_, at) => rulesOfSchema(described().schema, at));
  const rules = option("attributes", (declared, at) =>
    readAttributeRules(declared, at, { source: described, schemaRules }),
  );
  option("search", (_, at) => requireSearchReadable(rules(), search(), at));
  const constants = option("defaults", (declared) => namesOfConstants(described().schema, declared));
  option("unique", (_, at) => requireUniqueReadable(rules(), unique(), { constants: constants(), at }));
  return rules;
}

/** The attributes with a constant default: another one than the time and the caller of the create. */
function namesOfConstants(schema: string | undefined, declared: unknown): ReadonlySet<string> {
  const own = Object.entries(isObject(declared) ? declared : {});
  const inSchema = Object.keys(defaultsInSchema(JSON.parse(schema ?? "{}")));
  return new Set([
    ...inSchema.filter((name) => own.every(([declaredName]) => declaredName !== name)),
    ...own.filter(([, value]) => !isComputed(value)).map(([name]) => name),
  ]);
}

function requireName(name: string): void {
  if (collectionName.test(name)) return;
  throw new StartError(
    `collections: "${name}" cannot be the name of a collection. A name is a letter followed by up to 62 letters, digits, "_" or "-".`,
  );
}

function readSwitch(declared: unknown, at: string): boolean {
  return declared !== undefined && readBoolean(declared, at);
}

function readIdKind(declared: unknown, at: string): IdKind {
  const id = declared === undefined ? "uuid" : declared;
  if (typeof id === "string" && Object.hasOwn(idKinds, id)) return id as IdKind;
  const kinds = Object.keys(idKinds).map((kind) => `"${kind}"`);
  throw mustBe(at, kinds.join(" or "), id);
}

async function schemaOf(declared: unknown, at: string): Promise<Pick<Collection, "schema" | "validate">> {
  const { schema, validate } = openCollection("");
  if (declared === undefined) return { schema, validate };
  return { validate: await compileSchema(declared, at), schema: JSON.stringify(declared) };
}

/** A validator that ignores `required`, because defaults alone are not a whole resource. */
async function validatorForDefaults(
  { defaults, schema: declared = {} }: CollectionDeclaration,
  schema: () => Pick<Collection, "validate">,
): Promise<Validator> {
  const { validate } = schema(); // throws if the schema has faults
  if (defaults === undefined && Object.keys(defaultsInSchema(declared)).length === 0) return validate;
  const { required: _, ...others } = declared as { readonly required?: unknown };
  return compileSchema(others, "schema");
}

/** Checks a schema and compiles it to a validator. Throws StartError with places below `at`. */
export async function compileSchema(
  schema: unknown,
  at: string,
  options?: CompileOptions,
): Promise<Validator> {
  // Ajv takes longer to load than the rest of the program, so it is loaded only for a schema.
  const { compile } = await import("./compile.ts");
  return compile(schema, at, options);
}

/**
 * Throws StartError if a collection has timestamps and its schema declares or requires one of them. The message begins
 * with `at`.
 */
function requireTimesUndeclared(collection: AttributeSource, at: string): void {
  if (!collection.timestamps) return;
  const withoutTimes = { ...collection, timestamps: false };
  refuseTimestamps(at, (name) => {
    const { isDeclared, isRequired } = attributeInfo(withoutTimes, [name]);
    return isDeclared || isRequired === true;
  });
}

/**
 * Throws StartError if a collection has timestamps and an option such as `unique` names one of them. The option can be
 * invalid. The message begins with `at`.
 */
function requireTimesUnnamed(option: unknown, at: string, source: () => AttributeSource): void {
  const named = namesIn(option);
  const isNamed = (name: string) => named.includes(name);
  if (timestampNames.some(isNamed) && source().timestamps) refuseTimestamps(at, isNamed);
}

function refuseTimestamps(at: string, isNamed: (name: string) => boolean): void {
  const faults = timestampNames
    .filter(isNamed)
    .map((name) => `${at}: with timestamps, the service itself sets "${name}". Leave it out here.`);
  if (faults.length > 0) throw new StartError(faults.map((text) => ({ path: [], text })));
}

/** The attributes that an option names, as far as the option is valid. */
function namesIn(option: unknown): (string | undefined)[] {
  const items: unknown[] = Array.isArray(option) ? option : isObject(option) ? Object.keys(option) : [option];
  const names = items.flatMap((item) => (isObject(item) ? [item.attribute, item.attributes] : [item])).flat();
  return names.map((name) => (typeof name === "string" ? parsePath(name)?.[0] : undefined));
}
