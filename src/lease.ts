/** The lease of a store: one of the instances that share it does some work for all of them. */
import type { Clock } from "./clock.ts";
import { openCollection } from "./collection/collection.ts";
import { isOvertaken, put, Records, type Versioned } from "./records.ts";
import type { ServingStore, Store } from "./store/port/store.ts";
import { StoreClock } from "./store-clock.ts";

/** The internal collection of leases. */
const leases = openCollection("_leases");

/** How long a lease is valid, in milliseconds. Another instance takes over at most `renewMs` after that. */
const leaseMs = 20_000;

/** How often an instance renews or looks at the lease, in milliseconds. */
export const renewMs = 5_000;

/** Why work ends when another instance can take over. */
export const leaseLost = "This instance no longer holds the lease of the store.";

interface LeaseRecord {
  holder: string | null;
  until: number;
}

/** What a lease depends on. */
export interface LeaseParts {
  /** The store that the instances share. Its clock decides. */
  store: ServingStore & Pick<Store, "time">;
  clock: Pick<Clock, "now">;
  /** Whether several instances can use the store. Otherwise no lease is needed. */
  isShared: boolean;
  newUuid: () => string;
}

/** The part of one instance in a lease. */
export class Lease {
  readonly #parts: LeaseParts;
  readonly #records: Records;
  readonly #name: string;
  readonly #holder: string;
  readonly #storeClock: StoreClock;
  /** When it ends at the latest, by a clock that nobody sets. */
  #endsAt = 0;
  /** Since when no other instance has held it, in Unix milliseconds. */
  #heldSince = 0;

  /** `name`: what the instances do under this lease. */
  constructor(parts: LeaseParts, name: string) {
    this.#parts = parts;
    this.#records = new Records(parts.store, [leases]);
    this.#name = name;
    this.#holder = parts.newUuid();
    this.#storeClock = new StoreClock(parts.store);
  }

  /** Whether this instance holds a lease that is valid now. A store that only one instance can open needs none. */
  get isHeld(): boolean {
    return !this.#parts.isShared || performance.now() < this.#endsAt;
  }

  /** Since when this instance holds it and no other one did in between, by the clock. Only after `take` has returned true. */
  get heldSince(): number {
    return this.#heldSince;
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
    // Before the commit, whose response can be lost.
    if (holder !== this.#holder) this.#heldSince = clock.now();
    return this.#write(before, { holder: this.#holder, until: now + leaseMs }, endsAt);
  }

  /** Gives the lease up, so that another instance does not have to wait. */
  async release(): Promise<void> {
    if (!this.#parts.isShared || !this.isHeld) return;
    const before = await this.#read();
    if (before?.value.holder === this.#holder) await this.#write(before, { holder: null, until: 0 }, 0);
  }

  #read(): Promise<Versioned<LeaseRecord> | undefined> {
    return this.#records.read(leases.name, this.#name);
  }

  async #write(before: { version: number } | undefined, next: LeaseRecord, endsAt: number): Promise<boolean> {
    try {
      const change = put(leases.name, this.#name, before?.version, next);
      await this.#records.commit([change], this.#parts.clock.now());
      this.#endsAt = endsAt;
      return next.holder !== null;
    } catch (error) {
      if (!isOvertaken(error)) throw error;
      this.#endsAt = 0; // another instance was faster
      return false;
    }
  }
}
