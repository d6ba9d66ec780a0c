/** Deletes expired resources while a service runs, in the instance that holds the lease of the store. */
import type { Clock } from "../clock.ts";
import { Problem } from "../errors.ts";
import { Lease, renewMs } from "../lease.ts";
import type { ServingStore, Store } from "../store/port/store.ts";
import type { StoreClock } from "../store-clock.ts";
import type { Expiry } from "./expired.ts";

/** What a sweeper depends on. */
export interface SweeperParts {
  expiry: Expiry;
  store: ServingStore & Pick<Store, "time">;
  clock: Clock;
  /** Whether several instances can use the store. */
  isShared: boolean;
  /** Whether the store can be used. */
  isReady: () => boolean;
  storeClock: StoreClock;
  /** Whether this service deletes. Otherwise it only measures the clock of the store. */
  sweeps: boolean;
  newUuid: () => string;
  warn: (message: string) => void;
}

/** The regular sweep of one service. Only one of its threads deletes. */
export class Sweeper {
  readonly #parts: SweeperParts;
  readonly #lease: Lease;
  readonly #stopping = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(parts: SweeperParts) {
    this.#parts = parts;
    this.#lease = new Lease(parts, "expiry");
  }

  /** Starts to sweep every few seconds. */
  start(): void {
    this.#loop ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
    await this.#lease.release().catch(() => {}); // the lease expires by itself
  }

  /** Deletes what has expired, if this instance holds the lease. Throws the problems of the store. */
  async sweep(): Promise<void> {
    const { expiry, storeClock, sweeps } = this.#parts;
    await storeClock.measure();
    if (sweeps && (await this.#lease.take())) await expiry.sweep(expiry.names, this.#stopping.signal);
  }

  async #run(): Promise<void> {
    const { clock, isReady, warn } = this.#parts;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await clock.until(clock.now() + renewMs, signal);
      if (signal.aborted || !isReady()) continue;
      try {
        await this.sweep();
      } catch (error) {
        // The store reports its own problems.
        if (!(error instanceof Problem)) warn(`expiry: ${(error as Error).message}`);
      }
    }
  }
}
