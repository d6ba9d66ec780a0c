/** A few threads for lists that no index supports. They start with the first such list. */
import type { Worker } from "node:worker_threads";
import { Problem, type ProblemCode } from "../../../errors.ts";
import { startThread } from "../../../program.ts";
import { listTooExpensive } from "../../core/advice.ts";
import type { NumberedCollection } from "../../core/catalogue.ts";
import { type FiguresOf, figuresTooExpensive } from "../../core/figures.ts";
import { type GroupsQuery, listLike, type PageQuery } from "../../core/related.ts";
import { SlowReads, unfinished } from "../../core/slow-reads.ts";
import { HistoryMissing } from "../../port/change-log.ts";
import type { Figures, Page, ReadClient, ReferringGroups } from "../../port/page.ts";
import type { failureOf } from "../file/failures.ts";
import { inodeAt } from "../file/watch.ts";

/** The data of a thread at its start. */
export interface QueryThreadData {
  path: string;
  /** The file of the store. The thread does not read another file at the same path. */
  inode: string | undefined;
}

/** What a thread reads, by name: the arguments and results that a message carries. */
export interface QueryTasks {
  page(collection: NumberedCollection, query: PageQuery): Page;
  figures(collection: NumberedCollection, query: FiguresOf): Figures;
  referring(collection: NumberedCollection, query: GroupsQuery): ReferringGroups;
  /** About how many bytes each of the collections with these numbers takes, or the first ones (`collectionSizes`). */
  sizes(numbers: readonly number[], maxMs: number): readonly number[];
}

/** A name with its arguments. */
export type QueryTask = {
  [Name in keyof QueryTasks]: { name: Name; args: Parameters<QueryTasks[Name]> };
}[keyof QueryTasks];

/** A query for a thread. */
export interface QueryRequest {
  asked: QueryTask;
  /** Unix time in milliseconds. Infinity for sizes: they have a time of their own, which ends with an estimate. */
  deadline: number;
  /** One Int32. Any value except 0 cancels the query. Absent if nothing can cancel it. */
  cancelled?: SharedArrayBuffer;
}

/** A message of a thread. The first one is `ready`. Each of the others answers a request. */
export type ThreadMessage = { kind: "ready" } | QueryAnswer;

/** The answer to a query. */
export type QueryAnswer =
  | { kind: "read"; result: unknown }
  | { kind: "interrupted" }
  | { kind: "missing"; since: number | undefined }
  | { kind: "refused"; code: ProblemCode; detail: string }
  | { kind: "failed"; failure: ReturnType<typeof failureOf>; reason: string };

/** Reads lists that no index supports. */
export type Queries = Pick<QueryThreads, "list" | "sizes" | "close">;

/** What reading such lists depends on. */
export interface QueriesOptions {
  /** The most time for a list, in milliseconds, without its wait and the start of a thread. */
  maxMs: number;
  /** Called with the error for a refused query. Returns it. */
  onProblem(problem: Problem): Problem;
  /** Returns the error for a failed query. */
  toError(answer: QueryAnswer & { kind: "failed" }): unknown;
}

/** The options of the threads. */
export interface QueryThreadsOptions extends QueriesOptions {
  path: string;
}

/** What was read, or `unfinished`. Throws the error for a query that was refused or has failed. */
export function resultOf(answer: QueryAnswer, { onProblem, toError }: QueriesOptions): unknown {
  switch (answer.kind) {
    case "read":
      return answer.result;
    case "interrupted":
      return unfinished;
    case "refused":
      throw onProblem(new Problem(answer.code, answer.detail));
    case "missing":
      throw new HistoryMissing(answer.since);
    case "failed":
      throw toError(answer);
  }
}

/** The part of `maxMs` for the size of one collection. */
export const sizeShare = 1 / 4;

interface Job {
  asked: QueryTask;
  maxMs: number;
  cancelled: SharedArrayBuffer;
  resolve(answer: QueryAnswer): void;
  reject(error: unknown): void;
}

interface Thread {
  worker: Worker;
  isReady: boolean;
  job: Job | undefined;
}

/** Reads lists in threads, in turns by caller. */
export class QueryThreads {
  readonly #options: QueryThreadsOptions;
  readonly #data: QueryThreadData;
  readonly #threads = new Set<Thread>();
  readonly #reads: SlowReads;
  #isClosed = false;

