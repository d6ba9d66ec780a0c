/**
 * The health of a store: it works, its disk is full, or it has failed. Reads and writes report their results here. This file
 * checks nothing itself.
 */
import { Problem } from "../../../errors.ts";
import type { Damage } from "../../core/checksums.ts";
import type { StoreHealth } from "../../port/store.ts";

/** The health of one store. */
export class Health {
  readonly #onFailure: (reason: string) => void;
  #now: StoreHealth = { kind: "ok" };
  #isClosed = false;
  #isLogLong = false;
  readonly damage: Damage;

  constructor(onFailure: (reason: string) => void, damage: Damage) {
    this.#onFailure = onFailure;
    this.damage = damage;
  }

  get now(): StoreHealth {
    const now = this.#isLogLong ? { ...this.#now, log: "long" as const } : this.#now;
    const { state } = this.damage;
    return state === undefined ? now : { ...now, data: state };
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

  /** Marks the store as failed, permanently, and reports the reason. */
  fail(reason: string): void {
    if (this.#now.kind === "failed" || this.#isClosed) return;
    this.#now = { kind: "failed", reason };
    this.#onFailure(reason);
  }

  /** Records whether too much of the log waits for a checkpoint. */
  noteLog(isLong: boolean): void {
    this.#isLogLong = isLong;
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
