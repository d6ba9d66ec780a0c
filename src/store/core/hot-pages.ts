/** A cache of pages of lists that were read recently. */
import { LRUCache } from "lru-cache";
import { lengthOf, type Page } from "../port/page.ts";

/** A page in the cache. */
interface HotPage<State> {
  /** The state of the collection at the last read. */
  state: State;
  page: Page;
}

/** The pages in the cache, in characters. */
const maxWeight = 4 * 1024 * 1024;

/** The heaviest page in the cache, in characters. A heavier one would displace too many others. */
const maxPageWeight = 256 * 1024;

/** The approximate memory of a page without the texts of its resources, in characters. */
const overhead = 500;

/**
 * Pages of lists. A page is valid for one state of its collection. The cache has only the latest page of a list. Otherwise each write
 * would leave a page that no request can find again.
 */
export class HotPages<State> {
  readonly #keepsFirst: boolean;
  readonly #pages = new LRUCache<string, Pick<HotPage<State>, "state"> & Partial<HotPage<State>>>({
    maxSize: maxWeight,
    maxEntrySize: maxPageWeight,
    sizeCalculation: ({ page }, key) => key.length + overhead + (page === undefined ? 0 : lengthOf(page)),
  });

  /**
   * With `keepsFirst`, a page is kept when it is read. Otherwise it is kept when its list is read for the second time in the same state,
   * so lists cost no more while many writes arrive.
   */
  constructor({ keepsFirst }: { keepsFirst: boolean }) {
    this.#keepsFirst = keepsFirst;
  }

  /** The latest page of a list, if it is in the cache. */
  find(key: string): HotPage<State> | undefined {
    const { state, page } = this.#pages.get(key) ?? {};
    return page === undefined ? undefined : { state: state as State, page };
  }

  /** Remembers what was read. */
  note(key: string, { state, page }: HotPage<State>): void {
    const isKept = this.#keepsFirst || this.#pages.peek(key)?.state === state;
    this.#pages.set(key, isKept ? { state, page } : { state });
  }
}
