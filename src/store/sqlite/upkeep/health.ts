/** Whether the store works, from the results of its writes. */
import { Problem } from "../../../errors.ts";
import type { StoreHealth } from "../../store.ts";

/** The health of one store. */
export class Health {
  readonly #onFailure: (reason: string) => void;
  #now: StoreHealth = { kind: "ok" };
  #isClosed = false;

  constructor(onFailure: (reason: string) => void) {
    this.#onFailure = onFailure;
  }

  get now(): StoreHealth {
    return this.#now;
  }

  /** Throws UNAVAILABLE for a store that has stopped. */
  requireWorking(): void {
    if (this.#isClosed) throw new Problem("UNAVAILABLE", "The store is closed.");
    if (this.#now.kind === "failed") throw new Problem("UNAVAILABLE", "The store has failed.");
  }

  /** The store is closing. Later failures are expected, and are not reported. */
  close(): void {
    this.#isClosed = true;
  }

  /** Stops the store permanently. */
  fail(reason: string): void {
    if (this.#now.kind === "failed" || this.#isClosed) return;
    this.#now = { kind: "failed", reason };
    this.#onFailure(reason);
  }

  /** A write failed because the disk is full. */
  noteFull(): void {
    if (this.#now.kind === "ok") this.#now = { kind: "degraded", reason: "the disk of the store is full" };
  }

  /** A write succeeded, so the disk has space. */
  noteSpace(): void {
    if (this.#now.kind === "degraded") this.#now = { kind: "ok" };
  }
}
