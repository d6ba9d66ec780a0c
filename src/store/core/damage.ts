/** Whether reads or the walk (`walk.ts`) have found damage in a store. All threads of the process share this. */
import { isDamage } from "./checksums.ts";

/** The damage of one store. */
export class Damage {
  readonly #cell: Int32Array<ArrayBufferLike>;

  /** The cell is in memory that the threads share. 0: no damage is known. */
  constructor(
    cell: Int32Array<ArrayBufferLike> = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
  ) {
    this.#cell = cell;
  }

  /** The memory of the cell, for another thread. */
  get cell(): Int32Array<ArrayBufferLike> {
    return this.#cell;
  }

  /** Whether damage is known. */
  get isKnown(): boolean {
    return Atomics.load(this.#cell, 0) !== 0;
  }

  /** Notes what a complete walk has found. */
  set(isDamaged: boolean): void {
    Atomics.store(this.#cell, 0, Number(isDamaged));
  }

  /** Notes an error if it says that a row is damaged. Returns the error. */
  seen<T>(error: T): T {
    if (isDamage(error)) this.set(true);
    return error;
  }
}
