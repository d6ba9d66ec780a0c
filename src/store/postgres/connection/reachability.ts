/** Knows whether the database responds, from the results of the statements that were sent to it. */
import { setTimeout as pass } from "node:timers/promises";
import { createBackOff } from "../../core/back-off.ts";
import { Damage } from "../../core/checksums.ts";
import type { StoreHealth } from "../../port/store.ts";
import { describeError, failureOf, toClientError } from "./failures.ts";

/** The waits between two probes of an unreachable database, in milliseconds. */
const probeWaits = { first: 50, most: 2_000 };

/**
 * Derives the health of the store from the results of its work. While the database is unreachable, it probes the
 * database, because requests may not arrive.
 */
export class Reachability {
  readonly #probe: () => Promise<unknown>;
  readonly #closed = new AbortController();
  #probing: Promise<void> | undefined;
  #health: StoreHealth = { kind: "unreachable", reason: "the database has not been reached yet" };
  #isRelaxed = false;

  readonly damage: Damage;

  /** `probe` succeeds if the database responds. */
  constructor(probe: () => Promise<unknown>, damage = new Damage()) {
    this.#probe = probe;
    this.damage = damage;
  }

  get health(): StoreHealth {
    return {
      ...this.#health,
      ...(this.#isRelaxed && { durability: "relaxed" }),
      ...(this.damage.state && { data: this.damage.state }),
    };
  }

  /** Records that the database was reached for the first time. */
  noteReached({ isRelaxed }: { isRelaxed: boolean }): void {
    this.#isRelaxed = isRelaxed;
    this.#health = { kind: "ok" };
  }

  /** Records that the database responded. `isWrite`: it also had space for a write. */
  noteSuccess({ isWrite = false } = {}): void {
    if (this.#health.kind === "unreachable" || isWrite) this.#health = { kind: "ok" };
  }

  /** Records an error, and returns the error for the caller. */
  noteFailure(error: unknown): unknown {
    const failure = failureOf(error);
    if (failure === "lost" || failure === "refused") {
      this.#health = { kind: "unreachable", reason: describeError(error) };
      this.#probing ??= this.#probeUntilReached().finally(() => {
        this.#probing = undefined;
      });
    }
    if (failure === "readOnly") this.#health = { kind: "degraded", reason: "the database accepts no writes" };
    if (failure === "denied")
      this.#health = { kind: "degraded", reason: "the database denies the service a permission" };
    if (failure === "full") this.#health = { kind: "degraded", reason: "the disk of the store is full" };
    return this.damage.seen(toClientError(error));
  }

  /** Runs work and records its result. Throws the error for the caller. */
  async watch<T>(work: () => Promise<T>, how?: { isWrite: boolean }): Promise<T> {
    try {
      const result = await work();
      this.noteSuccess(how);
      return result;
    } catch (error) {
      throw this.noteFailure(error);
    }
  }

  /** Stops probing. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#probing;
  }

  async #probeUntilReached(): Promise<void> {
    const nextWait = createBackOff(probeWaits);
    const { signal } = this.#closed;
    while (this.#health.kind === "unreachable") {
      await pass(nextWait(), undefined, { signal, ref: false }).catch(() => {}); // closed
      if (signal.aborted) return;
      await this.#probe().then(
        () => this.noteSuccess(),
        () => {}, // not yet
      );
    }
  }
}
