/** A cache of resources that were read recently. */

import type { NumberedCollection } from "../../core/catalogue.ts";
import type { Stored } from "../../port/stored.ts";
import type { Marks } from "../marks.ts";

/** The limits of one generation. A cache has two, so it can contain twice as much. */
export interface GenerationLimits<Value> {
  weight: number;
  /** The weight of a value. It must never change. */
  weigh(value: Value): number;
  count: number;
}

/**
 * A cache with two generations. New values go into the young generation, and so do old values when they are used again. When
 * the young generation is full, it becomes the old one, and the previous old one is dropped. Its hit rate is nearly that of an
 * LRU cache, and a hit in the young generation moves nothing.
 */
export class GenerationalCache<Value> {
  readonly #limits: GenerationLimits<Value>;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();
  #weight = 0;

  constructor(limits: GenerationLimits<Value>) {
    this.#limits = limits;
  }

  /** The value, if it is still in the cache. */
  get(key: string): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: string, value: Value): void {
    this.#subtractWeight(key);
    const weight = this.#limits.weigh(value);
    if (this.#weight + weight > this.#limits.weight || this.#young.size >= this.#limits.count) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#weight = 0;
    }
    this.#weight += weight;
    this.#young.set(key, value);
  }

  delete(key: string): void {
    this.#old.delete(key);
    this.#subtractWeight(key);
    this.#young.delete(key);
  }

  #subtractWeight(key: string): void {
    const young = this.#young.get(key);
    if (young !== undefined) this.#weight -= this.#limits.weigh(young);
  }
}

/** The longest text in the cache, in characters. A longer one would displace too many others. */
const maxTextLength = 64 * 1024;

/** A resource with its mark at the time of the read. */
interface Kept {
  resource: Stored;
  place: number;
  mark: number;
}

/**
 * The cache never differs from the file, although other threads write too. The writer marks a resource before the commit that
 * changes it becomes visible. From then on, the cache does not return the old text.
 */
export class HotResources {
  readonly #marks: Marks;
  /** The weight of a resource is the length of its text, in characters. */
  readonly #cache = new GenerationalCache<Kept>({
    weight: 4 * 1024 * 1024,
    count: 10_000,
    weigh: ({ resource }) => resource.text.length,
  });

  constructor(marks: Marks) {
    this.#marks = marks;
  }

  /** The resource, if it is in the cache. */
  get(collection: string, id: string): Stored | undefined {
    const kept = this.#cache.get(cacheKey(collection, id));
    return kept !== undefined && kept.mark === this.#marks.at(kept.place) ? kept.resource : undefined;
  }

  /**
   * Adds a resource that was read from the file. `ended` is `Marks.ended` from before the snapshot of the read began. If the
   * resource was marked by a later transaction, the snapshot may not have the change, so the cache does not take it.
   */
  keep({ number, name }: NumberedCollection, resource: Stored, ended: number): void {
    if (resource.text.length > maxTextLength) return;
    const place = this.#marks.placeOf(number, resource.id);
    const mark = this.#marks.at(place);
    if (((mark - ended) | 0) > 0) return;
    this.#cache.set(cacheKey(name, resource.id), { resource, place, mark });
  }
}

/** Names of collections contain no slash, so the key is unique. */
function cacheKey(collection: string, id: string): string {
  return `${collection}/${id}`;
}
