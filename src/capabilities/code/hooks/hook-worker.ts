/**
 * The worker beside one thread of the service, in which its hooks run. A call that fails its worker, such as by an endless loop, is ended
 * with it. The calls behind it run on the next worker, because hooks only calculate.
 */
import type { Worker } from "node:worker_threads";
import { Problem } from "../../../errors.ts";
import { startThread } from "../../../program.ts";
import { BusyWatch } from "../busy-watch.ts";
import { type FailureReason, failureOf, serviceStopped } from "../failure.ts";
import { endWorker, followWorker } from "../worker-ends.ts";
import type { HookOutput } from "./hook-call.ts";
import type { FromHookThread, HookMessage, HookThreadData } from "./hook-thread.ts";
import type { CallInput } from "./run-call.ts";

/** How to run hooks. */
export interface HookWorkerOptions {
  /** The path of the module with the functions. */
  module: string;
  /** How long one call can take, in milliseconds of processor time. */
  hookMs: number;
  /** The limit of the heap of the worker, in MiB. */
  memoryMb: number;
  /** Called when a worker has ended, or when it cannot be ended, with the reason and one or more sentences about it. */
  onEnd?: (reason: WorkerEnd, message: string) => void;
}

/** Why a worker has ended. `lost`: it cannot be ended. */
export type WorkerEnd = Exclude<FailureReason, "promise" | "result"> | "lost";

/** What runs hooks. */
export interface HookRunner {
  /** Calls the hook at a place of the configuration, or all computed attributes there. Throws UNAVAILABLE if too many calls wait. */
  call(place: string, input: CallInput): Promise<HookOutput>;
  /** Resolves when the module is loaded, or when this is stopped. Rejects with an Error if the module cannot be loaded. */
  ready(): Promise<void>;
  /** Whether the module could not be loaded the last time. */
  isFailing(): boolean;
  stop(): Promise<void>;
}

/** How many calls wait at most, and how much text they have, in characters. */
const maxWaiting = { calls: 5_000, length: 16 * 1024 * 1024 };

/** A hook that ends so many workers within `withinMs` does not run for `pauseMs`. */
const tooOften = { ends: 5, withinMs: 60_000, pauseMs: 30_000 };

/** The largest number of a call. The memory that workers share has 32 bits for it. */
const maxNumber = 2 ** 31 - 1;

/** How long the module can take to load, in milliseconds. */
const maxLoadMs = 60_000;

/** How often a call without a fault of its own runs again, after its worker has ended. */
const maxRuns = 5;

/** Code that waits uses no processor time. It is ended when it has taken so many times as long by the clock, and five seconds. */
const patience = { factor: 20, moreMs: 5_000 };

interface Call {
  readonly message: HookMessage;
  readonly length: number;
  runs: number;
  settle(output: HookOutput): void;
}

/** How long a worker can take to end, in milliseconds. */
const endMs = 2_000;

interface Ending {
  readonly reason: Exclude<WorkerEnd, "lost">;
  readonly message: string;
}

/** Runs hooks in a worker of its own, and replaces the worker when it ends. */
export class HookWorker implements HookRunner {
  readonly #options: HookWorkerOptions;
  /** All calls that are not settled, in order. */
  readonly #calls = new Map<number, Call>();
  readonly #ends = new Map<string, number[]>();
  readonly #pausedUntil = new Map<string, number>();
  #unsent: Call[] = [];
  #length = 0;
  #lastNumber = 0;
  #answered = 0;
  #worker: Worker | undefined;
  /** Shared with the worker: the number of the call in progress; 0 without one. */
  #current = new Int32Array(new SharedArrayBuffer(4));
  #watch: BusyWatch<[number: number, answered: number]> | undefined;
  /** What has taken too long, while its worker is being ended. Without a place, it is the code of the module between two calls. */
  #tooLong: { readonly place: string | undefined } | undefined;
  #loaded = Promise.withResolvers<void>();
  #isLoaded = false;
  #cannotLoad = false;
  #isStopped = false;

  constructor(options: HookWorkerOptions) {
    this.#options = options;
    this.#start();
  }

  ready(): Promise<void> {
    return this.#loaded.promise;
  }

