/**
 * Integer ids, reserved in blocks. The file contains only the last id of a block, so most ids need no separate write. A
 * crash loses the unused rest of a block. It can leave a gap, but never gives an id twice.
 */
import type { Head } from "./heads.ts";

/** How many ids a new block has in addition to the ids that are needed now. */
const spareIds = 1_000;

interface Block {
  /** The last id that was used. */
  used: number;
  /** The last id of the block. */
  end: number;
}

/** The blocks of every collection. */
export class IdBlocks {
  #blocks = new Map<number, Block>();

  /** Takes `n` ids from the block of a collection. Returns the first, or `undefined` if the block is too short. */
  take(collection: number, n: number): number | undefined {
    const block = this.#blocks.get(collection);
    if (block === undefined || block.used + n > block.end) return undefined;
    block.used += n;
    return block.used - n + 1;
  }

  /**
   * Reserves a new block of at least `n` ids in the head. The caller writes the head. It then calls the returned function,
   * which makes the block available. `undefined` if no safe integers are left.
   */
  extend(collection: number, n: number, head: Head): (() => void) | undefined {
    const block = this.#blocks.get(collection);
    const isLast = block !== undefined && block.end === head.lastId && block.used <= block.end;
    const used = isLast ? block.used : head.lastId;
    if (!Number.isSafeInteger(used + n)) return undefined;
    const end = Math.min(used + n + spareIds, Number.MAX_SAFE_INTEGER);
    head.lastId = end;
    return () => this.#blocks.set(collection, { used, end });
  }

  /** Records the id of a new resource. All ids that are taken later are higher. */
  use(collection: number, id: number, head: Head): void {
    head.lastId = Math.max(head.lastId, id);
    const block = this.#blocks.get(collection);
    if (block !== undefined) block.used = Math.max(block.used, id);
  }

  /** The collections that have unused ids in their blocks. */
  withUnusedIds(): number[] {
    return [...this.#blocks].filter(([, { used, end }]) => used < end).map(([collection]) => collection);
  }

  /** Removes the unused ids of a block from the head, so that the next block starts with them. */
  returnUnused(collection: number, head: Head): void {
    const block = this.#blocks.get(collection);
    if (block !== undefined && block.end === head.lastId) head.lastId = block.used;
    this.#blocks.delete(collection);
  }

  /** Returns a function that restores the present blocks, for a transaction that is rolled back. */
  remember(): () => void {
    const before = [...this.#blocks].map(([collection, block]) => [collection, { ...block }] as const);
    return () => {
      this.#blocks = new Map(before);
    };
  }
}
