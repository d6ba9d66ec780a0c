/**
 * Sums over all threads of the process, in memory that they share. A thread writes only its own numbers, so nothing waits.
 * Threads that look and count at the same moment can exceed a limit by one each.
 */

/** A number that is the sum of the numbers of all threads. What a thread adds, it must subtract later. */
export class Count {
  readonly #cells: Float64Array;
  readonly #thread: number;

  /** `cells`: one for each thread. */
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

/** The counts, as one thread sees them. */
export interface Counts {
  readonly threads: number;
  readonly connections: Count;
  /** Requests in progress. */
  readonly requests: Count;
  /** Requests that wait for others on the same connection. */
  readonly waiting: Count;
  /** Bytes that requests and responses hold. */
  readonly held: Count;
  /** Event streams and waiting pages. Only the main thread writes it (`exact-counts.ts`). */
  readonly streams: Count;
}

/** The memory of all counts. It can be sent to another thread. */
export type CountsMemory = Readonly<Record<Exclude<keyof Counts, "threads">, SharedArrayBuffer>>;

/** Memory for so many threads, in which nothing is counted yet. */
export function createCounts(threads: number): CountsMemory {
  const cells = () => new SharedArrayBuffer(threads * Float64Array.BYTES_PER_ELEMENT);
  return { connections: cells(), requests: cells(), waiting: cells(), held: cells(), streams: cells() };
}

/** Opens the memory in a thread: 0 for the main thread, each another number. */
export function openCounts(memory: CountsMemory, thread: number): Counts {
  const countIn = (cells: SharedArrayBuffer) => new Count(new Float64Array(cells), thread);
  return {
    threads: memory.held.byteLength / Float64Array.BYTES_PER_ELEMENT,
    connections: countIn(memory.connections),
    requests: countIn(memory.requests),
    waiting: countIn(memory.waiting),
    held: countIn(memory.held),
    streams: countIn(memory.streams),
  };
}