  constructor(options: QueryThreadsOptions) {
    this.#options = options;
    this.#data = { path: options.path, inode: inodeAt(options.path) };
    this.#reads = new SlowReads(options);
  }

  /**
   * Reads a list. Throws QUERY_TOO_EXPENSIVE if it takes too long, UNAVAILABLE if it waits too long or too many lists wait, and the
   * reason of the signal.
   */
  async list<Name extends Exclude<keyof QueryTasks, "sizes">>(
    name: Name,
    args: Parameters<QueryTasks[Name]>,
    client: ReadClient | undefined,
  ): Promise<ReturnType<QueryTasks[Name]>> {
    const asked = { name, args } as unknown as QueryTask;
    const result = await this.#reads.read((maxMs, signal) => this.#attempt(asked, maxMs, signal), client);
    if (result === unfinished) throw tooExpensive(asked, this.#options.maxMs);
    return result as ReturnType<QueryTasks[Name]>;
  }

  /**
   * About how many bytes each of the collections takes: of the first ones, as many as fit the time, but at least one. Throws
   * UNAVAILABLE if it waits too long or too many lists wait.
   */
  async sizes(collections: readonly NumberedCollection[]): Promise<readonly number[]> {
    const numbers = collections.map(({ number }) => number);
    const asked: QueryTask = { name: "sizes", args: [numbers, this.#options.maxMs * sizeShare] };
    const attempt = (_: number, signal: AbortSignal | undefined) =>
      this.#attempt(asked, Number.POSITIVE_INFINITY, signal);
    const result = await this.#reads.read(attempt, undefined, { isLong: true });
    if (result === unfinished) throw closed();
    return result as readonly number[];
  }

  /** Cancels all queries and ends the threads. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#reads.close(closed());
    for (const { job } of this.#threads) {
      if (job === undefined) continue;
      cancel(job);
      job.reject(closed());
    }
    await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()));
  }

  /** Asks an idle thread. `SlowReads` makes as many attempts at the same time as there can be threads. */
  #attempt(asked: QueryTask, maxMs: number, signal: AbortSignal | undefined): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(closed());
    const idle = [...this.#threads].find(({ job }) => job === undefined);
    const thread = idle ?? this.#startThread();
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const job: Job = {
      asked,
      maxMs,
      cancelled: new SharedArrayBuffer(4),
      resolve: (answer) => {
        try {
          resolve(resultOf(answer, this.#options));
        } catch (error) {
          reject(error);
        }
      },
      reject,
    };
    const abort = () => cancel(job);
    signal?.addEventListener("abort", abort, { once: true });
    thread.job = job;
    if (thread.isReady) send(thread);
    return promise.finally(() => signal?.removeEventListener("abort", abort));
  }

  #startThread(): Thread {
    const worker = startThread("store/sqlite/list/query-thread", {
      workerData: this.#data,
      name: "holdfast-query",
    });
    const thread: Thread = { worker, isReady: false, job: undefined };
    this.#threads.add(thread);
    worker.on("message", (message: ThreadMessage) => {
      if (message.kind === "ready") {
        thread.isReady = true;
        send(thread);
      } else {
        worker.unref();
        const { job } = thread;
        thread.job = undefined;
        job?.resolve(message);
      }
    });
    worker.once("error", (error) => {
      this.#threads.delete(thread);
      thread.job?.reject(error);
    });
    return thread;
  }
}

/** Sends its job to a thread that is ready. The time of the job starts now. */
function send({ worker, job }: Thread): void {
  if (job === undefined) return;
  const { asked, maxMs, cancelled } = job;
  worker.ref(); // until the thread has answered
  worker.postMessage({ asked, deadline: Date.now() + maxMs, cancelled } satisfies QueryRequest);
}

/** The thread of the job interrupts it soon. */
function cancel({ cancelled }: Job): void {
  Atomics.store(new Int32Array(cancelled), 0, 1);
}

function closed(): Problem {
  return new Problem("UNAVAILABLE", "The store was closed.");
}

/** The error for a query that did not end in its time. */
export function tooExpensive(asked: QueryTask, maxMs: number): Problem {
  if (asked.name === "sizes") return closed();
  const [collection] = asked.args;
  if (asked.name === "figures") return figuresTooExpensive(asked.args[1], collection, maxMs);
  return listTooExpensive(asked.name === "page" ? asked.args[1] : listLike(asked.args[1]), collection, maxMs);
}
