/** Counts the items of an input that a report lists, such as invalid ones. It keeps only the first of them. */
import type { Location } from "./items.ts";

/** One counted item, with a text for the report. */
export interface Counted {
  location: Location;
  text: string;
}

/** Counts items. Keeps the first `maxKept` of them. */
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
