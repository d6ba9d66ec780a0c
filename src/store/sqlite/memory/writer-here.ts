/** The writer of a store in memory. It works in the thread of the store, and no other thread uses it. */

import type { RequestFor, WriterAnswer, WriterRequest, WriterTasks } from "../commit/protocol.ts";
import type { FinalAnswer, WriterConnection, WriterEvents } from "../commit/writer-client.ts";
import { isAboutConnection } from "../writer/request-loop.ts";
import type { Writer } from "../writer/writer.ts";

/** What the writer tells its store. */
export interface WriterHereEvents extends Pick<WriterEvents, "onFailure" | "onChanged"> {
  /** An import begins its transaction. Called before each of its collections. */
  beforeLoad(): void;
  /** The import has ended. */
  afterLoad(): void;
}

/** Performs each request at once. Only one connection exists, so it always holds the writer. */
export class WriterHere implements WriterConnection {
  readonly #writer: Writer;
  readonly #events: WriterHereEvents;

  constructor(writer: Writer, events: WriterHereEvents) {
    this.#writer = writer;
    this.#events = events;
  }

  async send(sent: WriterRequest): Promise<FinalAnswer> {
    if (isAboutConnection(sent)) return { result: undefined };
    // As between threads: neither side keeps an object of the other one.
    const answer = structuredClone(this.#perform(structuredClone(sent)));
    const changed = this.#writer.takeChanged();
    if (changed.length > 0) this.#events.onChanged(changed);
    const { failure } = this.#writer;
    if (failure !== undefined) this.#events.onFailure(failure);
    return answer as FinalAnswer;
  }

  connect(): never {
    throw new Error("Only the thread that has opened a store in memory can use it.");
  }

  async close(): Promise<void> {
    this.#events.afterLoad();
    this.#writer.perform({ name: "close", args: [] });
  }

  #perform(request: WriterRequest): WriterAnswer {
    if (request.name === "commit" || request.name === "commitLarge")
      return this.#writer.commit([request.args])[0] as WriterAnswer;
    if (request.name === "load") this.#events.beforeLoad();
    const answer = this.#writer.perform(request as RequestFor<keyof WriterTasks>);
    if (!this.#writer.isLoading) this.#events.afterLoad();
    return answer;
  }
}
