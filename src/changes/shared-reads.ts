/** Reads of the change log that many subscribers share, because they are at the same place. */
import { LRUCache } from "lru-cache";

/** Something that was read from a place on. */
interface Read {
  /** Whether there was nothing further. */
  isEnd: boolean;
}

/** How long a read is kept for others, in milliseconds. After that, an erased resource is gone from memory too. */
const keptMs = 1_000;

/** The reads of one kind. */
export class SharedReads<T extends Read> {
  readonly #kept: LRUCache<string, T>;
  readonly #underWay = new Map<string, Promise<T>>();
  readonly #sizeOf: (read: T) => number;

  /** `sizeOf` gives the memory that a read needs, in bytes; 0 if it found nothing, and is not kept. */
  constructor({ maxSize, sizeOf }: { maxSize: number; sizeOf: (read: T) => number }) {
    this.#sizeOf = sizeOf;
    this.#kept = new LRUCache({ maxSize, ttl: keptMs, sizeCalculation: (read) => sizeOf(read) + overhead });
  }

  /**
   * What `read` finds from a place on. Others at the same place get the same, as long as it is kept, or while it is read. `since`
   * names the commits that it must see: a read that began before them is not shared. `undefined`: it must see all of them.
   */
  read(place: string, since: string | undefined, read: () => Promise<T>): T | Promise<T> {
    const kept = this.#kept.get(place);
    if (kept !== undefined) return kept;
    if (since === undefined) return this.#keep(place, read());
    const name = `${since} ${place}`;
    const underWay = this.#underWay.get(name);
    if (underWay !== undefined) return underWay;
    const reading = this.#keep(place, read()).finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, reading);
    return reading;
  }

  async #keep(place: string, read: Promise<T>): Promise<T> {
    const found = await read;
    // When others get it, there can be more after it.
    if (this.#sizeOf(found) > 0) this.#kept.set(place, { ...found, isEnd: false });
    return found;
  }
}

/** The memory of one entry beside its contents, in bytes. */
const overhead = 1_000;
