/** Counts the items of an input that a report lists, such as invalid ones. It keeps only the first of them. */
import type { InputLocation } from "./items.ts";

/** One counted item, and what the report says about it. */
export interface Counted<Note> {
  location: InputLocation;
  note: Note;
}

/** What a report says about some items: how many there are, and the first of them. */
export interface Listed<Note = string> {
  readonly count: number;
  /** The first items, in the order of the input. */
  first(): readonly Counted<Note>[];
}

/** Counts items. Keeps the first `maxKept` of them. */
export class Tally<Note = string> implements Listed<Note> {
  readonly #maxKept: number;
  readonly #first: Counted<Note>[] = [];
  #count = 0;

  constructor(maxKept: number) {
    this.#maxKept = maxKept;
  }

  get count(): number {
    return this.#count;
  }

  /** Whether the next item is only counted. */
  get isFull(): boolean {
    return this.#first.length === this.#maxKept;
  }

  add(location: InputLocation, note: Note): void {
    this.#count++;
    if (this.#first.length < this.#maxKept) this.#first.push({ location, note });
  }

  first(): readonly Counted<Note>[] {
    return this.#first.toSorted(
      ({ location: a }, { location: b }) => a.line - b.line || (a.element ?? 0) - (b.element ?? 0),
    );
  }
}
