/**
 * How a request reaches related resources: the relations that a caller can use, what to do about those that do not exist, and
 * the filter for the resources that refer to one.
 */

import { attributeInfo, declaresAttribute } from "../collection/attributes.ts";
import type { Collection } from "../collection/collection.ts";
import type { IdKind } from "../collection/ids.ts";
import { shortJson } from "../collection/messages.ts";
import { formatPath, type Path } from "../collection/paths.ts";
import { isPlural, pluralOf, singularOf } from "../collection/plurals.ts";
import { relationName } from "../collection/references.ts";
import type { Relation, UnnamedRelation } from "../collection/relations.ts";
import { type Filter, matchNone } from "./filter.ts";
import type { RelationsAdviser } from "./foreign-syntax.ts";
import type { Violations } from "./violations.ts";

/** Returns a collection as the caller sees it. */
export type ViewOf = (name: string) => Collection | undefined;

/** A relation that the caller can use, with the related collection as the caller sees it. */
export interface UsableRelation {
  relation: Relation;
  target: Collection;
}

/**
 * The relation with this name; `undefined` if it does not exist, or if the caller cannot see the attribute with the ids.
 * `collection` is the collection as the caller sees it.
 */
export function usableRelation(
  collection: Collection,
  name: string,
  viewOf: ViewOf,
): UsableRelation | undefined {
  const relation = collection.relations.get(name);
  const target = relation && targetOf(relation, collection, viewOf);
  return target && { relation, target };
}

/** The related collection; `undefined` if it does not exist, or if the caller cannot see the attribute with the ids. */
function targetOf(
  { kind, collection: name, path }: Pick<Relation, "kind" | "collection" | "path">,
  collection: Collection,
  viewOf: ViewOf,
): Collection | undefined {
  const target = viewOf(name);
  const holder = kind === "reference" ? collection : target;
  return holder?.visibility?.hidden.has(path[0]) === true ? undefined : target;
}

/** The names of the relations that the caller can use. */
export function usableNames(collection: Collection, viewOf: ViewOf): string[] {
  return [...collection.relations.keys()].filter(
    (name) => usableRelation(collection, name, viewOf) !== undefined,
  );
}

interface AdviceContext {
  viewOf: ViewOf;
  violations: Pick<Violations, "suggest">;
}

/**
 * What to do about a name that is not a relation, as a space and sentences: a relation that exists, or how to declare one. It does not
 * depend on whether the collections of the declaration exist.
 */
export function relationAdvice(
  name: string,
  collection: Collection,
  { viewOf, violations }: AdviceContext,
): string {
  const unnamed = unnamedAdvice(name, collection, viewOf);
  if (unnamed !== undefined) return unnamed;
  const names = usableNames(collection, viewOf);
  const nearest = names.length > 0 ? violations.suggest(name, () => names) : "";
  if (nearest !== "") return nearest;
  const other = collection.unnamed.find((each) => targetOf(each, collection, viewOf) !== undefined);
  if (names.length === 0 && other !== undefined) return nameIt(other, collection);
  const known = names.length > 0 ? ` Its relations: ${names.join(", ")}` : " The collection has no relations";
  // A relation cannot have the name of an attribute.
  return declaresAttribute(collection, name) ? known : `${known}. ${declarationOf(name, collection.name)}`;
}

/** How to declare a relation with this name: a sentence with the usual names of its attribute and its collection. */
function declarationOf(name: string, own: string): string {
  if (!relationName.test(name))
    return 'The option "references" of a collection declares relations, such as "references": {"authorId":"users"}';
  const [holder, target, as] = isPlural(name) ? [name, own, singularOf(own)] : [own, pluralOf(name), name];
  const reference = { [`${as}Id`]: { collection: target, as, inverse: holder } };
  return `To declare this one, give "${holder}" the option "references", such as "references": ${JSON.stringify(reference)}`;
}

/** Returns what is wrong with the relations in a text such as `author,comments`, with what to do about the first wrong one. */
export function relationsAdviser(collection: Collection, context: AdviceContext): RelationsAdviser {
  return (text) => {
    const names = text.split(",").map((each) => each.trim().split(/[.(]/, 1)[0] ?? "");
    const wrong = names.find((name) => usableRelation(collection, name, context.viewOf) === undefined);
    if (wrong === undefined) return "";
    return ` ${shortJson(wrong)} is not a relation of "${collection.name}".${relationAdvice(wrong, collection, context)}`;
  };
}

/** How to give a relation its name, as a space and a sentence; `undefined` if no visible relation could have the name. */
export function unnamedAdvice(name: string, collection: Collection, viewOf: ViewOf): string | undefined {
  const found = collection.unnamed.find(
    (each) => each.name === name && targetOf(each, collection, viewOf) !== undefined,
  );
  return found && nameIt(found, collection);
}

/** How to name a relation: a space and a sentence. `collection` has the relation. */
function nameIt(
  { name, kind, collection: related, path }: UnnamedRelation,
  { name: own }: Pick<Collection, "name">,
): string {
  const isReference = kind === "reference";
  const [option, holder] = isReference ? ["as", own] : ["inverse", related];
  const attribute = formatPath(path);
  // The attribute with the ids has this name.
  const value = name === attribute ? "a name that no attribute has" : shortJson(name);
  return ` To name the relation to "${related}", set "${option}" of the reference "${attribute}" in "${holder}" to ${value}`;
}

/** What a reference contains: one id as a string, as a number or as any of both, or a list of ids. */
export type ReferenceType = "string" | "number" | "any" | "array";

/** What the reference at a path contains. `collection` has the reference. */
export function typeOfReference(collection: Collection, path: Path): ReferenceType {
  const { types } = attributeInfo(collection, path);
  if (types === undefined) return "any";
  return types.has("array") ? "array" : types.has("number") ? "number" : "string";
}

/** The value that a reference to a resource of `target` needs: a list with its id, or its id as the schema allows it. */
export function referenceTo(
  collection: Collection,
  path: Path,
  target: { idKind: IdKind; id: string },
): string | number | readonly (string | number)[] {
  const { types, itemTypes } = attributeInfo(collection, path);
  const isList = types?.has("array") === true;
  const allowed = isList ? itemTypes : types;
  const isNumber = (allowed?.has("string") ?? target.idKind === "uuid") === false;
  const id = isNumber ? Number(target.id) : target.id;
  return isList ? [id] : id;
}

/** The resources of a collection that have an id in the reference at `path`. */
export function referringTo(collection: Collection, path: Path, id: string): Filter {
  const number = Number(id);
  const asNumber = Number.isSafeInteger(number) && String(number) === id ? [number] : [];
  const type = typeOfReference(collection, path);
  if (type === "array") return { kind: "contains", path, values: [id, ...asNumber] };
  const values = type === "number" ? asNumber : type === "string" ? [id] : [id, ...asNumber];
  return values.length === 0 ? matchNone : { kind: "in", path, values };
}

/** The query parameter with the meaning of `referringTo`, percent-encoded. */
export function referringParameter(collection: Collection, path: Path, id: string): string {
  const operator = typeOfReference(collection, path) === "array" ? "contains" : "eq";
  return `${encodeURIComponent(formatPath(path))}:${operator}=${encodeURIComponent(id)}`;
}
