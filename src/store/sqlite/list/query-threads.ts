/** The threads for lists that no index serves: a few, started when the first such list is asked for. */
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { Problem, type ProblemCode } from "../../../errors.ts";
import { adviceFor } from "../../advice.ts";
import type { Page } from "../../page.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import type { failureOf } from "../file/failures.ts";
import { inodeAt } from "../file/watch.ts";
import type { PageQuery } from "./select.ts";

/** What a thread is told at its start. */
export interface QueryThreadData {
  path: string;
  /** Which file the store is in: another one in its place is none of ours. */
  inode: string | undefined;
}

/** What a thread is asked. */
export interface QueryRequest {
  collection: NumberedCollection;
  query: PageQuery;
  /** Unix time in milliseconds. */
  deadline: number;
  /** One Int32; anything but 0 ends the work. */
  cancelled: SharedArrayBuffer;
}

/** A message of a thread: first that it is ready, then an answer to each request. */
export type ThreadMessage = { kind: "ready" } | QueryAnswer;

/** What a thread answers. */
export type QueryAnswer =
  | { kind: "page"; page: Page }
  | { kind: "ended" }
  | { kind: "refused"; code: ProblemCode; detail: string }
  | { kind: "failed"; failure: ReturnType<typeof failureOf>; reason: string };

/** How the threads are run. */
export interface QueryThreadsOptions {
  path: string;
  /** The most time for a list, in milliseconds. It includes the wait for a free thread, not the start of a new one. */
  maxMs: number;
  /** Gives the error for one that SQLite had. */
  toError(answer: QueryAnswer & { kind: "failed" }): unknown;
}

const maxThreads = 2;
const maxWaiting = 1_000;

interface Job extends QueryRequest {
  signal: AbortSignal | undefined;
  timer: NodeJS.Timeout | undefined;
  resolve(page: Page): void;
  reject(error: unknown): void;
}

interface Thread {
  worker: Worker;
  isReady: boolean;
  job: Job | undefined;
}

/** Carries out lists in threads. */
export class QueryThreads {
  readonly #options: QueryThreadsOptions;
  readonly #data: QueryThreadData;
  readonly #threads = new Set<Thread>();
  #waiting: Job[] = [];
  #isClosed = false;

  constructor(options: QueryThreadsOptions) {
    this.#options = options;
    this.#data = { path: options.path, inode: inodeAt(options.path) };
  }

  /** A page. Throws QUERY_TOO_EXPENSIVE when time is over, UNAVAILABLE when too many wait, and the signal's reason. */
  page(collection: NumberedCollection, query: PageQuery, signal: AbortSignal | undefined): Promise<Page> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    if (this.#waiting.length >= maxWaiting) {
      return Promise.reject(new Problem("UNAVAILABLE", "Too many lists are waiting. Try again."));
    }
    return new Promise((resolve, reject) => {
      const cancelled = new SharedArrayBuffer(4);
      const job: Job = {
        collection,
        query,
        deadline: 0,
        cancelled,
        signal,
        timer: undefined,
        resolve,
        reject,
      };
      this.#startClock(job);
      signal?.addEventListener("abort", () => this.#end(job, signal.reason), { once: true });
      this.#waiting.push(job);
      this.#next();
    });
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const closed = new Problem("UNAVAILABLE", "The store was closed.");
    for (const job of this.#waiting.splice(0)) settle(job, () => job.reject(closed));
    for (const { job } of this.#threads) if (job !== undefined) this.#end(job, closed);
    await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()));
  }

  #next(): void {
    if (this.#waiting.length === 0 || this.#isClosed) return;
    const idle = [...this.#threads].find(({ job }) => job === undefined);
    const thread = idle ?? (this.#threads.size < maxThreads ? this.#start() : undefined);
    if (thread === undefined) return;
    const job = this.#waiting.shift() as Job;
    thread.job = job;
    if (thread.isReady) send(thread.worker, job);
    else clearTimeout(job.timer);
  }

  /** Called when a thread is ready. The time of its job begins now, unless the job was cancelled. */
  #begin(thread: Thread): void {
    thread.isReady = true;
    const { job } = thread;
    if (job === undefined) return;
    if (isCancelled(job)) {
      thread.job = undefined;
      this.#next();
      return;
    }
    this.#startClock(job);
    send(thread.worker, job);
  }

  #startClock(job: Job): void {
    const { maxMs } = this.#options;
    job.deadline = Date.now() + maxMs;
    job.timer = setTimeout(() => this.#end(job, tooExpensive(job, maxMs)), maxMs);
  }

  #start(): Thread {
    const worker = new Worker(new URL(`./query-thread${extname(import.meta.url)}`, import.meta.url), {
      workerData: this.#data,
      name: "holdfast-query",
    });
    worker.unref();
    const thread: Thread = { worker, isReady: false, job: undefined };
    this.#threads.add(thread);
    worker.on("message", (message: ThreadMessage) => {
      if (message.kind === "ready") this.#begin(thread);
      else this.#finish(thread, message);
    });
    worker.once("error", (error) => this.#lose(thread, error));
    return thread;
  }

  #finish(thread: Thread, answer: QueryAnswer): void {
    const { job } = thread;
    thread.job = undefined;
    if (job !== undefined) {
      settle(job, () => {
        if (answer.kind === "page") job.resolve(answer.page);
        else if (answer.kind === "refused") job.reject(new Problem(answer.code, answer.detail));
        else if (answer.kind === "failed") job.reject(this.#options.toError(answer));
        else job.reject(tooExpensive(job, this.#options.maxMs));
      });
    }
    this.#next();
  }

  #lose(thread: Thread, error: unknown): void {
    this.#threads.delete(thread);
    const { job } = thread;
    if (job !== undefined) settle(job, () => job.reject(error));
    this.#next();
  }

  /** Answers a job at once; the thread, if it has one, notices soon that nobody waits any more. */
  #end(job: Job, reason: unknown): void {
    Atomics.store(new Int32Array(job.cancelled), 0, 1);
    this.#waiting = this.#waiting.filter((each) => each !== job);
    settle(job, () => job.reject(reason));
  }
}

function send(worker: Worker, { collection, query, deadline, cancelled }: Job): void {
  worker.postMessage({ collection, query, deadline, cancelled } satisfies QueryRequest);
}

function isCancelled({ cancelled }: Job): boolean {
  return Atomics.load(new Int32Array(cancelled), 0) !== 0;
}

/** Promises settle once; only the timer has to be let go of. */
function settle(job: Job, answer: () => void): void {
  clearTimeout(job.timer);
  answer();
}

function tooExpensive({ query, collection }: QueryRequest, maxMs: number): Problem {
  return new Problem(
    "QUERY_TOO_EXPENSIVE",
    `The list takes longer than the limit of ${maxMs} ms. ${adviceFor(query, collection.indexes)}`,
  );
}
