/** One worker, and the calls in it. */
import type { Worker } from "node:worker_threads";
import { startTimer } from "../../../clock.ts";
import { startThread } from "../../../program.ts";
import { BusyWatch } from "../busy-watch.ts";
import { type FailureReason, failureOf } from "../failure.ts";
import { endWorker, followWorker } from "../worker-ends.ts";
import { CallTime, endedBefore } from "./call-time.ts";
import type { CodeBounds, CodeCall, CodeOutcome } from "./code-runner.ts";
import type { CodeThreadData, FromCodeThread, ToCodeThread } from "./code-thread.ts";

/** How to start a worker. */
export interface CallThreadOptions {
  /** The path of the module with the functions. */
  module: string;
  /** The limit of its heap, in MiB. */
  memoryMb: number;
  /** The prefix of the service. */
  prefix: string;
  bounds: CodeBounds;
}

/** What the owner of a worker learns. */
interface Owner {
  /** A call has failed, but its function still runs. The worker should get no further calls. */
  onHung(): void;
  /** The worker is being ended. It should get no further calls. */
  onEnding(): void;
  /** Nothing handled an error of the code, and no call has it. */
  onStray(message: string): void;
  /** The worker has ended. `trouble`: why; `undefined` if it was asked to. */
  onEnd(trouble: string | undefined): void;
}

/** Why a worker ends. */
interface Ending {
  readonly reason: FailureReason;
  readonly message: string;
  readonly isAsked: boolean;
}

interface Running {
  readonly call: CodeCall;
  /** Cancels its requests. */
  readonly requests: AbortController;
  settle(outcome: CodeOutcome): void;
  /** `undefined` until the module is loaded. */
  time: CallTime | undefined;
}

/** How long the module can take to load, in milliseconds. */
const maxLoadMs = 60_000;

/** How long a worker can take to end, in milliseconds. Code that allocates without a pause can keep it from ending. */
const maxEndMs = 5_000;

/** How often the watch looks whether the thread is busy, in milliseconds. */
const lookMs = 250;

/** How many times as long a thread can stand still as it can be busy. */
const patience = 12;

type Sent = Extract<FromCodeThread, { kind: "request" }>;

/** A worker that loads the module, and runs calls until it ends. */
export class CallThread {
  readonly #options: CallThreadOptions;
  readonly #owner: Owner;
  readonly #worker: Worker;
  readonly #watch: BusyWatch<[beat: number]>;
  /** The calls in progress, by their numbers. */
  readonly #running = new Map<number, Running>();
  /** What cancels each request in progress, by its number. */
  readonly #cancels = new Map<number, AbortController>();
  #lastNumber = 0;
  readonly #loading: NodeJS.Timeout;
  #isLoaded = false;
  #thread: number | undefined;
  #isOld = false;
  #hasEnded = false;
  #ending: Ending | undefined;

