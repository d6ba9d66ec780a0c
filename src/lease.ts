/** The lease of a store: one of the instances that share it does some work for all of them. */
import type { Clock } from "./clock.ts";
import { isOvertaken, put, type Records, type Versioned } from "./records.ts";

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
  clock: Clock;
  /** Whether several instances can use the store. Otherwise no lease is needed. */
  isShared: boolean;
  newUuid: () => string;
}

/** The part of one instance in a lease, which is one record of an internal collection. */
export class Lease {
  readonly #parts: LeaseParts;
  readonly #record: { collection: string; id: string };
  readonly #holder: string;
  #until = 0;

  constructor(parts: LeaseParts, record: { collection: string; id: string }) {
    this.#parts = parts;
    this.#record = record;
    this.#holder = parts.newUuid();
  }

  /** Whether this instance holds a lease that is valid now. A store that only one instance can open needs none. */
  get isHeld(): boolean {
    return !this.#parts.isShared || this.#parts.clock.now() < this.#until;
  }

  /** Takes or renews the lease. Returns whether this instance holds it. */
  async take(): Promise<boolean> {
    const { clock, isShared } = this.#parts;
    if (!isShared) return true;
    const now = clock.now();
    const before = await this.#read();
    const { holder = null, until = 0 } = before?.value ?? {};
    if (holder !== null && holder !== this.#holder && now < until) return false;
    return this.#write(before, { holder: this.#holder, until: now + leaseMs });
  }

  /** Gives the lease up, so that another instance does not have to wait. */
  async release(): Promise<void> {
    if (!this.#parts.isShared || !this.isHeld) return;
    const before = await this.#read();
    if (before?.value.holder === this.#holder) await this.#write(before, { holder: null, until: 0 });
  }

  #read(): Promise<Versioned<LeaseRecord> | undefined> {
    return this.#parts.records.read(this.#record.collection, this.#record.id);
  }

  async #write(before: { version: number } | undefined, next: LeaseRecord): Promise<boolean> {
    try {
      const { collection, id } = this.#record;
      const change = put(collection, id, before?.version, next);
      await this.#parts.records.commit([change], this.#parts.clock.now());
      this.#until = next.until;
      return next.holder !== null;
    } catch (error) {
      if (!isOvertaken(error)) throw error;
      this.#until = 0; // another instance was faster
      return false;
    }
  }
}
