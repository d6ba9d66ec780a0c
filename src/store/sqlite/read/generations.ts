/** What was used lately, up to a weight. */

/** Bounds of one generation; there are two, so twice as much is kept at most. */
export interface GenerationLimits<Value> {
  weight: number;
  /** What a value weighs: the same whenever it is asked. */
  weigh(value: Value): number;
  /** So that light things do not pile up by the number. */
  count: number;
}

/**
 * Values by name in two generations. When the young one is full it becomes the old one, and what was old is forgotten
 * unless somebody asked for it meanwhile: nearly as good a choice as the least recently used, and a hit moves nothing.
 */
export class Generations<Value> {
  readonly #limits: GenerationLimits<Value>;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();
  #weight = 0;

  constructor(limits: GenerationLimits<Value>) {
    this.#limits = limits;
  }

  /** The value, if it is still there. */
  get(name: string): Value | undefined {
    const young = this.#young.get(name);
    if (young !== undefined) return young;
    const old = this.#old.get(name);
    if (old !== undefined) this.set(name, old);
    return old;
  }

  /** Keeps a value. */
  set(name: string, value: Value): void {
    this.#lighten(name);
    const weight = this.#limits.weigh(value);
    if (this.#weight + weight > this.#limits.weight || this.#young.size >= this.#limits.count) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#weight = 0;
    }
    this.#weight += weight;
    this.#young.set(name, value);
  }

  /** Forgets a value. */
  delete(name: string): void {
    this.#old.delete(name);
    this.#lighten(name);
    this.#young.delete(name);
  }

  #lighten(name: string): void {
    const known = this.#young.get(name);
    if (known !== undefined) this.#weight -= this.#limits.weigh(known);
  }
}
