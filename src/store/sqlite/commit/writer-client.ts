/** Starts the writer thread, sends it requests, and detects its death. */
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { Problem, StartError } from "../../../errors.ts";
import type { WriterAnswer, WriterMessage, WriterRequest, WriterSettings } from "./protocol.ts";

interface Pending {
  resolve(answer: WriterAnswer): void;
  reject(error: unknown): void;
}

/** What the store has of its writer. */
export type Writer = Pick<WriterClient, "send" | "close">;

/** In the place of a writer: it refuses everything. */
export const noWriter: Writer = {
  send: async () => ({ kind: "problem", code: "UNAVAILABLE", detail: "The store is read-only." }),
  close: async () => {},
};

/** The store's end of the writer thread. */
export class WriterClient {
  readonly #worker: Worker;
  readonly #onFailure: (reason: string) => void;
  readonly #exited: Promise<void>;
  /** Requests without an answer; answers come in the same order. */
  #pending: Pending[] = [];
  #isClosing = false;
  #isDead = false;

  /** Starts the thread. Throws StartError when it cannot open the file. */
  static async start(settings: WriterSettings, onFailure: (reason: string) => void): Promise<WriterClient> {
    // The file is .ts in a clone and .js when published.
    const file = new URL(`../writer/thread${extname(import.meta.url)}`, import.meta.url);
    const worker = new Worker(file, { workerData: settings, name: "holdfast-writer" });
    await new Promise<void>((resolve, reject) => {
      worker.once("error", reject);
      worker.once("message", (message: WriterMessage) => {
        worker.off("error", reject);
        if (message.kind !== "unopened") return resolve();
        worker.terminate().catch(() => {});
        reject(new StartError(`${settings.path} cannot be opened for writing: ${message.reason}.`));
      });
    });
    return new WriterClient(worker, onFailure);
  }

  private constructor(worker: Worker, onFailure: (reason: string) => void) {
    this.#worker = worker;
    this.#onFailure = onFailure;
    worker.on("message", (message: WriterMessage) => this.#hear(message));
    worker.on("error", (error) => this.#die(error instanceof Error ? error.message : String(error)));
    this.#exited = new Promise((resolve) => {
      worker.once("exit", () => {
        this.#die("the thread that writes to the store has ended");
        resolve();
      });
    });
  }

  /** Sends a request to the writer. Rejects with OUTCOME_UNKNOWN if the writer dies before it responds. */
  send(request: WriterRequest): Promise<WriterAnswer> {
    if (this.#isDead) return Promise.reject(new Problem("UNAVAILABLE", "The store has failed."));
    return new Promise((resolve, reject) => {
      this.#pending.push({ resolve, reject });
      this.#worker.postMessage(request);
    });
  }

  /** Lets the writer finish what it was asked for, and ends the thread. */
  async close(): Promise<void> {
    if (!this.#isDead) {
      this.#isClosing = true;
      await this.send({ kind: "close" }).catch(() => {}); // it died meanwhile
    }
    await this.#exited;
  }

  #hear(message: WriterMessage): void {
    if (message.kind !== "answers") return;
    const asked = this.#pending.splice(0, message.answers.length);
    for (const [index, { resolve }] of asked.entries()) resolve(message.answers[index] as WriterAnswer);
    if (message.failure !== undefined) this.#onFailure(message.failure);
  }

  #die(reason: string): void {
    if (this.#isDead) return;
    this.#isDead = true;
    const pending = this.#pending;
    this.#pending = [];
    for (const { reject } of pending) {
      reject(new Problem("OUTCOME_UNKNOWN", "The store failed before it reported the outcome of the write."));
    }
    if (!this.#isClosing) this.#onFailure(reason);
  }
}
