/** Up to where a copy has come, as it is kept in the target beside what was copied. */
import type { Cell, Item, Section } from "./whole.ts";

/** A place in a copy. */
export interface Place {
  /** The stamp of the source. */
  source: string;
  /** The number of the section under way. */
  section: number;
  /** The last key of that section that was copied; `null` at its beginning. */
  after: Cell;
  /** Of all sections so far. */
  items: number;
  resources: number;
}

/** A copy under way. */
export class Progress {
  #place: Place;
  #mark: string;

  constructor(place: Place) {
    this.#place = place;
    this.#mark = JSON.stringify(place);
  }

  get place(): Place {
    return this.#place;
  }

  /** The place as the target has it: that of the last items, also where the next section has begun. */
  get mark(): string {
    return this.#mark;
  }

  /** These items of the section are to be written next, with the mark that follows from them. */
  advance({ kind }: Section, items: readonly Item[]): void {
    const { place } = this;
    this.#place = {
      ...place,
      after: items.at(-1)?.[0] ?? place.after,
      items: place.items + items.length,
      resources: place.resources + (kind === "resources" ? items.length : 0),
    };
    this.#mark = JSON.stringify(this.#place);
  }

  endSection(): void {
    this.#place = { ...this.#place, section: this.#place.section + 1, after: null };
  }
}
