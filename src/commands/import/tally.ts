import type { Place } from "./pieces.ts";

/** Something that befell parts of the input: how many, and the first of them. */
export class Tally {
  readonly #shown: number;
  readonly #first: { place: Place; what: string }[] = [];
  #count = 0;

  constructor(shown: number) {
    this.#shown = shown;
  }

  get count(): number {
    return this.#count;
  }

  add(place: Place, what = ""): void {
    this.#count++;
    if (this.#first.length < this.#shown) this.#first.push({ place, what });
  }

  /** The first ones, in the order of the input. */
  first(): readonly { place: Place; what: string }[] {
    return this.#first.toSorted(
      ({ place: a }, { place: b }) => a.line - b.line || (a.element ?? 0) - (b.element ?? 0),
    );
  }
}
