/** A cache of resources that were read recently. */
import { LRUCache } from "lru-cache";
import type { NumberedCollection } from "../../core/catalogue.ts";
import type { Stored } from "../../port/stored.ts";
import type { Marks } from "../marks.ts";

/** The limits of the cache, in characters: of all resources, and of one. A longer one would displace too many others. */
const limits = { maxSize: 12 * 1024 * 1024, maxEntrySize: 64 * 1024 };

/** The approximate memory of a resource without its text, in characters. */
const overhead = 300;

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
  readonly #cache = new LRUCache<string, Kept>({
    ...limits,
    sizeCalculation: ({ resource }) => resource.text.length + overhead,
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
