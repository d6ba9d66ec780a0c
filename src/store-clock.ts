/** The clock of a store. The clocks of instances can differ, so what they must decide in the same way follows that of the database. */
import type { Store } from "./store/port/store.ts";

/** The offset of this machine's clock to the clock of a database, as it was last measured. */
export class StoreClock {
  readonly #store: Pick<Store, "time">;
  #offsetMs = 0;

  constructor(store: Pick<Store, "time">) {
    this.#store = store;
  }

  /** How far the clock of the database is ahead, in milliseconds. 0 if the store has no clock of its own. */
  get offsetMs(): number {
    return this.#offsetMs;
  }

  /** Measures the offset, and returns it. A difference that the time of the answer can explain counts as 0. Throws UNAVAILABLE. */
  async measure(): Promise<number> {
    if (this.#store.time === undefined) return 0;
    const asked = Date.now();
    const start = performance.now();
    const theirs = await this.#store.time();
    const halfMs = (performance.now() - start) / 2;
    const offsetMs = theirs - (asked + halfMs);
    this.#offsetMs = Math.abs(offsetMs) <= halfMs + 1 ? 0 : Math.round(offsetMs);
    return this.#offsetMs;
  }
}
