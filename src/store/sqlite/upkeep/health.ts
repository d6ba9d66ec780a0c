/** Whether the store works, as it learns of it from what it does. */
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

  /** The store has been asked to close: what fails from now on was to be expected. */
  close(): void {
    this.#isClosed = true;
  }

  /** Stops for good: from now on everything is refused. */
  fail(reason: string): void {
    if (this.#now.kind === "failed" || this.#isClosed) return;
    this.#now = { kind: "failed", reason };
    this.#onFailure(reason);
  }

  /** A write found no room. */
  noteFull(): void {
    if (this.#now.kind === "ok") this.#now = { kind: "degraded", reason: "the disk of the store is full" };
  }

  /** Something was written, so there is room. */
  noteRoom(): void {
    if (this.#now.kind === "degraded") this.#now = { kind: "ok" };
  }
}
