/** The lease of a store: one of the instances that share it does some work for all of them. */
import type { Clock } from "./clock.ts";
import { isOvertaken, put, type Records, type Versioned } from "./records.ts";
import type { Store } from "./store/port/store.ts";
import { StoreClock } from "./store-clock.ts";

/** How long a lease is valid, in milliseconds. Another instance takes over at most `renewMs` after that. */
const leaseMs = 20_000;

/** How often an instance renews or looks at the lease, in milliseconds. */
export const renewMs = 5_000;

interface LeaseRecord {
  holder: string | null;
  until: number;
}

/** What a lease depends on. */
export interface LeaseParts {
  records: Pick<Records, "read" | "commit">;
  /** The store that the instances share. Its clock decides. */
  store: Pick<Store, "time">;
  clock: Pick<Clock, "now">;
  /** Whether several instances can use the store. Otherwise no lease is needed. */
  isShared: boolean;
  newUuid: () => string;
}

/** The part of one instance in a lease, which is one record of an internal collection. */
export class Lease {
  readonly #parts: LeaseParts;
  readonly #record: { collection: string; id: string };
  readonly #holder: string;
  readonly #storeClock: StoreClock;
  /** When it ends at the latest, by a clock that nobody sets. */
  #endsAt = 0;

  constructor(parts: LeaseParts, record: { collection: string; id: string }) {
    this.#parts = parts;
    this.#record = record;
    this.#holder = parts.newUuid();
    this.#storeClock = new StoreClock(parts.store);
  }

  /** Whether this instance holds a lease that is valid now. A store that only one instance can open needs none. */
  get isHeld(): boolean {
    return !this.#parts.isShared || performance.now() < this.#endsAt;
  }

  /** Takes or renews the lease. Returns whether this instance holds it. */
  async take(): Promise<boolean> {
    const { clock, isShared } = this.#parts;
    if (!isShared) return true;
    const endsAt = performance.now() + leaseMs; // from before the request, so it ends here first
    const offsetMs = await this.#storeClock.measure();
    const now = clock.now() + offsetMs;
    const before = await this.#read();
    const { holder = null, until = 0 } = before?.value ?? {};
    if (holder !== null && holder !== this.#holder && now < until) return false;
    return this.#write(before, { holder: this.#holder, until: now + leaseMs }, endsAt);
  }

  /** Gives the lease up, so that another instance does not have to wait. */
  async release(): Promise<void> {
    if (!this.#parts.isShared || !this.isHeld) return;
    const before = await this.#read();
    if (before?.value.holder === this.#holder) await this.#write(before, { holder: null, until: 0 }, 0);
  }

  #read(): Promise<Versioned<LeaseRecord> | undefined> {
    return this.#parts.records.read(this.#record.collection, this.#record.id);
  }

  async #write(before: { version: number } | undefined, next: LeaseRecord, endsAt: number): Promise<boolean> {
    try {
      const { collection, id } = this.#record;
      const change = put(collection, id, before?.version, next);
      await this.#parts.records.commit([change], this.#parts.clock.now());
      this.#endsAt = endsAt;
      return next.holder !== null;
    } catch (error) {
      if (!isOvertaken(error)) throw error;
      this.#endsAt = 0; // another instance was faster
      return false;
    }
  }
}
