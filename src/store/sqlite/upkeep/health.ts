/** The health of a store. It follows from the results of its reads and writes. */
import { Problem } from "../../../errors.ts";
import type { StoreHealth } from "../../store.ts";

/** The state of one store. */
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

  /** Throws UNAVAILABLE if the store is closed or has failed. */
  requireWorking(): void {
    if (this.#isClosed) throw new Problem("UNAVAILABLE", "The store is closed.");
    if (this.#now.kind === "failed") throw new Problem("UNAVAILABLE", "The store has failed.");
  }

  /** Marks the store as closed. Later failures are expected, so they are not reported. */
  close(): void {
    this.#isClosed = true;
  }

  /** Stops the store permanently. */
  fail(reason: string): void {
    if (this.#now.kind === "failed" || this.#isClosed) return;
    this.#now = { kind: "failed", reason };
    this.#onFailure(reason);
  }

  /** Records that a write failed because the disk is full. */
  noteFull(): void {
    if (this.#now.kind === "ok") this.#now = { kind: "degraded", reason: "the disk of the store is full" };
  }

  /** Records that a write succeeded, so the disk has space. */
  noteSpace(): void {
    if (this.#now.kind === "degraded") this.#now = { kind: "ok" };
  }
}
