/** A cache of hot resources, that is, resources that were read recently. A hit takes a tenth of the time of a query. */
import type { Change } from "../../commit.ts";
import type { CollectionRecord } from "../../record.ts";
import type { Key, Stored } from "../../stored.ts";
import { GenerationalCache } from "./generational-cache.ts";

/** The longest text in the cache, in characters. A longer one would displace too many others. */
const maxTextLength = 64 * 1024;

/**
 * The cache never differs from the file. While a commit changes a resource, the cache does not contain this resource, and
 * reads use the file. While a delete can change resources of other collections (`onDelete`), reads of these collections use
 * the file too.
 */
export class HotResources {
  /** The weight of a resource is the length of its text, in characters. */
  readonly #cache = new GenerationalCache<Stored>({
    weight: 4 * 1024 * 1024,
    count: 10_000,
    weigh: ({ text }) => text.length,
  });
  /** The number of changes in progress, by the cache key of the resource. */
  readonly #changing = new Map<string, number>();
  readonly #affectedCollections: (collection: string) => readonly string[];
  /** The collections in which the deletes of each commit in progress can change other resources. */
  readonly #cascading = new Map<readonly Change[], readonly string[]>();

  /** `affectedCollections` returns the collections that a delete in a collection can change. */
  constructor(affectedCollections: (collection: string) => readonly string[] = () => []) {
    this.#affectedCollections = affectedCollections;
  }

  /** The resource, if it is in the cache. */
  get(collection: string, id: string): Stored | undefined {
    return this.#isCascading(collection) ? undefined : this.#cache.get(cacheKey(collection, id));
  }

  /** Adds a resource that was just read from the file. */
  keep(collection: string, resource: Stored): void {
    if (resource.text.length > maxTextLength || this.#isCascading(collection)) return;
    const key = cacheKey(collection, resource.id);
    if (!this.#changing.has(key)) this.#cache.set(key, resource);
  }

  /** Removes the resources of a commit before it is sent. Call `release` with the same array after the commit. */
  forget(changes: readonly Change[]): void {
    const deletedFrom = new Set<string>();
    for (const { key, next } of changes) {
      if (next === undefined) deletedFrom.add(key.collection);
      const changing = cacheKey(key.collection, key.id);
      this.#cache.delete(changing);
      this.#changing.set(changing, (this.#changing.get(changing) ?? 0) + 1);
    }
    const affected = [...deletedFrom].flatMap((collection) => this.#affectedCollections(collection));
    if (affected.length > 0) this.#cascading.set(changes, affected);
  }

  /** Removes resources that a delete of another resource has changed. */
  drop(keys: readonly Key[]): void {
    for (const { collection, id } of keys) this.#cache.delete(cacheKey(collection, id));
  }

  /** Whether a delete in progress can change resources of the collection. */
  #isCascading(collection: string): boolean {
    if (this.#cascading.size === 0) return false;
    return this.#cascading.values().some((collections) => collections.includes(collection));
  }

  /** The commit of these changes has its outcome. The resources can return to the cache. */
  release(changes: readonly Change[]): void {
    this.#cascading.delete(changes);
    for (const { key } of changes) {
      const changing = cacheKey(key.collection, key.id);
      const left = (this.#changing.get(changing) ?? 1) - 1;
      if (left === 0) this.#changing.delete(changing);
      else this.#changing.set(changing, left);
    }
  }
}

/** Names of collections contain no slash, so the key is unique. */
function cacheKey(collection: string, id: string): string {
  return `${collection}/${id}`;
}

/** The collections in which a delete in `collection` can delete resources or clear references, directly or not. */
export function affectedCollections(
  catalogue: ReadonlyMap<string, CollectionRecord>,
  collection: string,
): readonly string[] {
  const referring = [...catalogue.values()].filter(({ references = [] }) => references.length > 0);
  if (referring.length === 0) return none;
  const affected = new Set<string>();
  const open = new Set([collection]);
  for (const target of open) {
    for (const { name, references = [] } of referring) {
      if (!references.some((each) => each.collection === target && each.onDelete !== "restrict")) continue;
      affected.add(name);
      open.add(name);
    }
  }
  return [...affected];
}

const none: readonly never[] = [];
