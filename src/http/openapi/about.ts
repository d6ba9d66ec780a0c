/** The input for the description of one collection, or of a nested path: names, examples and rules. This file describes nothing itself. */
import type { Collection } from "../../collection/collection.ts";
import type { Relation } from "../../collection/relations.ts";
import type { InDocument, Part } from "./described.ts";
import type { Examples } from "./examples.ts";
import { folded, type Names, pascalCase } from "./names.ts";

/** A collection in a document: a declared one, or any collection of open mode. */
export interface About extends InDocument {
  collection: Collection;
  names: Names;
  /** The tag of its operations. */
  tag: string;
  /** The parameters of its path. */
  path: readonly Part[];
  /** Resources as examples; `undefined` if none could be made. */
  examples: Examples | undefined;
}

/** A nested path: the collection of the resources below the parent. */
export interface Nested extends About {
  parent: About;
  relation: Relation;
  /** The ids of its operations, such as `listUserArticles`. */
  ids: NestedIds;
}

interface NestedIds {
  list: string;
  query: string;
  create: string;
}

/**
 * The nested paths below the resources of a collection. Every caller can read the document, so it leaves out relations by
 * attributes that are hidden from some callers. Adds the ids of their operations to `taken`.
 */
export function nestedBelow(parent: About, all: readonly About[], taken: Set<string>): Nested[] {
  return [...parent.collection.relations.values()].flatMap((relation) => {
    const about = all.find(({ collection }) => collection.name === relation.collection);
    if (relation.kind !== "inverse" || about === undefined || relation.isRestricted) return [];
    return [{ ...about, parent, relation, ids: freeIds(parent, relation, taken) }];
  });
}

function freeIds({ names }: About, relation: Relation, taken: Set<string>): NestedIds {
  const base = names.one + pascalCase(relation.name);
  for (let n = 1; ; n++) {
    const name = n === 1 ? base : `${base}${n}`;
    const ids = { list: `list${name}`, query: `query${name}`, create: `createIn${name}` };
    const all = Object.values(ids).map(folded);
    if (all.some((id) => taken.has(id))) continue;
    for (const id of all) taken.add(id);
    return ids;
  }
}

/** One resource of the collection in words: `an article`. */
export function asOne({ names }: Pick<About, "names">): string {
  const words = inWords(names.one);
  return `${/^[aeiou]/.test(words) ? "an" : "a"} ${words}`;
}

/** The resources of the collection in words: `articles`. */
export function asMany({ names }: Pick<About, "names">): string {
  return inWords(names.many);
}

function inWords(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, " ").toLowerCase();
}
