/** An import as the store sees it. The transaction itself is open in the writer thread. */
import { Problem, StartError } from "../../../errors.ts";
import type { Load, Refused } from "../../load.ts";
import type { CollectionRecord } from "../../record.ts";
import type { WriterAnswer, WriterRequest } from "./protocol.ts";

/** How an import talks to the writer. */
export interface LoadParts {
  send(request: WriterRequest): Promise<WriterAnswer>;
  onEnd(): void;
}

/** An import under way. Once a part of it has failed, nothing of it is left in the store. */
export class SqliteLoad implements Load {
  /** The name of the collection that resources are for. */
  collection: string;
  /** Its number, which nobody else knows yet where the import makes it. */
  number: number | undefined;
  readonly #among: readonly string[];
  readonly #parts: LoadParts;
  #failure: unknown;
  #hasEnded = false;

  constructor(collection: string, among: readonly string[], parts: LoadParts) {
    this.collection = collection;
    this.#among = among;
    this.#parts = parts;
  }

  /** Begins the transaction. Throws StartError when the collection cannot be as given. */
  async begin(into: number | CollectionRecord): Promise<void> {
    const request = { kind: "load", into, at: Date.now(), among: this.#among } as const;
    const answer = await this.#parts.send(request);
    if (answer.kind === "mistake" && typeof into === "object") throw new StartError(answer.message);
    requireDone(answer);
    if (answer.kind === "loading") this.number = answer.collection;
  }

  async next(collection: CollectionRecord): Promise<void> {
    await this.begin(collection);
    this.collection = collection.name;
  }

  async add(resources: readonly { id: string; text: string }[]): Promise<readonly Refused[]> {
    const cells: string[] = [];
    for (const { id, text } of resources) cells.push(id, text);
    const answer = await this.#send({ kind: "add", cells });
    return answer.kind === "added" ? answer.refused : [];
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
      requireDone(await this.#parts.send({ kind: "cancel" }));
    } finally {
      this.#end();
    }
  }

  async #send(request: WriterRequest): Promise<WriterAnswer> {
    if (this.#hasEnded) throw new Error("The import has ended.");
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return requireDone(await this.#parts.send(request));
    } catch (error) {
      this.#failure ??= error;
      throw error;
    }
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#parts.onEnd();
  }
}

/** Gives the answer, or throws UNAVAILABLE when the writer could not do it as things are. */
function requireDone(answer: WriterAnswer): WriterAnswer {
  if (answer.kind === "mistake") throw new Problem("UNAVAILABLE", answer.message);
  return answer;
}
