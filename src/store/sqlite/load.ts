/** An import as the store sees it. The transaction itself is open in the writer thread. */
import type { Load } from "../store.ts";
import { storeProblem } from "./failures.ts";
import type { WriterAnswer, WriterRequest } from "./protocol.ts";

/** An import under way. Once a part of it has failed, nothing of it is left in the store. */
export class SqliteLoad implements Load {
  readonly #ask: (request: WriterRequest) => Promise<WriterAnswer>;
  readonly #onEnd: () => void;
  #failure: unknown;
  #hasEnded = false;

  constructor(ask: (request: WriterRequest) => Promise<WriterAnswer>, onEnd: () => void) {
    this.#ask = ask;
    this.#onEnd = onEnd;
  }

  async add(arrivals: readonly { id: string; text: string }[]): Promise<readonly number[]> {
    const cells: string[] = [];
    for (const { id, text } of arrivals) cells.push(id, text);
    const answer = await this.#send({ kind: "add", cells });
    return answer.kind === "added" ? answer.taken : [];
  }

  async finish(): Promise<void> {
    try {
      await this.#send({ kind: "finish" });
    } finally {
      this.#end();
    }
  }

  async cancel(): Promise<void> {
    if (this.#hasEnded) return;
    try {
      requireDone(await this.#ask({ kind: "cancel" }));
    } finally {
      this.#end();
    }
  }

  async #send(request: WriterRequest): Promise<WriterAnswer> {
    if (this.#hasEnded) throw new Error("The import has ended.");
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return requireDone(await this.#ask(request));
    } catch (error) {
      this.#failure ??= error;
      throw error;
    }
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#onEnd();
  }
}

/** Gives the answer, or throws UNAVAILABLE when the writer could not do it as things are. */
export function requireDone(answer: WriterAnswer): WriterAnswer {
  if (answer.kind === "mistake") throw storeProblem("UNAVAILABLE", answer.message);
  return answer;
}
