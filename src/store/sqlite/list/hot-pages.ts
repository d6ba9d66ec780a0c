/** A cache of hot pages, that is, pages that were read recently. A page in the cache costs only a read of the head row. */

import type { PageQuery } from "../../core/related.ts";
import type { Page } from "../../port/page.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { GenerationalCache } from "../read/generational-cache.ts";

/** The heaviest page in the cache, in characters. A heavier one would displace too many others. */
const maxPageWeight = 256 * 1024;

/** The approximate memory of a page without the texts of its resources, in characters. */
const overhead = 500;

interface CachedPage {
  page: Page;
  /** The length of the page and of its cache key, in characters. */
  weight: number;
}

/**
 * A page is valid for one sequence of its collection, because every change of a resource raises the sequence. The cache holds
 * only the latest page of a list. Otherwise each write would leave a page that no request can find again.
 */
export class HotPages {
  readonly #pages = new GenerationalCache<CachedPage>({
    weight: 2 * 1024 * 1024,
    count: 1_000,
    weigh: ({ weight }) => weight,
  });

  /** The cached page for a sequence, or the result of `read`. */
  find({ number }: NumberedCollection, query: PageQuery, at: { sequence: number; read: () => Page }): Page {
    const key = `${number} ${JSON.stringify(query)}`;
    const cached = this.#pages.get(key);
    if (cached?.page.sequence === at.sequence) return cached.page;
    const page = at.read();
    let weight = key.length + overhead;
    for (const { text } of page.items) weight += text.length;
    if (weight <= maxPageWeight) this.#pages.set(key, { page, weight });
    else if (cached !== undefined) this.#pages.delete(key);
    return page;
  }
}
