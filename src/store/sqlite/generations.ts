/** What was used lately, up to a weight. */

/** Bounds of one generation; there are two, so twice as much is kept at most. */
export interface GenerationLimits {
  weight: number;
  /** So that light things do not pile up by the number. */
  count: number;
}

/**
 * Values by name in two generations. When the young one is full it becomes the old one, and what was old is forgotten
 * unless somebody asked for it meanwhile: nearly as good a choice as the least recently used, and a hit moves nothing.
 */
export class Generations<Value> {
  readonly #limits: GenerationLimits;
  #young = new Map<string, { value: Value; weight: number }>();
  #old = new Map<string, { value: Value; weight: number }>();
  #weight = 0;

  constructor(limits: GenerationLimits) {
    this.#limits = limits;
  }

  /** The value, if it is still there. */
  get(name: string): Value | undefined {
    const young = this.#young.get(name);
    if (young !== undefined) return young.value;
    const old = this.#old.get(name);
    if (old !== undefined) this.set(name, old.value, old.weight);
    return old?.value;
  }

  /** Keeps a value. */
  set(name: string, value: Value, weight: number): void {
    this.#weight -= this.#young.get(name)?.weight ?? 0;
    if (this.#weight + weight > this.#limits.weight || this.#young.size >= this.#limits.count) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#weight = 0;
    }
    this.#weight += weight;
    this.#young.set(name, { value, weight });
  }

  /** Forgets a value. */
  delete(name: string): void {
    this.#old.delete(name);
    this.#weight -= this.#young.get(name)?.weight ?? 0;
    this.#young.delete(name);
  }
}
