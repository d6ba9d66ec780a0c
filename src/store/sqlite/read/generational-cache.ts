/** A cache of recently used values. */

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
