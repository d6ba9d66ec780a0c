/**
 * Shortens the log after it has become long, for example because a program has read the store for a long time. The writer makes the
 * usual checkpoints (`../writer/checkpoints.ts`), but only after writes, and only while few pages wait.
 */
import type { DatabaseSync } from "node:sqlite";
import type { Worker } from "node:worker_threads";
import { startThread } from "../../../program.ts";
import type { WriterRequests } from "../commit/writer-client.ts";
import { createLogReader, duePages, type LogState, logSizeLimit, pageBytes } from "../file/log-state.ts";
import type { Health } from "./health.ts";

/** The parts of a store that this uses. */
export interface LongLogParts {
  path: string;
  database: DatabaseSync;
  maxLogBytes: number;
  onWarning: (text: string) => void;
  requests: WriterRequests;
  health: Health;
  /** Whether an import is in progress. */
  isLoading: () => boolean;
  /** Whether this thread removes old data, checks the file and shortens the log. One thread of the process does. */
  hasUpkeep: boolean;
}

/** The log of one store. */
export class LongLog {
  readonly #parts: LongLogParts;
  readonly #read: () => LogState;
  readonly #pageBytes: number;
  #last: LogState = { all: 0, waiting: 0 };
  #worker: Worker | undefined;

  constructor(parts: LongLogParts) {
    this.#parts = parts;
    this.#read = createLogReader(parts.database);
    this.#pageBytes = pageBytes(parts.database);
  }

  /**
   * Call it every few seconds. Starts a thread for checkpoints if one has been due since the last call and nothing was moved. Notes in
   * the health whether the log is too long.
   */
  check(): void {
    const { health, maxLogBytes, onWarning, requests, isLoading, hasUpkeep } = this.#parts;
    const state = this.#state();
    if (state === undefined) return;
    const { all, waiting } = state;
    const isTooLong = waiting * this.#pageBytes > maxLogBytes;
    if (isTooLong && hasUpkeep && health.now.log === undefined)
      onWarning(
        `${Math.round((waiting * this.#pageBytes) / 1e6)} MB of the log wait for a checkpoint. A program that reads the store for a long time, such as a backup, prevents it. The log takes space on the disk until that program has ended`,
      );
    health.noteLog(isTooLong);
    if (!hasUpkeep) return;
    const isStuck = all - waiting === this.#last.all - this.#last.waiting && this.#last.waiting >= duePages;
    this.#last = state;
    if (isStuck) this.#startThread();
    else if (waiting < duePages && all * this.#pageBytes > logSizeLimit && !isLoading())
      requests.send("restartLog").catch(() => {}); // the next check tries again
  }

  /** Ends the thread, after the checkpoint that it is making. */
  async stop(): Promise<void> {
    await this.#worker?.terminate();
  }

  #state(): LogState | undefined {
    try {
      return this.#read();
    } catch {
      return undefined; // reads and writes report the failures of the disk
    }
  }

  #startThread(): void {
    if (this.#worker !== undefined) return;
    const { path, health } = this.#parts;
    const worker = startThread("store/sqlite/upkeep/checkpoint-thread", {
      workerData: path,
      name: "holdfast-checkpoint",
    });
    this.#worker = worker;
    worker.unref();
    worker.once("error", () => {}); // the next check tries again
    worker.once("exit", () => {
      this.#worker = undefined;
    });
    worker.once("message", (reason: string) => health.fail(reason));
  }
}
