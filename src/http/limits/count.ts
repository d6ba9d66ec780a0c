/** Counts of one thread, and of all threads together. */

/** A number of this thread and the sum of the numbers of all threads. */
export interface Count {
  own: number;
  readonly all: number;
}

/** A number that is the sum of the numbers of all threads. Each thread writes only its own. */
export class SharedCount implements Count {
  readonly #cells: Float64Array;
  readonly #thread: number;

  constructor(cells: Float64Array, thread: number) {
    this.#cells = cells;
    this.#thread = thread;
  }

  /** The number of this thread. */
  get own(): number {
    return this.#cells[this.#thread] as number;
  }

  set own(value: number) {
    this.#cells[this.#thread] = value;
  }

  /** The sum. */
  get all(): number {
    const cells = this.#cells;
    let sum = 0;
    for (let n = 0; n < cells.length; n++) sum += cells[n] as number;
    return sum;
  }
}

/** A number that only one thread counts. */
export class OwnCount implements Count {
  own = 0;

  get all(): number {
    return this.own;
  }
}
