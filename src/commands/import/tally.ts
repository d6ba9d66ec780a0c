import type { Location } from "./items.ts";

/** One counted item. */
export interface Counted {
  location: Location;
  text: string;
}

/** Counts items of the input, and keeps the first of them for the report. */
export class Tally {
  readonly #maxKept: number;
  readonly #first: Counted[] = [];
  #count = 0;

  constructor(maxKept: number) {
    this.#maxKept = maxKept;
  }

  get count(): number {
    return this.#count;
  }

  add(location: Location, text = ""): void {
    this.#count++;
    if (this.#first.length < this.#maxKept) this.#first.push({ location, text });
  }

  /** The first items, in the order of the input. */
  first(): readonly Counted[] {
    return this.#first.toSorted(
      ({ location: a }, { location: b }) => a.line - b.line || (a.element ?? 0) - (b.element ?? 0),
    );
  }
}
