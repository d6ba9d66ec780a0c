/** Whether the database can be reached, as the last that happened tells it. */
import { setTimeout as pass } from "node:timers/promises";
import { createBackOff } from "../../back-off.ts";
import type { StoreHealth } from "../../store.ts";
import { answerTo, describeError, failureOf } from "./failures.ts";

/** How long is waited between two looks whether the database is there again, in milliseconds. */
const waits = { first: 50, most: 2_000 };

/** Watches what comes of the work with the database, and looks for one that is lost: nobody may send work to it meanwhile. */
export class Reachability {
  readonly #probe: () => Promise<unknown>;
  readonly #closed = new AbortController();
  #probing: Promise<void> | undefined;
  #health: StoreHealth = { kind: "unreachable", reason: "the database has not been reached yet" };
  #isRelaxed = false;

  /** `probe` succeeds where the database answers. */
  constructor(probe: () => Promise<unknown>) {
    this.#probe = probe;
  }

  get health(): StoreHealth {
    return this.#isRelaxed ? { ...this.#health, durability: "relaxed" } : this.#health;
  }

  /** The database was reached for the first time. */
  noteReached({ isRelaxed }: { isRelaxed: boolean }): void {
    this.#isRelaxed = isRelaxed;
    this.#health = { kind: "ok" };
  }

  /** Something was answered. `isWrite`: and there was room for it. */
  noteSuccess({ isWrite = false } = {}): void {
    if (this.#health.kind === "unreachable" || isWrite) this.#health = { kind: "ok" };
  }

  /** Takes an error into account and gives what it is answered with. */
  noteFailure(error: unknown): unknown {
    const failure = failureOf(error);
    if (failure === "lost" || failure === "refused") {
      this.#health = { kind: "unreachable", reason: describeError(error) };
      this.#probing ??= this.#lookForIt().finally(() => {
        this.#probing = undefined;
      });
    }
    if (failure === "readOnly") this.#health = { kind: "degraded", reason: "the database accepts no writes" };
    if (failure === "denied")
      this.#health = { kind: "degraded", reason: "the database denies the service a permission" };
    if (failure === "full") this.#health = { kind: "degraded", reason: "the disk of the store is full" };
    return answerTo(error);
  }

  /** Runs a piece of work and notes what came of it. Throws what it is answered with. */
  async watch<T>(work: () => Promise<T>, how?: { isWrite: boolean }): Promise<T> {
    try {
      const result = await work();
      this.noteSuccess(how);
      return result;
    } catch (error) {
      throw this.noteFailure(error);
    }
  }

  /** Looks no more. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#probing;
  }

  async #lookForIt(): Promise<void> {
    const nextWait = createBackOff(waits);
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
