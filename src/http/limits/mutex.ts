/** A lock between threads, for work that waits for something. `lock.ts` is for work of less than a microsecond. */

/** The integers that a mutex needs in shared memory. */
export const mutexIntegers = 1;

/** One thread's side of a lock. A thread that ends while it has the lock ends the service, so nothing waits for ever. */
export class Mutex {
  readonly #cell: Int32Array;

  constructor(cell: Int32Array) {
    this.#cell = cell;
  }

  /** Does work while no other caller in any thread does work with the same memory. Throws what `work` throws. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    while (Atomics.compareExchange(this.#cell, 0, 0, 1) !== 0)
      await Atomics.waitAsync(this.#cell, 0, 1).value;
    try {
      return await work();
    } finally {
      Atomics.store(this.#cell, 0, 0);
      Atomics.notify(this.#cell, 0, 1);
    }
  }
}
