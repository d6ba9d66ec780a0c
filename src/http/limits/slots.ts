/** Finds callers in tables of shared memory, by their numbers (`caller-hash.ts`). The table has a lock; this file has none. */

/** Hands out the cells of shared memory. The same calls give the same cells in each thread. Ask for numbers before integers. */
export class Cells {
  readonly #memory: SharedArrayBuffer;
  #offset = 0;

  constructor(memory: SharedArrayBuffer) {
    this.#memory = memory;
  }

  /** The next cells for any numbers. */
  numbers(length: number): Float64Array {
    const cells = new Float64Array(this.#memory, this.#offset, length);
    this.#offset += cells.byteLength;
    return cells;
  }

  /** The next cells for integers of 32 bits. */
  integers(length: number): Int32Array {
    const cells = new Int32Array(this.#memory, this.#offset, length);
    this.#offset += cells.byteLength;
    return cells;
  }
}

/** A hash table: which slot of a table a caller has. Slots with the same entry are in a chain. */
export class SlotIndex {
  readonly #callers: Float64Array;
  /** The first slot of each chain, and the slot after each slot. They count from 1, so that empty memory has no slots. */
  readonly #first: Int32Array;
  readonly #next: Int32Array;

  /** `callers`: the number of the caller in each slot. `cells` gives it `indexIntegers` integers. */
  constructor(callers: Float64Array, cells: Cells) {
    this.#callers = callers;
    this.#next = cells.integers(callers.length);
    this.#first = cells.integers(chainsFor(callers.length));
  }

  /** The slot of a caller; -1 if it has none. */
  find(caller: number): number {
    let slot = this.#first[this.#chainOf(caller)] as number;
    // A thread that dies can leave a chain without an end.
    for (let left = this.#next.length; slot !== 0 && left > 0; left--) {
      if (this.#callers[slot - 1] === caller) return slot - 1;
      slot = this.#next[slot - 1] as number;
    }
    return -1;
  }

  /** Gives an unused slot to a caller that has none. */
  add(slot: number, caller: number): void {
    const chain = this.#chainOf(caller);
    this.#callers[slot] = caller;
    this.#next[slot] = this.#first[chain] as number;
    this.#first[chain] = slot + 1;
  }

  /** Takes a slot from its caller. */
  remove(slot: number): void {
    const chain = this.#chainOf(this.#callers[slot] as number);
    const next = this.#next[slot] as number;
    let before = this.#first[chain] as number;
    if (before === slot + 1) this.#first[chain] = next;
    for (let left = this.#next.length; before !== 0 && left > 0; left--) {
      const after = this.#next[before - 1] as number;
      if (after === slot + 1) this.#next[before - 1] = next;
      before = after;
    }
  }

  /** Takes all slots from their callers. */
  clear(): void {
    this.#first.fill(0);
  }

  #chainOf(caller: number): number {
    return (caller >>> 0) & (this.#first.length - 1);
  }
}

/** The integers that an index of so many slots needs. */
export function indexIntegers(slots: number): number {
  return slots + chainsFor(slots);
}

/** A power of two, so that a chain has one slot on average. */
function chainsFor(slots: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, slots)));
}