  constructor(options: CallThreadOptions, owner: Owner) {
    const { module, memoryMb, prefix, bounds } = options;
    this.#options = options;
    this.#owner = owner;
    const beat = new Int32Array(new SharedArrayBuffer(4));
    this.#worker = startThread("capabilities/code/calls/code-thread", {
      workerData: { module, beat, prefix } satisfies CodeThreadData,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
      name: "holdfast-code",
    });
    this.#worker.unref();
    followWorker(this.#worker, () => (this.#isLoaded ? Atomics.load(beat, 0) + 1 : 0));
    const { busyMs } = bounds;
    const isBusy = `The thread was busy for ${busyMs} ms with code that never waits, such as an endless loop.`;
    const onBusy = () => void this.#end({ reason: "time", message: isBusy, isAsked: false });
    this.#watch = new BusyWatch(this.#worker, {
      progress: () => [Atomics.load(beat, 0)],
      thread: () => this.#thread,
      busyMs,
      standstillMs: busyMs * patience,
      lookMs,
      onBusy,
    });
    this.#loading = setTimeout(() => {
      const message = `The module was not loaded within ${maxLoadMs / 1_000} s.`;
      void this.#end({ reason: "load", message, isAsked: false });
    }, maxLoadMs).unref();
    this.#listen();
  }

  /** Runs a call. Never rejects. */
  run(call: CodeCall): Promise<CodeOutcome> {
    const number = ++this.#lastNumber;
    const { promise, resolve } = Promise.withResolvers<CodeOutcome>();
    const requests = new AbortController();
    const settle = (outcome: CodeOutcome) => {
      const { time } = this.#running.get(number) ?? {};
      this.#running.delete(number);
      time?.stop();
      requests.abort(new Error(`The call of ${call.place} has ended.`));
      if (this.#running.size === 0) this.#watch.stop();
      resolve(outcome);
      this.#endIfDone();
    };
    this.#running.set(number, { call, requests, settle, time: undefined });
    if (this.#isLoaded) this.#begin(number);
    return promise;
  }

  /** Gets no further calls, and ends after the last one. */
  retire(): void {
    this.#isOld = true;
    this.#endIfDone();
  }

  /** Ends it with all its calls. `why` is a sentence. */
  end(why: string): Promise<void> {
    return this.#end({ reason: "exit", message: why, isAsked: true });
  }

  async #end(ending: Ending): Promise<void> {
    this.#ending ??= ending;
    this.#owner.onEnding();
    if (await endWorker(this.#worker, maxEndMs)) return;
    const message = `${ending.message} Its worker cannot be ended, and can need more and more memory. Restart the service.`;
    this.#ended({ ...ending, message, isAsked: false });
  }

  #endIfDone(): void {
    if (this.#isOld && !this.#hasEnded && this.#running.size === 0) void this.end("It has no more calls.");
  }

  #listen(): void {
    const { memoryMb } = this.#options;
    let found: Ending = {
      reason: "exit",
      message: "It ended its thread, such as with process.exit().",
      isAsked: false,
    };
    this.#worker.on("message", (message: FromCodeThread) => this.#handle(message));
    this.#worker.on("error", (thrown: { code?: unknown } | null | undefined) => {
      found =
        thrown?.code === "ERR_WORKER_OUT_OF_MEMORY"
          ? { ...found, reason: "memory", message: `The code needed more than ${memoryMb} MiB of memory.` }
          : { ...found, message: failureOf(thrown).message };
    });
    this.#worker.on("exit", () => this.#ended(this.#ending ?? found));
  }

  #ended({ reason, message, isAsked }: Ending): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#loading);
    this.#watch.stop();
    this.#isOld = true;
    const failed = { kind: "failed", reason: this.#isLoaded || isAsked ? reason : "load", message } as const;
    for (const { settle } of this.#running.values()) settle(failed);
    this.#owner.onEnd(isAsked ? undefined : message);
  }

  #handle(message: FromCodeThread): void {
    switch (message.kind) {
      case "loaded":
        this.#isLoaded = true;
        this.#thread = message.thread;
        clearTimeout(this.#loading);
        for (const number of this.#running.keys()) this.#begin(number);
        return;
      case "ended":
        this.#running.get(message.call)?.settle(message.outcome);
        return;
      case "request":
        void this.#send(message);
        return;
      case "cancel":
        this.#cancels.get(message.request)?.abort();
        return;
      case "stray":
        this.#owner.onStray(message.message);
    }
  }

  #begin(number: number): void {
    const running = this.#running.get(number) as Running;
    const { call, requests, settle } = running;
    const { place, input, clients, requests: most = this.#options.bounds.requests } = call;
    const ended = endedBefore(call);
    if (ended !== undefined) {
      settle(ended);
      return;
    }
    this.#tell({ kind: "call", call: number, place, input, clients: Object.keys(clients), requests: most });
    this.#watch.start();
    running.time = new CallTime(call, this.#options.bounds, {
      startTimer,
      abort: (why) => {
        requests.abort(new Error(why));
        this.#tell({ kind: "abort", call: number, why });
      },
      giveUp: (outcome) => {
        settle(outcome);
        this.#owner.onHung();
      },
    });
  }

  /** Sends the request of a client, and gives its response to the thread. */
  async #send({ request, call, client, sent }: Sent): Promise<void> {
    const { call: running, requests } = this.#running.get(call) ?? {};
    const send = running?.clients[client];
    if (send === undefined || requests === undefined)
      return this.#tell({ kind: "noResponse", request, why: "The call has ended." });
    const cancel = new AbortController();
    this.#cancels.set(request, cancel);
    try {
      const response = await send(sent, AbortSignal.any([cancel.signal, requests.signal]));
      this.#tell({ kind: "response", request, response });
    } catch (error) {
      this.#tell({ kind: "noResponse", request, why: (error as Error).message });
    } finally {
      this.#cancels.delete(request);
    }
  }

  #tell(message: ToCodeThread): void {
    this.#worker.postMessage(message);
  }
}
