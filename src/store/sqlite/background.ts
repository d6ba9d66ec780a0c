/** What a store does beside everything else, from its opening to its close. */
import type { DatabaseSync } from "node:sqlite";
import type { Asks } from "./asks.ts";
import { startCheck } from "./check.ts";
import { Gathering } from "./gathering.ts";
import type { Health } from "./health.ts";
import { Sweeping } from "./sweeping.ts";
import { watchFiles } from "./watch.ts";

/** What it works on. */
export interface BackgroundParts {
  path: string;
  database: DatabaseSync;
  sweepMs: number;
  asks: Asks;
  health: Health;
  /** Whether an import has the writer to itself. */
  isLoading: () => boolean;
}

/** Gathers words, sweeps out what is no longer kept, watches the files and checks what is in them. */
export class Background {
  readonly #parts: BackgroundParts;
  readonly #gathering: Gathering;
  readonly #sweeping: Sweeping;
  readonly #stopWatching: () => void;
  readonly #endCheck: () => Promise<void>;

  /** Starts everything. */
  constructor(parts: BackgroundParts) {
    const { path, database, sweepMs, asks, health } = parts;
    this.#parts = parts;
    this.#gathering = new Gathering(database, (request) => asks.ask(request));
    this.#gathering.start();
    this.#sweeping = new Sweeping((request) => asks.ask(request), sweepMs);
    this.#sweeping.start();
    this.#stopWatching = watchFiles(path, {
      onGone: (reason) => health.fail(reason),
      onTick: () => this.#probe(),
    });
    this.#endCheck = startCheck(path, (reason) => health.fail(reason));
  }

  /** There may be words to gather. */
  gather(): void {
    this.#gathering.start();
  }

  /** Ends everything; what is left to do is done another time. */
  async stop(): Promise<void> {
    this.#stopWatching();
    await Promise.all([this.#gathering.stop(), this.#sweeping.stop(), this.#endCheck()]);
  }

  /** Nobody may be writing any more to a service that says it is full, so the store itself looks for room. */
  #probe(): void {
    const { asks, health, isLoading } = this.#parts;
    if (health.now.kind !== "degraded" || isLoading()) return;
    asks.ask({ kind: "probe" }).catch(() => {}); // still full
  }
}
