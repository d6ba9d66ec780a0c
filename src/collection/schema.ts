/** Makes collections of declarations, part by part, so that all faults are reported at once. */
import { StartFaults } from "../errors/start-faults.ts";
import { StartError } from "../errors.ts";
import {
  type AttributesDeclaration,
  readAttributeRules,
  requireTold,
  requireUnsearched,
  rulesOfSchema,
} from "./attribute-rules.ts";
import { type Collection, collectionName, openCollection } from "./collection.ts";
import { type DefaultsDeclaration, readDefaults } from "./defaults.ts";
import { type IdKind, idKinds } from "./ids.ts";
import { readIndexes, readSearch } from "./indexes.ts";
import { requireAttribute, requireText } from "./named.ts";
import type { Path } from "./paths.ts";
import { type Reference, type ReferenceDeclaration, readReferences } from "./refers.ts";
import type { Validator } from "./resource.ts";
import { shown } from "./shown.ts";
import { requireTimesUndeclared, requireTimesUnnamed } from "./unclaimed.ts";
import { readUnique, type Unique, type UniqueDeclaration } from "./unique.ts";
import { type AttributeRule, visibilityOf } from "./visibility.ts";

/** What a configuration says about one collection. */
export interface CollectionDeclaration {
  /** How new ids are made. @default "uuid" */
  readonly id?: IdKind;
  /** A JSON Schema (2020-12) that the attributes must fit. @default anything fits */
  readonly schema?: object;
  /** What lists are made quick by: attributes, or lists of them; `-` is descending. @default none */
  readonly indexes?: readonly (string | readonly string[])[];
  /** The attributes that `q` searches. @default none */
  readonly search?: readonly string[];
  /** Attributes of which no two resources may have the same value. @default none */
  readonly unique?: readonly UniqueDeclaration[];
  /** Attributes that hold ids, and the collections that they lead to. @default none */
  readonly references?: Readonly<Record<string, ReferenceDeclaration>>;
  /** Whether PUT, PATCH and DELETE must say which state of the resource they are meant for. @default false */
  readonly requirePreconditions?: boolean;
  /** What new resources get where the client sent nothing; `"$now"` is the time of the creation. @default none */
  readonly defaults?: DefaultsDeclaration;
  /** Whether every resource gets `createdAt` and `updatedAt`, which the service keeps itself. @default false */
  readonly timestamps?: boolean;
  /** Attributes that clients must leave as they are, that nobody is told, or that are for some roles. @default none */
  readonly attributes?: AttributesDeclaration;
}

/** A collection as declared. Throws StartError with all faults of the declaration. */
export async function defineCollection(
  name: string,
  declaration: CollectionDeclaration,
): Promise<Collection> {
  const faults = new StartFaults();
  const { whole } = await readCollection(name, declaration, faults);
  faults.throwIfAny();
  return whole();
}

/** A collection whose declaration may have faults. A function throws a StartError without faults if its part has some. */
export interface CollectionReading {
  references: () => readonly Reference[];
  /** The collection with its schema, without the other options. */
  described: () => Collection;
  /** The collection with all options. */
  whole: () => Collection;
}

/** Reads a declaration part by part. Adds its faults, each below the name of its part. */
export async function readCollection(
  name: string,
  declaration: CollectionDeclaration,
  faults: StartFaults,
): Promise<CollectionReading> {
  const at = `collections.${name}`;
  const part: Part = (option, read) =>
    faults.read([option], () => read(declaration[option], `${at}.${option}`));

  faults.read([], () => requireName(name));
  const idKind = part("id", readIdKind);
  const requirePreconditions = part("requirePreconditions", readBoolean);
  const timestamps = part("timestamps", readBoolean);
  const schema = await faults.wait(["schema"], () => schemaOf(declaration.schema, `${at}.schema`));
  const described = faults.read([], () => ({
    ...openCollection(name),
    ...schema(),
    timestamps: timestamps(),
  }));
  const lists = readLists(part, described);
  const links = readLinks(part, described);
  const withoutRequired = await faults.wait([], () => validatorForDefaults(declaration, schema));
  const defaults = part("defaults", (declared, place) => {
    requireTimesUnnamed(declared, place, described);
    return readDefaults(declared, place, withoutRequired);
  });
  const attributeRules = readRules(part, described, { ...lists, ...links });
  return {
    references: links.references,
    described: faults.read([], () =>
      Object.defineProperty({ ...described() }, "idKind", { get: idKind, enumerable: true }),
    ),
    whole: () => ({
      ...described(),
      idKind: idKind(),
      indexes: lists.indexes(),
      search: lists.search(),
      unique: links.unique(),
      references: links.references(),
      requirePreconditions: requirePreconditions(),
      defaults: defaults(),
      attributeRules: attributeRules(),
      visibility: visibilityOf(attributeRules(), []),
    }),
  };
}

