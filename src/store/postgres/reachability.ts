/** Whether the database can be reached, as the last that happened tells it. */
import { Problem } from "../../errors.ts";
import type { StoreHealth } from "../store.ts";
import { answerTo, describeError, failureOf } from "./failures.ts";

/** Watches what comes of the work with the database. */
export class Reachability {
  #health: StoreHealth = { kind: "unreachable", reason: "the database has not been reached yet" };
  #isRelaxed = false;

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
    const failure = failureOf(error instanceof Problem ? (error.cause ?? error) : error);
    if (failure === "lost") this.#health = { kind: "unreachable", reason: describeError(error) };
    if (failure === "readOnly") this.#health = { kind: "degraded", reason: "the database takes no writes" };
    if (failure === "full") this.#health = { kind: "degraded", reason: "there is no room left to write" };
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
}
