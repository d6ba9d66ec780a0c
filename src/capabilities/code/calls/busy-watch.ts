/** Notices a thread that is busy with code that never waits, such as an endless loop. */
import type { Worker } from "node:worker_threads";

/** How often the watch looks, in milliseconds. */
const lookMs = 250;

/** Processor time counts, so that a busy machine ends nothing. A thread that stands still uses none: it can take so many times as long. */
const patience = 12;

/** The last progress of a thread. */
interface Seen {
  readonly beat: number;
  readonly at: number;
  /** The processor time of the thread at that moment, in milliseconds; `undefined` while it is not known. */
  processorMs: number | undefined;
}

/** Watches one thread while it has something to do. */
export class BusyWatch {
  readonly #worker: Worker;
  readonly #beat: Int32Array;
  readonly #busyMs: number;
  readonly #onBusy: () => void;
  #timer: NodeJS.Timeout | undefined;
  #seen: Seen | undefined;

  /** `beat`: shared memory whose first number rises while the thread is not busy. */
  constructor(worker: Worker, beat: Int32Array, { busyMs, onBusy }: { busyMs: number; onBusy: () => void }) {
    this.#worker = worker;
    this.#beat = beat;
    this.#busyMs = busyMs;
    this.#onBusy = onBusy;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.#look(), lookMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#seen = undefined;
  }

  async #look(): Promise<void> {
    const beat = Atomics.load(this.#beat, 0);
    if (this.#seen?.beat !== beat) {
      this.#seen = { beat, at: performance.now(), processorMs: undefined };
      return;
    }
    const seen = this.#seen;
    const elapsedMs = performance.now() - seen.at;
    if (elapsedMs >= this.#busyMs * patience) return this.#onBusy();
    const processorMs = await processorTimeOf(this.#worker);
    if (this.#seen !== seen || Atomics.load(this.#beat, 0) !== beat) return;
    const busyMs = processorMs === undefined ? elapsedMs : processorMs - (seen.processorMs ?? processorMs);
    if (busyMs >= this.#busyMs) return this.#onBusy();
    seen.processorMs ??= processorMs;
  }
}

/** How much processor time a thread has used, in milliseconds; `undefined` if it has ended, or this version of Node does not say. */
async function processorTimeOf(worker: Worker): Promise<number | undefined> {
  if (typeof worker.cpuUsage !== "function") return undefined;
  const usage = await worker.cpuUsage().catch(() => undefined);
  return usage && (usage.user + usage.system) / 1_000;
}
