/** A few threads for lists that no index supports. They start with the first such list. */
import type { Worker } from "node:worker_threads";
import { Problem, type ProblemCode } from "../../../errors.ts";
import { startThread } from "../../../program.ts";
import { listTooExpensive } from "../../advice.ts";
import { HistoryMissing } from "../../changed-resources.ts";
import { type Figures, type FiguresOf, figuresTooExpensive } from "../../figures.ts";
import type { Page, PageQuery } from "../../page.ts";
import { listLike, type ReferringGroups } from "../../referring.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import type { failureOf } from "../file/failures.ts";
import { inodeAt } from "../file/watch.ts";
import type { GroupsQuery } from "./select.ts";

/** The data of a thread at its start. */
export interface QueryThreadData {
  path: string;
  /** The file of the store. The thread does not read another file at the same path. */
  inode: string | undefined;
}

/** A list that a thread reads. */
export type ListTask = { collection: NumberedCollection } & (
  | { kind: "page"; query: PageQuery }
  | { kind: "figures"; query: FiguresOf }
  | { kind: "groups"; query: GroupsQuery }
);

/** What a thread reads. The sizes are those of the collections with these numbers, or of the first ones (`collectionSizes`). */
export type QueryTask = ListTask | { kind: "sizes"; numbers: readonly number[]; maxMs: number };

/** A query for a thread. */
export interface QueryRequest {
  asked: QueryTask;
  /** Unix time in milliseconds. Infinity for sizes: they have a time of their own, which ends with an estimate. */
  deadline: number;
  /** One Int32. Any value except 0 cancels the query. */
  cancelled: SharedArrayBuffer;
}

/** A message of a thread. The first one is `ready`. Each of the others answers a request. */
export type ThreadMessage = { kind: "ready" } | QueryAnswer;

/** The answer to a query. */
export type QueryAnswer =
  | { kind: "page"; page: Page }
  | { kind: "groups"; groups: ReferringGroups }
  | { kind: "figures"; figures: Figures }
  | { kind: "sizes"; bytes: readonly number[] }
  | { kind: "interrupted" }
  | { kind: "missing"; since: number | undefined }
  | { kind: "refused"; code: ProblemCode; detail: string }
  | { kind: "failed"; failure: ReturnType<typeof failureOf>; reason: string };

/** The options of the threads. */
export interface QueryThreadsOptions {
  path: string;
  /** The most time for a list, in milliseconds. It includes the wait for a free thread, not the start of a new one. */
  maxMs: number;
  /** Returns the error for a failed query. */
  toError(answer: QueryAnswer & { kind: "failed" }): unknown;
}

/** The part of `maxMs` for the size of one collection. */
const sizeShare = 1 / 4;

const maxThreads = 2;
const maxWaiting = 1_000;

interface Job extends QueryRequest {
  signal: AbortSignal | undefined;
  timer: NodeJS.Timeout | undefined;
  resolve(answer: QueryAnswer): void;
  reject(error: unknown): void;
}

interface Thread {
  worker: Worker;
  isReady: boolean;
  job: Job | undefined;
}