  isFailing(): boolean {
    return this.#cannotLoad;
  }

  call(place: string, input: CallInput): Promise<HookOutput> {
    const refused = this.#isStopped ? serviceStopped : this.#pauseOf(place);
    if (refused !== undefined) return Promise.resolve(refused);
    const length = lengthOf(input);
    // A single call can be larger, because the limits of resources decide about it.
    const isFull = this.#calls.size >= maxWaiting.calls || this.#length + length > maxWaiting.length;
    if (isFull && this.#calls.size > 0)
      throw new Problem("UNAVAILABLE", "Too many writes wait for the code of this service. Try again.");
    if (this.#worker === undefined) this.#start(); // the last one has ended
    this.#lastNumber = (this.#lastNumber % maxNumber) + 1;
    const number = this.#lastNumber;
    const { promise, resolve } = Promise.withResolvers<HookOutput>();
    const settle = (output: HookOutput) => {
      this.#calls.delete(number);
      this.#length -= length;
      resolve(output);
    };
    const call = { message: [number, place, input] as const, length, runs: 0, settle };
    this.#length += length;
    this.#calls.set(number, call);
    this.#send(call);
    return promise;
  }

  /** Ends the worker and its calls. Later calls fail. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#watch?.stop();
    if (this.#worker !== undefined) await endWorker(this.#worker, endMs);
    for (const { settle } of this.#calls.values()) settle(serviceStopped);
    this.#loaded.resolve(); // what waits for the module must end too
  }

  /** Sends a call, together with all calls of this turn of the event loop. */
  #send(call: Call): void {
    if (this.#unsent.push(call) === 1) setImmediate(() => this.#flush());
  }

  #flush(): void {
    if (!this.#isLoaded || this.#worker === undefined) return; // they are sent when the module is loaded
    const calls = this.#unsent.filter(({ message: [number] }) => this.#calls.has(number));
    this.#unsent = [];
    if (calls.length === 0) return;
    for (const call of calls) call.runs++;
    this.#worker.postMessage(calls.map(({ message }) => message));
    this.#watch?.start();
  }

  #start(): void {
    const { module, memoryMb, hookMs } = this.#options;
    const current = new Int32Array(new SharedArrayBuffer(4));
    this.#current = current;
    this.#isLoaded = false;
    const worker = startThread("capabilities/code/hooks/hook-thread", {
      workerData: { module, current } satisfies HookThreadData,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
      name: "holdfast-hooks",
    });
    worker.unref();
    followWorker(worker, () => Atomics.load(current, 0));
    this.#worker = worker;
    this.#watch = new BusyWatch(worker, {
      progress: () => [Atomics.load(current, 0), this.#answered],
      thread: () => thread,
      busyMs: hookMs,
      standstillMs: hookMs * patience.factor + patience.moreMs,
      lookMs: Math.max(5, hookMs / 4),
      onBusy: ([number]) => void this.#endBusy(worker, number),
    });
    const loading = setTimeout(() => {
      message = `The module was not loaded within ${maxLoadMs / 1_000} s. Remove what its top level waits for.`;
      void endWorker(worker, endMs).then((hasEnded) => hasEnded || this.#lose(worker, { reason, message }));
    }, maxLoadMs).unref();
    let thread: number | undefined;
    let reason: Ending["reason"] = "exit";
    let message = "It ended its worker, such as with process.exit().";
    worker.on("message", (from: FromHookThread) => {
      if (from.kind === "loaded") {
        clearTimeout(loading);
        thread = from.thread;
      }
      this.#handle(from);
    });
    // Code can throw everything, also null.
    worker.on("error", (thrown: { code?: unknown } | null | undefined) => {
      const isMemory = thrown?.code === "ERR_WORKER_OUT_OF_MEMORY";
      reason = isMemory ? "memory" : "throw";
      message = isMemory ? `It needed more than ${memoryMb} MiB of memory.` : failureOf(thrown).message;
    });
    worker.on("exit", () => {
      clearTimeout(loading);
      if (!this.#isStopped && this.#worker === worker) this.#ended({ reason, message });
    });
  }

  #handle(from: FromHookThread): void {
    if (from.kind === "loaded") {
      this.#isLoaded = true;
      this.#cannotLoad = false;
      this.#loaded.resolve();
      this.#flush();
      return;
    }
    this.#answered += from.answers.length;
    for (const [number, output] of from.answers) this.#calls.get(number)?.settle(output);
    if (this.#calls.size === 0) this.#watch?.stop();
  }

  /** The worker has ended, or is lost: the call in progress fails, and the others run on the next one. */
  #ended(how: Ending, isLost = false): void {
    const { onEnd } = this.#options;
    const tooLong = this.#tooLong;
    const ending = tooLong === undefined ? how : this.#tooLongEnding();
    const reason = this.#isLoaded ? ending.reason : "load";
    const failed = { kind: "failed", reason, message: ending.message } as const;
    this.#watch?.stop();
    this.#worker = undefined;
    this.#tooLong = undefined;
    onEnd?.(isLost ? "lost" : reason, failed.message);
    if (!this.#isLoaded) {
      // The next call tries again.
      this.#cannotLoad = true;
      this.#unsent = [];
      for (const { settle } of this.#calls.values()) settle(failed);
      this.#loaded.reject(new Error(failed.message));
      this.#loaded.promise.catch(() => {}); // often nothing waits any more
      this.#loaded = Promise.withResolvers();
      return;
    }
    const current = tooLong === undefined ? this.#calls.get(Atomics.load(this.#current, 0)) : undefined;
    const culprit = tooLong?.place ?? current?.message[1];
    if (culprit !== undefined) this.#noteEnd(culprit);
    current?.settle(failed);
    for (const { runs, message, settle } of this.#calls.values()) {
      const paused = this.#pauseOf(message[1]);
      if (paused !== undefined || runs >= maxRuns) settle(paused ?? failed);
    }
    this.#unsent = [...this.#calls.values()];
    if (this.#unsent.length > 0) this.#start(); // otherwise, the next call does
  }

  #tooLongEnding(): Ending {
    return { reason: "time", message: `It took longer than ${this.#options.hookMs} ms.` };
  }

  #noteEnd(place: string): void {
    const now = performance.now();
    const recent = [...(this.#ends.get(place) ?? []), now].filter((at) => now - at < tooOften.withinMs);
    this.#ends.set(place, recent);
    if (recent.length >= tooOften.ends) this.#pause(place);
  }

  /** The failure of every call of a hook that does not run now; `undefined` if it runs. */
  #pauseOf(place: string): HookOutput | undefined {
    const until = this.#pausedUntil.get(place);
    if (until === undefined || performance.now() >= until) return undefined;
    const message = `${place} does not run for ${tooOften.pauseMs / 1_000} s: it has ended its worker ${tooOften.ends} times in a minute, or its worker cannot be ended.`;
    return { kind: "failed", reason: "exit", message };
  }

  #pause(place: string): void {
    this.#pausedUntil.set(place, performance.now() + tooOften.pauseMs);
    this.#ends.delete(place);
  }

  /** Ends a worker, because the call with this number takes too long. The call fails at once, although its worker can need some time to end. */
  async #endBusy(worker: Worker, number: number): Promise<void> {
    if (this.#worker !== worker) return;
    const call = this.#calls.get(number);
    const hasAnswered = number !== 0 && call === undefined; // in the meantime
    if (hasAnswered) {
      if (this.#calls.size > 0) this.#watch?.start();
      return;
    }
    this.#tooLong = { place: call?.message[1] };
    call?.settle({ kind: "failed", ...this.#tooLongEnding() });
    if (!(await endWorker(worker, endMs))) this.#lose(worker, { reason: "time", message: "" });
  }

  /** A worker cannot be ended. Calls do not wait for it, and its hook does not run for some time. */
  #lose(worker: Worker, how: Ending): void {
    if (this.#isStopped || this.#worker !== worker) return;
    const place = this.#tooLong?.place;
    if (place !== undefined) this.#pause(place); // each such worker takes a processor and memory
    this.#ended(how, true);
  }
}

function lengthOf(input: CallInput): number {
  if (input.kind === "computed") return input.resource.length;
  const { resource, previous = "", related } = input;
  const others = Object.values(related).reduce((sum, text) => sum + (text?.length ?? 0), 0);
  return resource.length + previous.length + others;
}
