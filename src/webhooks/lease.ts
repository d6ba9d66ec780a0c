/** The lease of a store: of several instances, one delivers for all webhooks. */
import { Problem } from "../errors.ts";
import type { WebhookParts } from "./delivery.ts";
import { put, type Versioned } from "./records.ts";
import { statesName } from "./webhook.ts";

/** The id of the lease among the states of webhooks. */
const leaseId = "lease";

/** How long a lease is valid, in milliseconds. Another instance takes over at most `renewMs` after that. */
const leaseMs = 20_000;

/** How often an instance renews or looks at the lease, in milliseconds. */
export const renewMs = 5_000;

interface LeaseRecord {
  holder: string | null;
  until: number;
}

/** The part of one instance in the lease. */
export class Lease {
  readonly #parts: Pick<WebhookParts, "records" | "clock" | "isShared">;
  readonly #holder: string;
  #until = 0;

  constructor(parts: Pick<WebhookParts, "records" | "clock" | "isShared" | "newUuid">) {
    this.#parts = parts;
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
    return this.#parts.records.read(statesName, leaseId);
  }

  async #write(before: { version: number } | undefined, next: LeaseRecord): Promise<boolean> {
    try {
      await this.#parts.records.commit(
        [put(statesName, leaseId, before?.version, next)],
        this.#parts.clock.now(),
      );
      this.#until = next.until;
      return next.holder !== null;
    } catch (error) {
      if (!isOvertaken(error)) throw error;
      this.#until = 0; // another instance was faster
      return false;
    }
  }
}

/** Whether a commit failed because another one came first. */
export function isOvertaken(error: unknown): boolean {
  return error instanceof Problem && error.code === "PRECONDITION_FAILED";
}