/** Reads lists in threads. */
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

  /**
   * A page. Throws QUERY_TOO_EXPENSIVE if the list takes too long, UNAVAILABLE if too many lists wait, and the reason of the
   * signal.
   */
  async page(
    collection: NumberedCollection,
    query: PageQuery,
    signal: AbortSignal | undefined,
  ): Promise<Page> {
    const answer = await this.#run({ kind: "page", collection, query }, signal);
    return (answer as QueryAnswer & { kind: "page" }).page;
  }

  /** The resources that refer to others. Throws as `page` does. */
  async referring(
    collection: NumberedCollection,
    query: GroupsQuery,
    signal: AbortSignal | undefined,
  ): Promise<ReferringGroups> {
    const answer = await this.#run({ kind: "groups", collection, query }, signal);
    return (answer as QueryAnswer & { kind: "groups" }).groups;
  }

  /** The figures of a list. Throws as `page` does. */
  async figures(
    collection: NumberedCollection,
    query: FiguresOf,
    signal: AbortSignal | undefined,
  ): Promise<Figures> {
    const answer = await this.#run({ kind: "figures", collection, query }, signal);
    return (answer as QueryAnswer & { kind: "figures" }).figures;
  }

  /**
   * About how many bytes each of the collections takes: of the first ones, as many as fit the time, but at least one. Throws
   * UNAVAILABLE if too many lists wait.
   */
  async sizes(collections: readonly NumberedCollection[]): Promise<readonly number[]> {
    const numbers = collections.map(({ number }) => number);
    const maxMs = this.#options.maxMs * sizeShare;
    const answer = await this.#run({ kind: "sizes", numbers, maxMs }, undefined);
    return (answer as QueryAnswer & { kind: "sizes" }).bytes;
  }

  #run(asked: QueryTask, signal: AbortSignal | undefined): Promise<QueryAnswer> {
    if (this.#isClosed) return Promise.reject(closed());
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    if (this.#waiting.length >= maxWaiting) {
      return Promise.reject(new Problem("UNAVAILABLE", "Too many lists are waiting. Try again."));
    }
    return new Promise((resolve, reject) => {
      const cancelled = new SharedArrayBuffer(4);
      const job: Job = { asked, deadline: 0, cancelled, signal, timer: undefined, resolve, reject };
      this.#startClock(job);
      signal?.addEventListener("abort", () => this.#cancel(job, signal.reason), { once: true });
      this.#waiting.push(job);
      this.#startNext();
    });
  }

  /** Cancels all queries and ends the threads. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const job of this.#waiting.splice(0)) settle(job, () => job.reject(closed()));
    for (const { job } of this.#threads) if (job !== undefined) this.#cancel(job, closed());
    await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()));
  }

  /** Gives the next job to an idle thread, if there is one. */
  #startNext(): void {
    if (this.#waiting.length === 0 || this.#isClosed) return;
    const idle = [...this.#threads].find(({ job }) => job === undefined);
    const thread = idle ?? (this.#threads.size < maxThreads ? this.#startThread() : undefined);
    if (thread === undefined) return;
    const job = this.#waiting.shift() as Job;
    thread.job = job;
    if (thread.isReady) send(thread.worker, job);
    else clearTimeout(job.timer);
  }

  /** Sends the first job to a thread that is ready. The time of the job starts now. */
  #sendFirst(thread: Thread): void {
    thread.isReady = true;
    const { job } = thread;
    if (job === undefined) return;
    if (isCancelled(job)) {
      thread.job = undefined;
      this.#startNext();
      return;
    }
    this.#startClock(job);
    send(thread.worker, job);
  }

  #startClock(job: Job): void {
    const { asked } = job;
    const { maxMs } = this.#options;
    job.deadline = asked.kind === "sizes" ? Number.POSITIVE_INFINITY : Date.now() + maxMs;
    if (asked.kind !== "sizes")
      job.timer = setTimeout(() => this.#cancel(job, tooExpensive(asked, maxMs)), maxMs);
  }

  #startThread(): Thread {
    const worker = startThread("store/sqlite/list/query-thread", {
      workerData: this.#data,
      name: "holdfast-query",
    });
    worker.unref();
    const thread: Thread = { worker, isReady: false, job: undefined };
    this.#threads.add(thread);
    worker.on("message", (message: ThreadMessage) => {
      if (message.kind === "ready") this.#sendFirst(thread);
      else this.#finish(thread, message);
    });
    worker.once("error", (error) => this.#remove(thread, error));
    return thread;
  }

  #finish(thread: Thread, answer: QueryAnswer): void {
    const { job } = thread;
    thread.job = undefined;
    if (job !== undefined) {
      settle(job, () => {
        if (answer.kind === "refused") job.reject(new Problem(answer.code, answer.detail));
        else if (answer.kind === "missing") job.reject(new HistoryMissing(answer.since));
        else if (answer.kind === "failed") job.reject(this.#options.toError(answer));
        else if (answer.kind === "interrupted") job.reject(interruption(job, this.#options.maxMs));
        else job.resolve(answer);
      });
    }
    this.#startNext();
  }

  /** Removes a thread that has failed. */
  #remove(thread: Thread, error: unknown): void {
    this.#threads.delete(thread);
    const { job } = thread;
    if (job !== undefined) settle(job, () => job.reject(error));
    this.#startNext();
  }

  /** Rejects a job at once. If a thread works on it, the thread stops soon. */
  #cancel(job: Job, reason: unknown): void {
    Atomics.store(new Int32Array(job.cancelled), 0, 1);
    this.#waiting = this.#waiting.filter((each) => each !== job);
    settle(job, () => job.reject(reason));
  }
}

function send(worker: Worker, { asked, deadline, cancelled }: Job): void {
  worker.postMessage({ asked, deadline, cancelled } satisfies QueryRequest);
}

function isCancelled({ cancelled }: Job): boolean {
  return Atomics.load(new Int32Array(cancelled), 0) !== 0;
}

/** Settles the promise of a job and clears its timer. A second call has no effect, because a promise settles only once. */
function settle(job: Job, resolveOrReject: () => void): void {
  clearTimeout(job.timer);
  resolveOrReject();
}

function closed(): Problem {
  return new Problem("UNAVAILABLE", "The store was closed.");
}

/** The error for a job that its thread has interrupted. Only the end of the store interrupts sizes. */
function interruption({ asked }: Job, maxMs: number): Problem {
  return asked.kind === "sizes" ? closed() : tooExpensive(asked, maxMs);
}

function tooExpensive(asked: ListTask, maxMs: number): Problem {
  const { indexes } = asked.collection;
  if (asked.kind === "figures") return figuresTooExpensive(asked.query, indexes, maxMs);
  const query = asked.kind === "page" ? asked.query : listLike(asked.query);
  return listTooExpensive(query, indexes, maxMs);
}
