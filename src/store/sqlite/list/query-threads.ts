/** A few threads for lists that no index supports. They start with the first such list. */
import type { Worker } from "node:worker_threads";
import { Problem, type ProblemCode } from "../../../errors.ts";
import { startThread } from "../../../program.ts";
import { listTooExpensive } from "../../core/advice.ts";
import { type FiguresOf, figuresTooExpensive } from "../../core/figures.ts";
import { type GroupsQuery, listLike } from "../../core/referring.ts";
import type { PageQuery } from "../../core/related.ts";
import { SlowReads, unfinished } from "../../core/slow-reads.ts";
import { HistoryMissing } from "../../port/change-log.ts";
import type { Figures, Page, ReadClient, ReferringGroups } from "../../port/page.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import type { failureOf } from "../file/failures.ts";
import { inodeAt } from "../file/watch.ts";

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
  /** The most time for a list, in milliseconds, without its wait and the start of a thread. */
  maxMs: number;
  /** Called with the error for a refused query. Returns it. */
  onProblem(problem: Problem): Problem;
  /** Returns the error for a failed query. */
  toError(answer: QueryAnswer & { kind: "failed" }): unknown;
}

/** The part of `maxMs` for the size of one collection. */
const sizeShare = 1 / 4;

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
   * A page. Throws QUERY_TOO_EXPENSIVE if the list takes too long, UNAVAILABLE if it waits too long or too many lists
   * wait, and the reason of the signal.
   */
  async page(
    collection: NumberedCollection,
    query: PageQuery,
    client: ReadClient | undefined,
  ): Promise<Page> {
    const answer = await this.#run({ kind: "page", collection, query }, client);
    return (answer as QueryAnswer & { kind: "page" }).page;
  }

  /** The resources that refer to others. Throws as `page` does. */
  async referring(
    collection: NumberedCollection,
    query: GroupsQuery,
    client: ReadClient | undefined,
  ): Promise<ReferringGroups> {
    const answer = await this.#run({ kind: "groups", collection, query }, client);
    return (answer as QueryAnswer & { kind: "groups" }).groups;
  }

  /** The figures of a list. Throws as `page` does. */
  async figures(
    collection: NumberedCollection,
    query: FiguresOf,
    client: ReadClient | undefined,
  ): Promise<Figures> {
    const answer = await this.#run({ kind: "figures", collection, query }, client);
    return (answer as QueryAnswer & { kind: "figures" }).figures;
  }

  /**
   * About how many bytes each of the collections takes: of the first ones, as many as fit the time, but at least one. Throws
   * UNAVAILABLE if it waits too long or too many lists wait.
   */
  async sizes(collections: readonly NumberedCollection[]): Promise<readonly number[]> {
    const numbers = collections.map(({ number }) => number);
    const maxMs = this.#options.maxMs * sizeShare;
    const answer = await this.#run({ kind: "sizes", numbers, maxMs }, undefined);
    return (answer as QueryAnswer & { kind: "sizes" }).bytes;
  }

  async #run(asked: QueryTask, client: ReadClient | undefined): Promise<QueryAnswer> {
    const isLong = asked.kind === "sizes";
    const answer = await this.#reads.read(
      (maxMs, signal) => this.#attempt(asked, isLong ? Number.POSITIVE_INFINITY : maxMs, signal),
      client,
      { isLong },
    );
    if (answer !== unfinished) return answer;
    throw asked.kind === "sizes" ? closed() : tooExpensive(asked, this.#options.maxMs);
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
  #attempt(
    asked: QueryTask,
    maxMs: number,
    signal: AbortSignal | undefined,
  ): Promise<QueryAnswer | typeof unfinished> {
    if (this.#isClosed) return Promise.reject(closed());
    const idle = [...this.#threads].find(({ job }) => job === undefined);
    const thread = idle ?? this.#startThread();
    const { promise, resolve, reject } = Promise.withResolvers<QueryAnswer | typeof unfinished>();
    const job: Job = {
      asked,
      maxMs,
      cancelled: new SharedArrayBuffer(4),
      resolve: (answer) => {
        if (answer.kind === "refused")
          reject(this.#options.onProblem(new Problem(answer.code, answer.detail)));
        else if (answer.kind === "missing") reject(new HistoryMissing(answer.since));
        else if (answer.kind === "failed") reject(this.#options.toError(answer));
        else resolve(answer.kind === "interrupted" ? unfinished : answer);
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

function tooExpensive(asked: ListTask, maxMs: number): Problem {
  const { indexes } = asked.collection;
  if (asked.kind === "figures") return figuresTooExpensive(asked.query, indexes, maxMs);
  const query = asked.kind === "page" ? asked.query : listLike(asked.query);
  return listTooExpensive(query, indexes, maxMs);
}
