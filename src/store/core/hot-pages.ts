/** Caches of what was read recently. */
import { lengthOf, type Page } from "../port/page.ts";

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

/** A page in the cache. */
interface HotPage<State> {
  /** The state of the collection at the last read. */
  state: State;
  page: Page;
}

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
  readonly #pages = new GenerationalCache<{ state: State; page: Page | undefined; weight: number }>({
    weight: 2 * 1024 * 1024,
    count: 4_000,
    weigh: ({ weight }) => weight,
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
    const hot = this.#pages.get(key);
    return hot?.page === undefined ? undefined : (hot as HotPage<State>);
  }

  /** Remembers what was read. */
  note(key: string, { state, page }: HotPage<State>): void {
    const isKept = this.#keepsFirst || this.#pages.get(key)?.state === state;
    const weight = key.length + overhead + (isKept ? lengthOf(page) : 0);
    if (weight <= maxPageWeight) this.#pages.set(key, { state, page: isKept ? page : undefined, weight });
    else this.#pages.delete(key);
  }
}
