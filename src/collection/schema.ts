/** Declarations become collections here: their schema is checked, closed and compiled. */
import { StartError } from "../errors.ts";
import { type AttributesDeclaration, readAttributeRules } from "./attribute-rules.ts";
import { type Collection, collectionName, openCollection } from "./collection.ts";
import { type Default, type DefaultsDeclaration, readDefaults } from "./defaults.ts";
import { type IdKind, idKinds } from "./ids.ts";
import { readIndexes, readSearch } from "./indexes.ts";
import { requireNamed } from "./named.ts";
import { type ReferenceDeclaration, readReferences } from "./refers.ts";
import type { Validator } from "./resource.ts";
import { shown } from "./shown.ts";
import { sightOf } from "./sight.ts";
import { requireUnclaimed } from "./unclaimed.ts";
import { readUnique, type UniqueDeclaration } from "./unique.ts";

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

/** A collection as declared. Throws StartError when the declaration is wrong. */
export async function defineCollection(
  name: string,
  declaration: CollectionDeclaration,
): Promise<Collection> {
  if (!collectionName.test(name)) {
    throw new StartError(
      `collections: "${name}" cannot be the name of a collection; a name is a letter followed by at most 62 letters, digits, "_" or "-".`,
    );
  }
  const { id = "uuid", schema } = declaration;
  if (typeof id !== "string" || !Object.hasOwn(idKinds, id)) {
    throw new StartError(
      `collections.${name}.id must be one of ${Object.keys(idKinds).join(", ")}, and is ${shown(id)}.`,
    );
  }
  const indexes = readIndexes(declaration.indexes, `collections.${name}.indexes`);
  const search = readSearch(declaration.search, `collections.${name}.search`);
  const requirePreconditions = readTruth(
    declaration.requirePreconditions,
    `collections.${name}.requirePreconditions`,
  );
  const timestamps = readTruth(declaration.timestamps, `collections.${name}.timestamps`);
  const collection = {
    ...openCollection(name),
    idKind: id,
    indexes,
    search,
    requirePreconditions,
    timestamps,
  };
  const whole = schema === undefined ? collection : await withSchema(collection, schema);
  requireNamed(whole, `collections.${name}`);
  if (timestamps) requireUnclaimed(declaration, `collections.${name}`, whole);
  const unique = readUnique(declaration.unique, `collections.${name}.unique`, whole);
  const references = readReferences(declaration.references, `collections.${name}.references`, whole);
  const defaults = await defaultsOf(declaration.defaults, `collections.${name}`, schema);
  const ready = { ...whole, unique, references, defaults };
  const attributeRules = readAttributeRules(declaration.attributes, `collections.${name}`, ready);
  return { ...ready, attributeRules, sight: sightOf(attributeRules, []) };
}

async function withSchema(collection: Collection, schema: unknown): Promise<Collection> {
  const validate = await compileSchema(schema, `collections.${collection.name}.schema`);
  return { ...collection, schema: JSON.stringify(schema), validate };
}

function readTruth(value: unknown, at: string): boolean {
  if (value === undefined) return false;
  if (typeof value === "boolean") return value;
  throw new StartError(`${at} must be true or false, and is ${shown(value)}.`);
}

/** A resource may lack what a client must send: only what the defaults say is looked at. */
async function defaultsOf(
  declared: unknown,
  at: string,
  schema: { readonly required?: unknown } = {},
): Promise<readonly Default[]> {
  if (declared === undefined) return [];
  const { required: _, ...others } = schema;
  return readDefaults(declared, `${at}.defaults`, await compileSchema(others, `${at}.schema`));
}

/** Checks a schema and makes a validator of it. Throws StartError naming the place below `at`. */
export async function compileSchema(schema: unknown, at: string): Promise<Validator> {
  // Ajv takes longer to load than the rest of the program; without a schema nobody waits for it.
  const { compile } = await import("./compile.ts");
  return compile(schema, at);
}
