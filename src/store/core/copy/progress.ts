/** The progress of a copy. The target stores it as the mark, together with the copied items. */
import type { Cell, Item, Section } from "./contents.ts";

/** How far a copy has come. */
export interface Checkpoint {
  /** The checksum of the source (`Survey`). */
  source: string;
  /** The index of the current section. */
  section: number;
  /** The last copied key of the current section; `null` at its start. */
  after: Cell;
  /** The number of items of all sections so far, and of resources among them. */
  items: number;
  resources: number;
}

/** The progress of a copy. */
export class Progress {
  #checkpoint: Checkpoint;
  #mark: string;

  constructor(checkpoint: Checkpoint) {
    this.#checkpoint = checkpoint;
    this.#mark = JSON.stringify(checkpoint);
  }

  get checkpoint(): Checkpoint {
    return this.#checkpoint;
  }

  /**
   * The checkpoint as the target stores it. It is about the last written items, even if the next section has started.
   */
  get mark(): string {
    return this.#mark;
  }

  /** Moves past items of the section that are written next. */
  advance({ kind }: Section, items: readonly Item[]): void {
    const { checkpoint } = this;
    this.#checkpoint = {
      ...checkpoint,
      after: items.at(-1)?.[0] ?? checkpoint.after,
      items: checkpoint.items + items.length,
      resources: checkpoint.resources + (kind === "resources" ? items.length : 0),
    };
    this.#mark = JSON.stringify(this.#checkpoint);
  }

  endSection(): void {
    this.#checkpoint = { ...this.#checkpoint, section: this.#checkpoint.section + 1, after: null };
  }
}
