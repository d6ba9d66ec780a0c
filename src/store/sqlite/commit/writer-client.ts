/** The connection of a store to the writer thread: sends requests, and detects that the thread has ended. */
import { MessageChannel, type MessagePort, type Worker } from "node:worker_threads";
import { Problem, StartError } from "../../../errors.ts";
import { startThread } from "../../../program.ts";
import { type ExpectedEnd, inProgress } from "../../core/loads.ts";
import type { WriterAnswer, WriterMessage, WriterRequest, WriterSettings } from "./protocol.ts";

/** A request without an answer. */
interface Pending {
  request: WriterRequest;
  resolve(answer: WriterAnswer): void;
  reject(error: unknown): void;
  /** Ends the wait for a thread that holds the writer. */
  timer?: NodeJS.Timeout;
}

/** The writer as the store uses it. */
export type WriterConnection = Pick<WriterClient, "send" | "connect" | "close">;

/** The writer of a read-only store. It refuses every request. */
export const refusingWriter: WriterConnection = {
  send: async () => ({ kind: "problem", code: "UNAVAILABLE", detail: "The store is read-only." }),
  connect: () => {
    throw new Error("A read-only store has no writer.");
  },
  close: async () => {},
};

/** What a connection does when the writer tells it something. */
export interface WriterEvents {
  /** The writer has stopped permanently. */
  onFailure(reason: string): void;
  /** Collections with these numbers may have changed. */
  onChanged(collections: readonly number[]): void;
  /** How long a request waits while another thread holds the writer, in milliseconds. */
  maxWaitMs: number;
  /** When the import of another thread will end. */
  expectedEnd: ExpectedEnd;
}

/** Starts the writer thread. Throws StartError if it cannot open the file. */
export async function startWriter(settings: WriterSettings, events: WriterEvents): Promise<WriterClient> {
  const worker = startThread("store/sqlite/writer/thread", { workerData: settings, name: "holdfast-writer" });
  await new Promise<void>((resolve, reject) => {
    worker.once("error", reject);
    worker.once("message", (message: WriterMessage) => {
      if (message.kind !== "openFailed") return resolve();
      worker.terminate().catch(() => {});
      reject(new StartError(`${settings.path} cannot be opened for writing: ${message.reason}.`));
    });
  });
  return new WriterClient(worker, events, "close");
}

/** Connects this thread to the writer that another thread has started. `port` is the result of `connect` there. */
export function joinWriter(port: MessagePort, events: WriterEvents): WriterClient {
  return new WriterClient(port, events, "disconnect");
}

/** A connection to the writer thread. */
export class WriterClient {
  readonly #channel: Worker | MessagePort;
  readonly #events: WriterEvents;
  readonly #lastRequest: "close" | "disconnect";
  readonly #exited: Promise<void>;
  /** The requests without an answer. The answers arrive in the same order. */
  #pending: Pending[] = [];
  /** The requests that wait until no other thread holds the writer. */
  readonly #held = new Set<Pending>();
  #isClosing = false;
  #hasEnded = false;

  /** `lastRequest` ends the writer, or only this connection. */
  constructor(channel: Worker | MessagePort, events: WriterEvents, lastRequest: "close" | "disconnect") {
    this.#channel = channel;
    this.#events = events;
    this.#lastRequest = lastRequest;
    channel.on("message", (message: WriterMessage) => this.#receive(message));
    channel.on("error", (error: unknown) =>
      this.#end(error instanceof Error ? error.message : String(error)),
    );
    this.#exited = new Promise((resolve) => {
      const onExit = () => {
        this.#end("the thread that writes to the store has ended");
        resolve();
      };
      if (lastRequest === "close") (channel as Worker).once("exit", onExit);
      else (channel as MessagePort).once("close", onExit);
    });
  }

  /**
   * Sends a request to the writer. While another thread holds the writer, the request waits, and gets the problem UNAVAILABLE if
   * that takes too long. Throws OUTCOME_UNKNOWN if the writer ends before it answers.
   */
  send(request: WriterRequest): Promise<WriterAnswer> {
    if (this.#hasEnded) return Promise.reject(new Problem("UNAVAILABLE", "The store has failed."));
    return new Promise((resolve, reject) => {
      this.#post({ request, resolve, reject });
    });
  }

  /** Returns a port for another thread of the process, which passes it to `joinWriter`. */
  connect(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    const request = { kind: "connect", port: port1 } as const;
    this.#post({ request, resolve: () => {}, reject: () => {} }, [port1]);
    return port2;
  }

  /** Ends the writer or the connection, after it has completed all requests. */
  async close(): Promise<void> {
    if (!this.#hasEnded) {
      this.#isClosing = true;
      await this.send({ kind: this.#lastRequest }).catch(() => {}); // fails if the thread ends before it answers
    }
    await this.#exited;
  }

  #post(pending: Pending, transfer: MessagePort[] = []): void {
    this.#pending.push(pending);
    this.#channel.postMessage(pending.request, transfer);
  }

  #receive(message: WriterMessage): void {
    if (message.kind === "free") this.#repeatHeld();
    if (message.kind !== "answers") return;
    const { answers, changed, failure } = message;
    if (changed.length > 0) this.#events.onChanged(changed);
    const answered = this.#pending.splice(0, answers.length);
    for (const [index, pending] of answered.entries()) {
      const answer = answers[index] as WriterAnswer;
      if (answer.kind === "held") this.#hold(pending);
      else settle(pending).resolve(answer);
    }
    if (failure !== undefined) this.#events.onFailure(failure);
  }

  #hold(pending: Pending): void {
    this.#held.add(pending);
    pending.timer ??= setTimeout(() => {
      if (!this.#held.delete(pending)) return; // it was sent again
      pending.reject(inProgress(this.#events.expectedEnd.secondsLeft(this.#events.maxWaitMs)));
    }, this.#events.maxWaitMs);
  }

  #repeatHeld(): void {
    const held = [...this.#held];
    this.#held.clear();
    for (const pending of held) this.#post(pending);
  }

  #end(reason: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const pending = this.#pending;
    this.#pending = [];
    for (const each of pending)
      settle(each).reject(
        new Problem("OUTCOME_UNKNOWN", "The store failed before it reported the outcome of the write."),
      );
    for (const each of this.#held)
      settle(each).reject(new Problem("UNAVAILABLE", "The store has failed. Nothing was written."));
    this.#held.clear();
    if (!this.#isClosing) this.#events.onFailure(reason);
  }
}

function settle(pending: Pending): Pending {
  clearTimeout(pending.timer);
  return pending;
}
