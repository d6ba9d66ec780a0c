/**
 * The threads that answer requests beside the main thread: starts them, tells them what to do, and notices when one of them ends.
 * All messages are plain data.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { MessageChannel, type MessagePort, type Worker } from "node:worker_threads";
import type { FirstKeyOffer } from "../access/first-key.ts";
import { type Config, type ConfigOrigin, originOf } from "../config.ts";
import { StartError, type StartFault } from "../errors.ts";
import type { CountsMemory } from "../http/admission/counts.ts";
import type { ExactCounts } from "../http/admission/exact-counts.ts";
import type { Metrics } from "../http/service.ts";
import type { WireBounds } from "../http/wire/bounds.ts";
import type { KeyPair } from "../http/wire/tls.ts";
import type { ThreadMetrics } from "../observe/metrics.ts";
import { startThread } from "../program.ts";
import type { StoreAttachment } from "../store/port/store.ts";
import { answerCalls, type Methods } from "./calls.ts";

/** What a thread gets when it starts. */
export interface ThreadData {
  /** The number of the thread, from 1. The main thread has 0. */
  number: number;
  /** What the configuration of the main thread was made of. */
  config: ConfigOrigin;
  /** The TCP port on which the main thread listens. */
  tcpPort: number;
  /** Whether to log a line about each request. */
  logRequests: boolean;
  /** The certificate that the main thread has read; absent without TLS. */
  keyPair?: KeyPair | undefined;
  /** Whether the main thread has prepared the store. Otherwise it sends `prepared` later. */
  isPrepared: boolean;
  /** Memory in which all threads count what they limit together. The main thread makes it. */
  memory: CountsMemory;
  /** For calls of the main thread. */
  port: MessagePort;
  /** What the thread needs to use the store of the main thread; absent if it opens the store itself. */
  attachment?: unknown;
  /** For tests and measurements. */
  wireBounds?: Partial<WireBounds> | undefined;
}

/** From the main thread. */
export type ToThread =
  | { kind: "prepared" }
  /** Turn readiness off. Every response closes its connection from now on. */
  | { kind: "drain" }
  /** Answer all accepted requests, then close the listener and the store, and end. */
  | { kind: "stop" }
  /** Encrypt new connections with this certificate. */
  | { kind: "keyPair"; pair: KeyPair }
  /** Accept this token for the first API key. */
  | { kind: "firstKey"; offer: FirstKeyOffer }
  /** Send the metrics of this thread. */
  | { kind: "measure" };

/** To the main thread. */
export type FromThread =
  | { kind: "listening" }
  /** The thread cannot start, because of these faults. */
  | { kind: "refused"; faults: readonly StartFault[] }
  /** The store of the thread has failed permanently. */
  | { kind: "failed"; reason: string }
  /** Complete lines for the log. */
  | { kind: "log"; lines: readonly string[] }
  | { kind: "measured"; metrics: ThreadMetrics };

/** What the main thread provides to the others. */
export interface ThreadsOptions {
  /** What each thread gets, in addition to its number and the configuration. */
  data: Omit<ThreadData, "number" | "config" | "port" | "attachment">;
  /** What the main thread counts for the others. */
  exact: ExactCounts;
  /** What the capabilities of the main thread do for one of the others. */
  methodsOfCapabilities: () => Methods;
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

  constructor(data: Omit<ThreadData, "port" | "attachment">, options: ThreadsOptions) {
    this.#number = data.number;
    this.#options = options;
    const { attachment, transfer = [] } = options.attach() ?? {};
    const { port1, port2 } = new MessageChannel();
    const { exact, metrics, methodsOfCapabilities } = options;
    answerCalls(port1, {
      ...exact,
      metricsText: () => metrics?.exposition(),
      ...methodsOfCapabilities(),
    });
    this.#worker = startThread("server/thread", {
      workerData: { ...data, attachment, port: port2 } satisfies ThreadData,
      transferList: [...transfer, port2],
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
    }
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
    const common = { ...data, config: originOf(config) };
    const numbers = Array.from({ length: count - 1 }, (_, index) => index + 1);
    const all = numbers.map((number) => new Thread({ ...common, number }, options));
    try {
      await Promise.all(all.map(({ listening }) => listening));
    } catch (error) {
      await Promise.all(all.map((thread) => thread.end()));
      throw error;
    }
    const threads = new Threads(all);
    if (!data.isPrepared) void prepared.then(() => threads.send({ kind: "prepared" }));
    return threads;
  }

  /** Sends all threads a message. */
  send(message: ToThread): void {
    for (const thread of this.#all) thread.send(message);
  }

  /** Stops all threads gracefully. Resolves when all of them have ended. */
  async stop(): Promise<void> {
    await Promise.all(this.#all.map((thread) => thread.stop()));
  }

  /** The metrics of each thread. */
  async metrics(): Promise<readonly ThreadMetrics[]> {
    const measured = await Promise.all(this.#all.map((thread) => thread.measure()));
    return measured.filter((each) => each !== undefined);
  }
}
