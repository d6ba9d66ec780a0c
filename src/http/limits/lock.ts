/** A lock between threads, for work of less than a microsecond in shared memory. */

/** How often a thread looks at a lock before it sleeps. */
const looks = 200;

/** How long a thread sleeps before it looks again, in milliseconds. */
const sleepMs = 10;

/**
 * After so many sleeps, a holder that has not moved counts as gone. A pause of the whole process ends only one sleep, so it does
 * not look like that.
 */
const sleepsUntilGone = 100;

/** Tickets differ by this number, which is larger than every thread. */
const ticketStep = 64;

/** The integers that a lock needs in shared memory. */
export const lockIntegers = 2;

/** One thread's side of a lock. */
export class Lock {
  /** The ticket of the holder, 0 if the lock is free, and then the number of threads that wait. */
  readonly #cells: Int32Array;
  /** Identifies the thread, and each time that it takes the lock. Never 0. */
  #ticket: number;

  /** `cells`: `lockIntegers` integers in shared memory. `thread`: 0 to 62, different in each thread. */
  constructor(cells: Int32Array, thread: number) {
    this.#cells = cells;
    this.#ticket = thread + 1;
  }

  /**
   * Takes the lock, and waits until it is free. Returns false if the thread that held it is gone: what the lock protects can be
   * half written.
   */
  take(): boolean {
    this.#ticket = (this.#ticket + ticketStep) & 0x7fff_ffff;
    for (let look = 0; look < looks; look++) if (this.#replace(0)) return true;
    return this.#takeLater();
  }

  /** Gives the lock back. Only the thread that holds it can do this. */
  giveBack(): void {
    // Another thread has the lock now if it took this one for gone.
    if (Atomics.compareExchange(this.#cells, 0, this.#ticket, 0) !== this.#ticket) return;
    if (Atomics.load(this.#cells, 1) > 0) Atomics.notify(this.#cells, 0, 1);
  }

  #replace(holder: number): boolean {
    return Atomics.compareExchange(this.#cells, 0, holder, this.#ticket) === holder;
  }

  #takeLater(): boolean {
    Atomics.add(this.#cells, 1, 1);
    try {
      let sleeps = 0;
      let last = 0;
      while (!this.#replace(0)) {
        const holder = Atomics.load(this.#cells, 0);
        if (holder !== last) sleeps = 0;
        last = holder;
        if (sleeps++ === sleepsUntilGone && this.#replace(holder)) return holder === 0;
        Atomics.wait(this.#cells, 0, holder, sleepMs);
      }
      return true;
    } finally {
      Atomics.sub(this.#cells, 1, 1);
    }
  }
}
