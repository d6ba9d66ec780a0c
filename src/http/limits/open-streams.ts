/** The callers with open streams, and how many each has, in shared memory. One lock protects all: streams are opened rarely. */
import type { Limits } from "../settings.ts";
import { Lock, lockIntegers } from "./lock.ts";
import type { SharedLimits } from "./shared.ts";
import { Cells, indexIntegers, SlotIndex } from "./slots.ts";

/** The memory of this many streams. */
export interface StreamsMemory {
  /** The most callers: each has at least one stream. */
  readonly slots: number;
  readonly bytes: SharedArrayBuffer;
}

/** Memory for this many streams, without a stream. */
export function streamsMemory(streams: number): StreamsMemory {
  const integers = streams + indexIntegers(streams) + lockIntegers + 1;
  const bytes = streams * Float64Array.BYTES_PER_ELEMENT + integers * Int32Array.BYTES_PER_ELEMENT;
  return { slots: streams, bytes: new SharedArrayBuffer(bytes) };
}

/** The open streams, by the numbers of their callers. */
export class OpenStreams {
  readonly #inAll: SharedLimits["streams"];
  /** The caller of each slot, and how many streams it has. The slots in use are the first ones. */
  readonly #callers: Float64Array;
  readonly #streams: Int32Array;
  readonly #size: Int32Array;
  readonly #index: SlotIndex;
  readonly #lock: Lock;

  constructor(
    { slots, bytes }: StreamsMemory,
    { streams, thread }: Pick<SharedLimits, "streams" | "thread">,
  ) {
    const cells = new Cells(bytes);
    this.#inAll = streams;
    this.#callers = cells.numbers(slots);
    this.#index = new SlotIndex(this.#callers, cells);
    this.#streams = cells.integers(slots);
    this.#size = cells.integers(1);
    this.#lock = new Lock(cells.integers(lockIntegers), thread);
  }

  /** Counts one more stream, unless there are too many. Returns of whom. */
  add(
    caller: number,
    { streams, streamsPerCaller }: Pick<Limits, "streams" | "streamsPerCaller">,
  ): "caller" | "all" | undefined {
    this.#enter();
    try {
      const found = this.#index.find(caller);
      const own = found === -1 ? 0 : (this.#streams[found] as number);
      if (own >= streamsPerCaller) return "caller";
      if (this.#inAll.all >= streams) return "all";
      this.#inAll.own++;
      this.#streams[found === -1 ? this.#addSlot(caller) : found] = own + 1;
      return undefined;
    } finally {
      this.#lock.giveBack();
    }
  }

  /** Counts one stream less. */
  remove(caller: number): void {
    this.#enter();
    try {
      this.#inAll.own--;
      const slot = this.#index.find(caller);
      if (slot === -1) return; // the table was cleared
      const left = (this.#streams[slot] as number) - 1;
      this.#streams[slot] = left;
      if (left === 0) this.#removeSlot(slot);
    } finally {
      this.#lock.giveBack();
    }
  }

  /** After a thread has died here, everything can be half written. Then the table forgets all callers. */
  #enter(): void {
    if (this.#lock.take()) return;
    this.#index.clear();
    this.#size[0] = 0;
  }

  #addSlot(caller: number): number {
    const slot = this.#size[0] as number;
    this.#index.add(slot, caller);
    this.#size[0] = slot + 1;
    return slot;
  }

  /** The last slot moves into the free one. */
  #removeSlot(slot: number): void {
    const last = (this.#size[0] as number) - 1;
    const caller = this.#callers[last] as number;
    this.#index.remove(slot);
    if (slot !== last) {
      this.#index.remove(last);
      this.#index.add(slot, caller);
      this.#streams[slot] = this.#streams[last] as number;
    }
    this.#size[0] = last;
  }
}
