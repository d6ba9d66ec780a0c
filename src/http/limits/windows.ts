/** The windows of many callers, in shared memory. Their number is limited: the oldest windows are removed. */
import { Lock, lockIntegers } from "./lock.ts";
import { Cells, indexIntegers, SlotIndex } from "./slots.ts";

/** The memory of windows, in parts. */
export interface WindowsMemory {
  /** The windows of each part. */
  readonly slots: number;
  readonly parts: readonly SharedArrayBuffer[];
}

/** The most windows of a part. More parts let more threads count at the same moment. */
const maxSlots = 6_250;

/** The start and the requests of a window, and its caller. */
const slotNumbers = 3;

/** The queue of the windows: the slot of the oldest one, and how many there are. */
const queueIntegers = 2;
const oldest = 0;
const size = 1;

/** Memory for the windows of this many callers, without a window. */
export function windowsMemory(callers: number): WindowsMemory {
  const count = Math.ceil(callers / maxSlots);
  const slots = Math.ceil(callers / Math.max(1, count));
  const bytes =
    slots * slotNumbers * Float64Array.BYTES_PER_ELEMENT +
    (indexIntegers(slots) + lockIntegers + queueIntegers) * Int32Array.BYTES_PER_ELEMENT;
  return { slots, parts: Array.from({ length: count }, () => new SharedArrayBuffer(bytes)) };
}

/** What the windows of one part need in addition to their memory. */
export interface WindowsOptions {
  thread: number;
  lengthMs: number;
  /** A clock in milliseconds, the same in all threads. It never goes back. */
  clock: () => number;
}

/** One window at the moment of a request. */
export interface Window {
  /** The requests in it, with this one if it was counted. */
  requests: number;
  /** The time until it ends. */
  leftMs: number;
}

/** The windows of one part, in the order of their starts. */
export class Windows {
  readonly #slots: number;
  readonly #lengthMs: number;
  readonly #clock: () => number;
  readonly #starts: Float64Array;
  readonly #requests: Float64Array;
  readonly #index: SlotIndex;
  readonly #queue: Int32Array;
  readonly #lock: Lock;

  constructor(memory: SharedArrayBuffer, slots: number, { thread, lengthMs, clock }: WindowsOptions) {
    const cells = new Cells(memory);
    this.#slots = slots;
    this.#lengthMs = lengthMs;
    this.#clock = clock;
    this.#starts = cells.numbers(slots);
    this.#requests = cells.numbers(slots);
    this.#index = new SlotIndex(cells.numbers(slots), cells);
    this.#queue = cells.integers(queueIntegers);
    this.#lock = new Lock(cells.integers(lockIntegers), thread);
  }

  /** Counts a request of a caller. */
  take(caller: number): Window {
    this.#enter();
    try {
      const now = this.#clock(); // with the lock, so that no other thread has started a window later
      const slot = this.#current(caller, now) ?? this.#start(caller, now);
      const requests = (this.#requests[slot] as number) + 1;
      this.#requests[slot] = requests;
      return { requests, leftMs: this.#leftOf(slot, now) };
    } finally {
      this.#lock.giveBack();
    }
  }

  /** The window of a caller, without counting. */
  look(caller: number): Window {
    this.#enter();
    try {
      const now = this.#clock();
      const slot = this.#current(caller, now);
      if (slot === undefined) return { requests: 0, leftMs: this.#lengthMs };
      return { requests: this.#requests[slot] as number, leftMs: this.#leftOf(slot, now) };
    } finally {
      this.#lock.giveBack();
    }
  }

  /** The number of windows. */
  get size(): number {
    return Atomics.load(this.#queue, size);
  }

  /** After a thread has died here, everything can be half written. Then the part forgets all windows. */
  #enter(): void {
    if (this.#lock.take()) return;
    this.#index.clear();
    this.#queue.fill(0);
  }

  #current(caller: number, now: number): number | undefined {
    const slot = this.#index.find(caller);
    return slot !== -1 && !this.#isOver(slot, now) ? slot : undefined;
  }

  #start(caller: number, now: number): number {
    this.#removeOldest(now); // also the last window of the caller, because it is over
    const queue = this.#queue;
    const slot = ((queue[oldest] as number) + (queue[size] as number)) % this.#slots;
    this.#starts[slot] = now;
    this.#requests[slot] = 0;
    this.#index.add(slot, caller);
    queue[size] = (queue[size] as number) + 1;
    return slot;
  }

  /** Removes the windows that are over, and the oldest one if no slot is free. */
  #removeOldest(now: number): void {
    const queue = this.#queue;
    while ((queue[size] as number) > 0) {
      const slot = queue[oldest] as number;
      if ((queue[size] as number) < this.#slots && !this.#isOver(slot, now)) return;
      this.#index.remove(slot);
      queue[oldest] = (slot + 1) % this.#slots;
      queue[size] = (queue[size] as number) - 1;
    }
  }

  #isOver(slot: number, now: number): boolean {
    return now - (this.#starts[slot] as number) >= this.#lengthMs;
  }

  #leftOf(slot: number, now: number): number {
    return (this.#starts[slot] as number) + this.#lengthMs - now;
  }
}
