/** Starts the writer thread, sends it requests, and detects that it has ended. */
import type { Worker } from "node:worker_threads";
import { Problem, StartError } from "../../../errors.ts";
import { startThread } from "../../../program.ts";
import type { WriterAnswer, WriterMessage, WriterRequest, WriterSettings } from "./protocol.ts";

interface Pending {
  resolve(answer: WriterAnswer): void;
  reject(error: unknown): void;
}

/** The writer as the store uses it. */
export type WriterConnection = Pick<WriterClient, "send" | "close">;

/** The writer of a read-only store. It refuses every request. */
export const refusingWriter: WriterConnection = {
  send: async () => ({ kind: "problem", code: "UNAVAILABLE", detail: "The store is read-only." }),
  close: async () => {},
};

/** The connection of the store to its writer thread. */
export class WriterClient {
  readonly #worker: Worker;
  readonly #onFailure: (reason: string) => void;
  readonly #exited: Promise<void>;
  /** The requests without an answer. The answers arrive in the same order. */
  #pending: Pending[] = [];
  #isClosing = false;
  #hasEnded = false;

  /** Starts the thread. Throws StartError if it cannot open the file. */
  static async start(settings: WriterSettings, onFailure: (reason: string) => void): Promise<WriterClient> {
    const worker = startThread("store/sqlite/writer/thread", {
      workerData: settings,
      name: "holdfast-writer",
    });
    await new Promise<void>((resolve, reject) => {
      worker.once("error", reject);
      worker.once("message", (message: WriterMessage) => {
        worker.off("error", reject);
        if (message.kind !== "openFailed") return resolve();
        worker.terminate().catch(() => {});
        reject(new StartError(`${settings.path} cannot be opened for writing: ${message.reason}.`));
      });
    });
    return new WriterClient(worker, onFailure);
  }

  private constructor(worker: Worker, onFailure: (reason: string) => void) {
    this.#worker = worker;
    this.#onFailure = onFailure;
    worker.on("message", (message: WriterMessage) => this.#receive(message));
    worker.on("error", (error) => this.#end(error instanceof Error ? error.message : String(error)));
    this.#exited = new Promise((resolve) => {
      worker.once("exit", () => {
        this.#end("the thread that writes to the store has ended");
        resolve();
      });
    });
  }

  /** Sends a request to the writer. Throws OUTCOME_UNKNOWN if the thread ends before it answers. */
  send(request: WriterRequest): Promise<WriterAnswer> {
    if (this.#hasEnded) return Promise.reject(new Problem("UNAVAILABLE", "The store has failed."));
    return new Promise((resolve, reject) => {
      this.#pending.push({ resolve, reject });
      this.#worker.postMessage(request);
    });
  }

  /** Ends the thread, after it has completed all requests. */
  async close(): Promise<void> {
    if (!this.#hasEnded) {
      this.#isClosing = true;
      await this.send({ kind: "close" }).catch(() => {}); // fails if the thread ends before it answers
    }
    await this.#exited;
  }

  #receive(message: WriterMessage): void {
    if (message.kind !== "answers") return;
    const answered = this.#pending.splice(0, message.answers.length);
    for (const [index, { resolve }] of answered.entries()) resolve(message.answers[index] as WriterAnswer);
    if (message.failure !== undefined) this.#onFailure(message.failure);
  }

  #end(reason: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const pending = this.#pending;
    this.#pending = [];
    for (const { reject } of pending) {
      reject(new Problem("OUTCOME_UNKNOWN", "The store failed before it reported the outcome of the write."));
    }
    if (!this.#isClosing) this.#onFailure(reason);
  }
}