/** Reads an option of a collection; `read` gets the declared value, and the place that messages begin with. */
type Part = <Value>(
  option: keyof CollectionDeclaration,
  read: (declared: unknown, at: string) => Value,
) => () => Value;

/** The options that make lists quick. */
function readLists(part: Part, described: () => Collection) {
  return {
    indexes: part("indexes", (declared, at) =>
      readIndexes(declared, at, (path, place) => requireAttribute(path, place, described())),
    ),
    search: part("search", (declared, at) =>
      readSearch(declared, at, (path, place) => requireText(path, place, described())),
    ),
  };
}

/** The options about several resources: unique attributes and references. */
function readLinks(part: Part, described: () => Collection) {
  return {
    unique: part("unique", (declared, at) => {
      requireTimesUnnamed(declared, at, described);
      return readUnique(declared, at, described);
    }),
    references: part("references", (declared, at) => {
      requireTimesUnnamed(declared, at, described);
      return readReferences(declared, at, described);
    }),
  };
}

/** The options of single attributes, with those in the schema. */
function readRules(
  part: Part,
  described: () => Collection,
  { search, unique }: { search: () => readonly Path[]; unique: () => readonly Unique[] },
): () => readonly AttributeRule[] {
  part("schema", (_, at) => requireTimesUndeclared(described(), at));
  const schemaRules = part("schema", (_, at) => rulesOfSchema(described().schema, at));
  const rules = part("attributes", (declared, at) =>
    readAttributeRules(declared, at, { describing: described, schemaRules }),
  );
  part("search", (_, at) => requireUnsearched(rules(), search(), at));
  part("unique", (_, at) => requireTold(rules(), unique(), at));
  return rules;
}

function requireName(name: string): void {
  if (collectionName.test(name)) return;
  throw new StartError(
    `collections: "${name}" cannot be the name of a collection. A name is a letter followed by up to 62 letters, digits, "_" or "-".`,
  );
}

function readIdKind(declared: unknown, at: string): IdKind {
  const id = declared === undefined ? "uuid" : declared;
  if (typeof id === "string" && Object.hasOwn(idKinds, id)) return id as IdKind;
  const kinds = Object.keys(idKinds).map((kind) => `"${kind}"`);
  throw new StartError(`${at} must be ${kinds.join(" or ")}, not ${shown(id)}.`);
}

function readBoolean(declared: unknown, at: string): boolean {
  if (declared === undefined) return false;
  if (typeof declared === "boolean") return declared;
  throw new StartError(`${at} must be true or false, not ${shown(declared)}.`);
}

async function schemaOf(declared: unknown, at: string): Promise<Pick<Collection, "schema" | "validate">> {
  const { schema, validate } = openCollection("");
  if (declared === undefined) return { schema, validate };
  return { validate: await compileSchema(declared, at), schema: JSON.stringify(declared) };
}

/** A resource may lack what a client must send: only what the defaults say is looked at. */
async function validatorForDefaults(
  { defaults, schema: declared = {} }: CollectionDeclaration,
  schema: () => Pick<Collection, "validate">,
): Promise<Validator> {
  const { validate } = schema(); // throws where the schema has faults
  if (defaults === undefined) return validate;
  const { required: _, ...others } = declared as { readonly required?: unknown };
  return compileSchema(others, "schema");
}

/** Checks a schema and makes a validator of it. Throws StartError naming the place below `at`. */
export async function compileSchema(schema: unknown, at: string): Promise<Validator> {
  // Ajv takes longer to load than the rest of the program; without a schema nobody waits for it.
  const { compile } = await import("./compile.ts");
  return compile(schema, at);
}
