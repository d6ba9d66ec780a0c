/** Has the words of collections gathered for search, beside everything else: what a new declaration asks for takes a while. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setTimeout as pass } from "node:timers/promises";
import { wordsVersion } from "../../query/words.ts";
import type { WriterAnswer, WriterRequest } from "./protocol.ts";

/** Between two slices, for others who write. */
const pauseMs = 2;
/** While there is no room, or an import is under way. */
const retryMs = 250;

/** Asks the writer for slice after slice. */
export class Gathering {
  readonly #ask: (request: WriterRequest) => Promise<WriterAnswer>;
  readonly #due: StatementSync;
  readonly #stopped = new AbortController();
  #isWorking = false;
  #work: Promise<void> = Promise.resolve();

  constructor(database: DatabaseSync, ask: (request: WriterRequest) => Promise<WriterAnswer>) {
    this.#ask = ask;
    this.#due = database.prepare(
      "select 1 from searches where indexed_to is not null or words_version <> ? limit 1",
    );
  }

  /** Begins with what there is to do. Call it again when there may be more. */
  start(): void {
    if (this.#isWorking) return;
    this.#isWorking = true;
    this.#work = this.#gather();
  }

  /** Leaves off; another time goes on from there. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#work;
  }

  async #gather(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted && this.#isDue()) {
      const answer = await this.#ask({ kind: "gather" }).catch(() => undefined);
      const ms = answer?.kind === "gathered" ? pauseMs : retryMs;
      await pass(ms, undefined, { signal, ref: false }).catch(() => {}); // stopped
    }
    // In the same turn as the last look, or a start between the two would be lost.
    this.#isWorking = false;
  }

  #isDue(): boolean {
    try {
      return this.#due.get(wordsVersion) !== undefined;
    } catch {
      return false; // the file cannot be read, which whoever searches is told
    }
  }
}
