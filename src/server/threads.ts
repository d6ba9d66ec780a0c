/** The threads that answer requests beside the main thread: starts them, tells them what to do, and notices when one of them ends. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import type { FirstKeyOffer } from "../access/first-key.ts";
import { type Config, originOf } from "../config.ts";
import { StartError } from "../errors.ts";
import type { Metrics } from "../http/service.ts";
import type { KeyPair } from "../http/wire/tls.ts";
import type { ThreadMetrics } from "../observe/metrics.ts";
import { startThread } from "../program.ts";
import type { StoreAttachment } from "../store/port/store.ts";
import type { FromThread, ThreadData, ToThread } from "./thread-messages.ts";

/** What the main thread provides to the others. */
export interface ThreadsOptions {
  /** What each thread gets, in addition to its number and the configuration. */
  data: Omit<ThreadData, "number" | "threads" | "config" | "attachment">;
  /** Lets one more thread use the store. */
  attach: () => StoreAttachment | undefined;
  /** Resolves when the main thread has prepared the store. */
  prepared: Promise<void>;
  /** Makes the text of the metrics of all threads; absent if metrics are off. */
  metrics: Metrics | undefined;
  writeLines: (lines: readonly string[]) => void;
  /** Called if a thread ends or its store fails. The program must then end. */
  onFailure: (reason: string) => void;
}

/** How long a monitor waits for the metrics of a thread, in milliseconds. */
const measureMs = 3_000;

/** One thread. */
class Thread {
  readonly #worker: Worker;
  readonly #number: number;
  readonly #options: ThreadsOptions;
  readonly #listening = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  #isListening = false;
  #isStopping = false;
  #measured: PromiseWithResolvers<void> | undefined;
  #latest: ThreadMetrics | undefined;

  constructor(data: ThreadData, options: ThreadsOptions) {
    this.#number = data.number;
    this.#options = options;
    const { attachment, transfer = [] } = options.attach() ?? {};
    this.#worker = startThread("server/thread", {
      workerData: { ...data, attachment },
      transferList: [...transfer],
      name: `holdfast-${data.number}`, // `docs/how-to/watch.md` tells its readers to look for this name
    });
    this.#worker.on("message", (message: FromThread) => this.#handle(message));
    this.#worker.on("error", (error: unknown) => this.#fail(`failed: ${describe(error)}`));
    this.#worker.on("exit", () => {
      this.#fail("ended");
      this.#ended.resolve();
    });
  }

  /** Resolves when the thread listens. Rejects with StartError if it cannot, and with an Error if it ends. */
  get listening(): Promise<void> {
    return this.#listening.promise;
  }

  send(message: ToThread): void {
    this.#worker.postMessage(message);
  }

  /** Stops the thread gracefully. Resolves when it has ended. */
  stop(): Promise<void> {
    this.#isStopping = true;
    this.send({ kind: "stop" });
    return this.#ended.promise;
  }

  /** Ends the thread at once. */
  async end(): Promise<void> {
    this.#isStopping = true;
    await this.#worker.terminate();
  }

  /** The metrics of the thread. If it does not answer in time, they are those that it sent last: a counter must not fall. */
  async measure(): Promise<ThreadMetrics | undefined> {
    if (this.#measured === undefined) {
      this.#measured = Promise.withResolvers();
      this.send({ kind: "measure" });
    }
    const late = new AbortController();
    await Promise.race([this.#measured.promise, sleep(measureMs, undefined, { signal: late.signal })]);
    late.abort();
    return this.#latest;
  }

  #handle(message: FromThread): void {
    switch (message.kind) {
      case "listening":
        this.#isListening = true;
        this.#listening.resolve();
        break;
      case "refused":
        this.#isStopping = true;
        this.#listening.reject(new StartError(message.faults));
        break;
      case "failed":
        this.#options.onFailure(message.reason);
        break;
      case "log":
        this.#options.writeLines(message.lines);
        break;
      case "measured":
        this.#latest = message.metrics;
        this.#measured?.resolve();
        this.#measured = undefined;
        break;
      case "askMetrics":
        void this.#sendMetrics();
    }
  }

  async #sendMetrics(): Promise<void> {
    const text = await this.#options.metrics
      ?.exposition()
      .catch((error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }));
    if (text !== undefined) this.send({ kind: "metricsText", text });
  }

  #fail(what: string): void {
    if (this.#isStopping) return;
    this.#isStopping = true; // one failure is enough
    const reason = `Thread ${this.#number} of the service ${what}`;
    if (this.#isListening) this.#options.onFailure(reason);
    else this.#listening.reject(new Error(reason));
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** All threads beside the main thread. */
export class Threads {
  readonly #all: readonly Thread[];

  private constructor(all: readonly Thread[]) {
    this.#all = all;
  }

  /** Starts the threads. Resolves when all of them listen. Throws StartError if one of them cannot start. */
  static async start(config: Config, count: number, options: ThreadsOptions): Promise<Threads> {
    const { data, prepared } = options;
    const common = { ...data, threads: count, config: originOf(config) };
    const numbers = Array.from({ length: count - 1 }, (_, index) => index + 1);
    const all = numbers.map((number) => new Thread({ ...common, number }, options));
    try {
      await Promise.all(all.map(({ listening }) => listening));
    } catch (error) {
      await Promise.all(all.map((thread) => thread.end()));
      throw error;
    }
    const threads = new Threads(all);
    if (!data.isPrepared) void prepared.then(() => threads.#send({ kind: "prepared" }));
    return threads;
  }

  /** Turns the readiness of all threads off. */
  drain(): void {
    this.#send({ kind: "drain" });
  }

  /** Stops all threads gracefully. Resolves when all of them have ended. */
  async stop(): Promise<void> {
    await Promise.all(this.#all.map((thread) => thread.stop()));
  }

  /** Encrypts new connections with this certificate, in all threads. */
  useKeyPair(pair: KeyPair): void {
    this.#send({ kind: "keyPair", pair });
  }

  /** Lets a token be exchanged for the first API key in all threads. */
  offerFirstKey(offer: FirstKeyOffer): void {
    this.#send({ kind: "firstKey", offer });
  }

  /** The metrics of each thread. */
  async metrics(): Promise<readonly ThreadMetrics[]> {
    const measured = await Promise.all(this.#all.map((thread) => thread.measure()));
    return measured.filter((each) => each !== undefined);
  }

  #send(message: ToThread): void {
    for (const thread of this.#all) thread.send(message);
  }
}
