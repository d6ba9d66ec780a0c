/** Has changes and receipts removed that are no longer to be kept, beside everything else: a slice at a time, with pauses for others who write. */
import { setTimeout as pass } from "node:timers/promises";
import type { WriterAnswer, WriterRequest } from "./protocol.ts";

/** Between two slices. */
const pauseMs = 5;

/** Asks the writer for slice after slice, at its start and then from time to time. */
export class Sweeping {
  readonly #ask: (request: WriterRequest) => Promise<WriterAnswer>;
  readonly #everyMs: number;
  readonly #stopped = new AbortController();
  #work: Promise<void> = Promise.resolve();

  constructor(ask: (request: WriterRequest) => Promise<WriterAnswer>, everyMs: number) {
    this.#ask = ask;
    this.#everyMs = everyMs;
  }

  /** Begins. It never keeps the program running. */
  start(): void {
    this.#work = this.#sweep();
  }

  /** Leaves off; another time goes on from there. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#work;
  }

  async #sweep(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const answer = await this.#ask({ kind: "trim", now: Date.now() }).catch(() => undefined); // another time
      const ms = answer?.kind === "trimmed" && answer.more ? pauseMs : this.#everyMs;
      await pass(ms, undefined, { signal, ref: false }).catch(() => {}); // stopped
    }
  }
}
