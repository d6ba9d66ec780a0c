/** A value that is read on demand: by one caller at a time, and again only after a while. */

/** How long reading can take, and how old the value can be, in milliseconds. */
export interface RecentBounds {
  maxAgeMs: number;
  timeoutMs: number;
}

/** A value that takes work to read. */
export class Recent<T> {
  readonly #read: () => Promise<T>;
  readonly #bounds: RecentBounds;
  #value: T | undefined;
  /** The time of the value, in milliseconds of `performance.now()`. */
  #at = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  /** Why the value could not be read; `undefined` if it could. */
  failure: unknown;

  constructor(read: () => Promise<T>, bounds: RecentBounds) {
    this.#read = read;
    this.#bounds = bounds;
  }

  /** The value, at most as old as the bounds say. `undefined` if it cannot be read, or not in time. */
  async get(): Promise<T | undefined> {
    const { maxAgeMs, timeoutMs } = this.#bounds;
    const isRecent = () => performance.now() - this.#at < maxAgeMs;
    if (isRecent()) return this.#value;
    this.#reading ??= this.#start();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([this.#reading, late]);
    clearTimeout(timer);
    return isRecent() ? this.#value : undefined;
  }

  /** A failure counts as a value too, so that a store that fails is not asked again at once. */
  async #start(): Promise<void> {
    this.failure = undefined;
    this.#value = await this.#read().catch((error: unknown) => {
      this.failure = error;
      return undefined;
    });
    this.#at = performance.now();
    this.#reading = undefined;
  }
}
