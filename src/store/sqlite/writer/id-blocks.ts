/**
 * Integer ids that the file has taken out of use in blocks and that have not all been given yet, so that most
 * ids cost no write of their own. A crash loses what is left of a block: a gap, never an id given twice.
 */
import type { Head } from "./heads.ts";

/** How many ids beyond those asked for one write takes out of use. */
const ahead = 1_000;

interface Block {
  given: number;
  end: number;
}

/** The blocks of every collection. */
export class IdBlocks {
  #blocks = new Map<number, Block>();

  /** Takes `n` ids from the collection's block and gives the first; `undefined` when a new block is needed. */
  take(collection: number, n: number): number | undefined {
    const block = this.#blocks.get(collection);
    if (block === undefined || block.given + n > block.end) return undefined;
    block.given += n;
    return block.given - n + 1;
  }

  /**
   * Takes ids out of use in the head, which the caller writes, and gives a function that makes them the
   * collection's block: to be called when they are written. `undefined` when there are no integers left.
   */
  extend(collection: number, n: number, head: Head): (() => void) | undefined {
    const block = this.#blocks.get(collection);
    const isLast = block !== undefined && block.end === head.lastId && block.given <= block.end;
    const given = isLast ? block.given : head.lastId;
    if (!Number.isSafeInteger(given + n)) return undefined;
    const end = Math.min(given + n + ahead, Number.MAX_SAFE_INTEGER);
    head.lastId = end;
    return () => this.#blocks.set(collection, { given, end });
  }

  /** Notes an id that a resource has: those given from now on are above it. */
  use(collection: number, id: number, head: Head): void {
    head.lastId = Math.max(head.lastId, id);
    const block = this.#blocks.get(collection);
    if (block !== undefined) block.given = Math.max(block.given, id);
  }

  /** The collections whose blocks have ids left. */
  unfinished(): number[] {
    return [...this.#blocks].filter(([, { given, end }]) => given < end).map(([collection]) => collection);
  }

  /** Puts what is left of a collection's block back into use. */
  giveBack(collection: number, head: Head): void {
    const block = this.#blocks.get(collection);
    if (block !== undefined && block.end === head.lastId) head.lastId = block.given;
    this.#blocks.delete(collection);
  }

  /** Gives a function that takes back what happens from now on. */
  remember(): () => void {
    const before = [...this.#blocks].map(([collection, block]) => [collection, { ...block }] as const);
    return () => {
      this.#blocks = new Map(before);
    };
  }
}
