/** Notices a thread that is busy with one thing for too long, such as an endless loop. */
import { readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import type { Worker } from "node:worker_threads";

/** What to watch, and for how long. All times are in milliseconds. */
export interface BusyWatchOptions<Progress extends readonly number[]> {
  /** Numbers of which one changes whenever the thread makes progress, such as from shared memory. */
  progress(): Progress;
  /** How much processor time the thread can use without progress. Processor time counts, so that a busy machine ends nothing. */
  busyMs: number;
  /** The number that the thread has from `threadNumber`; `undefined` while it is not known. */
  thread(): number | undefined;
  /** How long a thread that waits can make no progress, by the clock. It uses no processor time. */
  standstillMs: number;
  /** How often the watch looks. */
  lookMs: number;
  /** Called once, with the last progress. The watch has stopped. */
  onBusy(last: Progress): void;
}

interface Seen<Progress> {
  readonly progress: Progress;
  readonly at: number;
  /** The processor time of the thread at that moment, in milliseconds; `undefined` while it is not known. */
  processorMs: number | undefined;
}

/** Watches one thread while it has something to do. */
export class BusyWatch<Progress extends readonly number[]> {
  readonly #worker: Worker;
  readonly #options: BusyWatchOptions<Progress>;
  #timer: NodeJS.Timeout | undefined;
  #seen: Seen<Progress> | undefined;

  constructor(worker: Worker, options: BusyWatchOptions<Progress>) {
    this.#worker = worker;
    this.#options = options;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.#look(), this.#options.lookMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#seen = undefined;
  }

  async #look(): Promise<void> {
    const { busyMs, standstillMs } = this.#options;
    const seen = this.#seen;
    if (seen === undefined || !this.#isAt(seen)) {
      this.#seen = { progress: this.#options.progress(), at: performance.now(), processorMs: undefined };
      return;
    }
    const elapsedMs = performance.now() - seen.at;
    if (elapsedMs >= standstillMs) return this.#end(seen);
    const processorMs = processorMsOfThread(this.#options.thread()) ?? (await processorTimeOf(this.#worker));
    if (this.#seen !== seen || !this.#isAt(seen)) return;
    const usedMs = processorMs === undefined ? elapsedMs : processorMs - (seen.processorMs ?? processorMs);
    if (usedMs >= busyMs) return this.#end(seen);
    seen.processorMs ??= processorMs;
  }

  #isAt({ progress }: Seen<Progress>): boolean {
    return this.#options.progress().every((number, n) => number === progress[n]);
  }

  #end({ progress }: Seen<Progress>): void {
    this.stop();
    this.#options.onBusy(progress);
  }
}

/** The number by which Linux knows the calling thread; `undefined` elsewhere. */
export function threadNumber(): number | undefined {
  try {
    return Number(basename(readlinkSync("/proc/thread-self"))) || undefined; // proc(5)
  } catch {
    return undefined;
  }
}

/** How much processor time a thread of this process has used, in milliseconds; `undefined` if the system does not say. The thread need not answer. */
function processorMsOfThread(thread: number | undefined): number | undefined {
  if (thread === undefined) return undefined;
  try {
    const [nanoseconds] = readFileSync(`/proc/self/task/${thread}/schedstat`, "utf8").split(" ");
    return Number(nanoseconds) / 1_000_000;
  } catch {
    return undefined; // it has ended, or the kernel does not count
  }
}

/**
 * How much processor time a thread has used, in milliseconds; `undefined` if it has ended, or this version of Node does not say. A thread that
 * waits does not answer, and neither does every loop that allocates memory.
 */
async function processorTimeOf(worker: Worker): Promise<number | undefined> {
  if (typeof worker.cpuUsage !== "function") return undefined;
  const usage = await worker.cpuUsage().catch(() => undefined);
  return usage && (usage.user + usage.system) / 1_000;
}
