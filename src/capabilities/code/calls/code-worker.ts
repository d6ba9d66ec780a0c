/**
 * The workers in which functions that may wait run. All calls share one worker. If a call does not end, further calls begin on a new worker,
 * and the old one ends with its last call. So code that hangs ends no call of others. Only a worker that is busy without a pause, or that
 * ends by itself, takes its calls with it.
 */

import { serviceStopped } from "../failure.ts";
import { CallThread, type CallThreadOptions } from "./call-thread.ts";
import type { CodeCall, CodeOutcome, CodeRunner } from "./code-runner.ts";

/** How to run functions. */
export interface CodeWorkerOptions extends CallThreadOptions {
  /** Gets a sentence when a worker has ended before its time. */
  onEnd?: (what: string) => void;
  /** Gets a sentence about an error of the code that nothing handles. */
  onStray?: (what: string) => void;
}

/** How many old workers there are at most, beside the one that gets new calls. With more, the oldest is ended. */
const maxOld = 2;

/** Runs functions in workers. The first call starts the first one. */
export class CodeWorker implements CodeRunner {
  readonly #options: CodeWorkerOptions;
  #current: CallThread | undefined;
  #old: CallThread[] = [];
  readonly #ending = new Set<CallThread>();
  #isStopped = false;

  constructor(options: CodeWorkerOptions) {
    this.#options = options;
  }

  async run(call: CodeCall): Promise<CodeOutcome> {
    if (this.#isStopped) return serviceStopped;
    this.#current ??= this.#start();
    return this.#current.run(call);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const all = new Set([...this.#old, ...this.#ending, ...(this.#current ? [this.#current] : [])]);
    await Promise.all(Array.from(all, (thread) => thread.end(serviceStopped.message)));
  }

  #start(): CallThread {
    const { onStray, onEnd } = this.#options;
    const thread: CallThread = new CallThread(this.#options, {
      onHung: () => this.#retire(thread),
      onEnding: () => {
        if (this.#current === thread) this.#current = undefined;
        this.#ending.add(thread);
      },
      onStray: (message) => onStray?.(`Nothing handles an error of the code: ${message}`),
      onEnd: (trouble) => {
        if (this.#current === thread) this.#current = undefined;
        this.#ending.delete(thread);
        this.#old = this.#old.filter((each) => each !== thread);
        if (trouble !== undefined) onEnd?.(`The worker of the code has ended: ${trouble}`);
      },
    });
    return thread;
  }

  #retire(thread: CallThread): void {
    if (thread !== this.#current) return;
    this.#current = undefined;
    this.#old.push(thread);
    thread.retire();
    if (this.#old.length > maxOld)
      void this.#old[0]?.end("Other calls did not end in time, so the service has ended this thread.");
  }
}
