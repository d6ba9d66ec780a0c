/** References: attributes that contain the ids of other resources. The service refuses an id that does not exist. */
import { readMembers } from "../errors/start-faults.ts";
import { StartError } from "../errors.ts";
import { isObject } from "../json/values.ts";
import { type AttributeSource, attributeInfo } from "./attributes.ts";
import { didYouMean, mustBe } from "./messages.ts";
import { formatPath, type Path, parsePath, valueAt } from "./paths.ts";
import type { Attributes } from "./resource.ts";

/**
 * What happens when a client deletes a resource that others refer to: the service refuses the delete, deletes them too, or
 * removes the id from them.
 */
export type OnDelete = "restrict" | "cascade" | "clear";

/** An attribute that contains the id of a resource, or a list of ids. */
export interface Reference {
  path: Path;
  /** The name of the collection that contains these resources. */
  collection: string;
  onDelete: OnDelete;
  /** The declared name of the relation to the resource; `undefined`: it is derived from the attribute (`relations.ts`). */
  as?: string | undefined;
  /** The declared name of the relation back; `undefined`: it is derived from the name of the collection. */
  inverse?: string | undefined;
}

/** The names of relations. They are also part of paths and of the parameter `embed`. */
export const relationName = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;

/** A reference in a configuration: the name of the collection, alone or with more. */
export type ReferenceDeclaration =
  | string
  | {
      readonly collection: string;
      readonly onDelete?: OnDelete;
      /** The name under which a request finds the resource: `?embed=author`. @default the attribute without "Id" */
      readonly as?: string;
      /** The name under which a request for the resource finds the resources that refer to it. @default the name of the collection */
      readonly inverse?: string;
    };

const onDeletes: readonly unknown[] = ["restrict", "cascade", "clear"] satisfies OnDelete[];

/** Reads the option `references`: `{ "authorId": "users" }`. Throws StartError with every fault and its place below `at`. */
export function readReferences(
  declared: unknown,
  at: string,
  source: () => AttributeSource,
): readonly Reference[] {
  if (declared === undefined) return [];
  if (!isObject(declared)) throw mustBe(at, 'an object such as { "authorId": "users" }', declared);
  const all = readMembers(declared, (item, name) => {
    const reference = readOne(name, item, `${at}.${name}`);
    requireFit(reference, `${at}.${name}`, source());
    return reference;
  });
  return all.map(([, reference]) => reference);
}

function readOne(name: string, item: unknown, at: string): Reference {
  const path = parsePath(name);
  if (path === undefined || path[0] === "id") {
    throw new StartError(`${at}: only attributes such as "authorId" or "author.id" can refer to resources.`);
  }
  const fields = isObject(item) ? item : { collection: item };
  const { collection, onDelete = "restrict", as, inverse, ...others } = fields;
  if (typeof collection !== "string" || !onDeletes.includes(onDelete) || Object.keys(others).length > 0)
    throw mustBe(
      at,
      'a collection such as "users" or { "collection": "users", "onDelete": "restrict" | "cascade" | "clear", "as": "author", "inverse": "articles" }',
      item,
    );
  const names = { as: readRelationName(as, `${at}.as`), inverse: readRelationName(inverse, `${at}.inverse`) };
  return { path, collection, onDelete: onDelete as OnDelete, ...names };
}

function readRelationName(name: unknown, at: string): string | undefined {
  if (name === undefined || (typeof name === "string" && relationName.test(name))) return name;
  throw mustBe(at, 'a letter followed by up to 62 letters, digits, "_" or "-"', name);
}

function requireFit({ path, onDelete }: Reference, at: string, collection: AttributeSource): void {
  const info = attributeInfo(collection, path);
  const types = [...(info.types ?? ["string"])].filter((type) => type !== "null");
  const isFit = types.every((type) => type === "string" || type === "number" || type === "array");
  if (info.alternatives !== undefined || types.length !== 1 || !isFit) {
    throw new StartError(
      `${at}: the schema must allow an id here (a string, or a number if ids are integers) or a list of ids.`,
    );
  }
  if (onDelete !== "clear") return;
  if (info.isRequired === true && types[0] !== "array")
    throw new StartError(`${at}: the schema requires the attribute, so a delete cannot clear it.`);
  if ((info.minItems ?? 0) > 0)
    throw new StartError(`${at}: the schema requires items in the list, so a delete cannot clear them.`);
}

/** Throws StartError with every reference to a collection that is not declared. The places begin with `at`. */
export function requireDeclaredCollections(
  references: readonly Reference[],
  at: string,
  collections: readonly string[],
): void {
  const faults = references
    .filter(({ collection }) => !collections.includes(collection))
    .map(({ path, collection }) => {
      const name = formatPath(path);
      const text = `${at}.${name}: no collection "${collection}" is declared.${didYouMean(collection, collections)}`;
      return { path: [name], text };
    });
  if (faults.length > 0) throw new StartError(faults);
}

/** An id in a reference of a resource. */
export interface ReferencedId {
  reference: Reference;
  /** The path of the id in the resource. */
  at: readonly (string | number)[];
  id: string;
}

/** The ids in the references of a resource. */
export function referencedIds(attributes: Attributes, references: readonly Reference[]): ReferencedId[] {
  return references.flatMap((reference): ReferencedId[] => {
    const { path } = reference;
    const value = valueAt(attributes, path);
    if (!Array.isArray(value)) return isId(value) ? [{ reference, at: path, id: String(value) }] : [];
    return value.flatMap((item: unknown, n) =>
      isId(item) ? [{ reference, at: [...path, n], id: String(item) }] : [],
    );
  });
}

/** Removes an id from the attribute of a reference. Changes `attributes`. */
export function clearReference(attributes: Attributes, { path }: Reference, id: string): void {
  const value = valueAt(attributes, path);
  if (value === undefined) return;
  const object = valueAt(attributes, path.slice(0, -1)) as Attributes;
  const name = path.at(-1) as string;
  if (Array.isArray(value)) object[name] = value.filter((item) => !isId(item) || String(item) !== id);
  else delete object[name];
}

function isId(value: unknown): value is string | number {
  return typeof value === "string" || Number.isSafeInteger(value);
}
