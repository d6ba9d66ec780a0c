/** Shares reads of the change log between subscribers at the same place. It does not know what a read returns. */
import { LRUCache } from "lru-cache";

/** The result of a read that starts at a place. */
interface Read {
  /** Whether the read reached the end of the log. */
  isEnd: boolean;
}

/** How long a result is kept, in milliseconds. This is also how long the memory can contain an erased resource. */
export const keptMs = 1_000;

/** Reads in progress, by name. Callers that ask for one of them get its result too. */
export class ReadsUnderWay<T> {
  readonly #reads = new Map<string, Promise<T>>();

  read(name: string, read: () => Promise<T>): Promise<T> {
    const known = this.#reads.get(name);
    if (known !== undefined) return known;
    const reading = read().finally(() => this.#reads.delete(name));
    this.#reads.set(name, reading);
    return reading;
  }
}

/** The reads of one kind. */
export class SharedReads<T extends Read> {
  readonly #kept: LRUCache<string, T>;
  readonly #underWay = new ReadsUnderWay<T>();
  readonly #sizeOf: (read: T) => number;

  /** `sizeOf` returns the memory that a result needs, in bytes, or 0 if the read found nothing. Such a result is not kept. */
  constructor({ maxSize, sizeOf }: { maxSize: number; sizeOf: (read: T) => number }) {
    this.#sizeOf = sizeOf;
    this.#kept = new LRUCache({ maxSize, ttl: keptMs, sizeCalculation: (read) => sizeOf(read) + overhead });
  }

  /**
   * The result of `read`, which starts at a place. Other callers at the same place get the same result while it is read or kept.
   * `since` names the commits that the read must see: a read that started before them is not shared. `undefined`: it must see
   * all commits before this call, so it shares no read in progress.
   */
  read(place: string, since: string | undefined, read: () => Promise<T>): T | Promise<T> {
    const kept = this.#kept.get(place);
    if (kept !== undefined) return kept;
    const readAndKeep = () => this.#keep(place, read());
    return since === undefined ? readAndKeep() : this.readTogether(place, since, readAndKeep);
  }

  /** As `read`, but the result is not kept: only callers that ask while it is read share it. */
  readTogether(place: string, since: string, read: () => Promise<T>): Promise<T> {
    return this.#underWay.read(`${since} ${place}`, read);
  }

  async #keep(place: string, read: Promise<T>): Promise<T> {
    const found = await read;
    // When another caller gets it, the log can be longer.
    if (this.#sizeOf(found) > 0) this.#kept.set(place, { ...found, isEnd: false });
    return found;
  }
}

/** The memory of one entry beside its contents, in bytes. */
const overhead = 1_000;
