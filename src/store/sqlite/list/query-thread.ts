/**
 * A thread for lists that no index supports. `node:sqlite` cannot interrupt a running statement from outside. Each statement
 * therefore calls a function for each resource that it reads, and this function throws to end the statement.
 */
import type { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { Problem } from "../../../errors.ts";
import { lowerThreadPriority } from "../../../program.ts";
import type { NumberedCollection } from "../../core/catalogue.ts";
import { pageOfDeleted } from "../../core/deleted-page.ts";
import { type CurrentQuery, pageAt } from "../../core/past-page.ts";
import { type PageQuery, queryInMemory } from "../../core/related.ts";
import { HistoryMissing } from "../../port/change-log.ts";
import type { Page } from "../../port/page.ts";
import { ask, type Plan, runNow } from "../../sql/plans.ts";
import { describeError, failureOf } from "../file/failures.ts";
import { openForReading } from "../file/open-file.ts";
import { inodeAt } from "../file/watch.ts";
import { damagedNumber } from "../file/wide-integers.ts";
import { Reader } from "../read/reader.ts";
import { collectionSizes } from "../read/sizes.ts";
import { PlanRunner, storePlans } from "../sqlite-dialect.ts";
import type {
  QueryAnswer,
  QueryRequest,
  QueryTask,
  QueryTasks,
  QueryThreadData,
  ThreadMessage,
} from "./query-threads.ts";
import { interruptFunction } from "./sqlite-lists.ts";

const cacheKibibytes = 32 * 1024;
const mappedBytes = 256 * 1024 * 1024;

/** What the thread reads with. */
interface Readers {
  database: DatabaseSync;
  reader: Reader;
  plans: PlanRunner;
}

/** Ends a statement after its deadline, or if its query is cancelled. */
class Interrupted extends Error {}

/** The deadline of the present query: Unix time in milliseconds. */
let deadline = Number.POSITIVE_INFINITY;
let cancelled: Int32Array = new Int32Array(1);

function interruptIfDue(): 1 {
  if (Atomics.load(cancelled, 0) !== 0 || Date.now() > deadline) throw new Interrupted();
  return 1;
}

function openReaders(path: string): Readers {
  const database = openForReading(path);
  database.exec(`pragma cache_size = -${cacheKibibytes}; pragma mmap_size = ${mappedBytes}`);
  database.function(interruptFunction, { deterministic: false }, interruptIfDue);
  const reader = new Reader(database);
  return { database, reader, plans: new PlanRunner(database) };
}

function readPage(readers: Readers, collection: NumberedCollection, query: PageQuery): Page {
  const { reader } = readers;
  const { at, deleted } = query;
  if (at === undefined && deleted === undefined) return reader.page(collection, query, true);
  const { idKind } = collection;
  const reads = { idKind, history: storePlans.historyOf(collection), targetsOf: storePlans.targetsOf };
  const asked = queryInMemory(query);
  return reader.inSnapshot(() =>
    runInterruptibly(
      readers,
      deleted === undefined
        ? pageAt({ ...asked, at: at as number }, { ...reads, current })
        : pageOfDeleted({ ...asked, deleted }, reads),
    ),
  );

  // biome-ignore lint/correctness/useYield: the page is read at once
  function* current(each: CurrentQuery): Plan<Page> {
    return reader.page(collection, each, true);
  }
}

function runInterruptibly<T>({ plans }: Readers, plan: Plan<T>): T {
  return runNow(plan, (statement) => {
    interruptIfDue();
    return plans.run(ask(statement));
  });
}

function tasksOf(readers: Readers): QueryTasks {
  const { database, reader } = readers;
  return {
    page: (collection, query) => readPage(readers, collection, query),
    figures: (collection, query) => reader.figures(collection, query),
    referring: (collection, query) => reader.referring(collection, query, true),
    sizes: (numbers, maxMs) => collectionSizes(database, numbers, { onPage: interruptIfDue, maxMs }),
  };
}

function answer(tasks: QueryTasks, { name, args }: QueryTask): QueryAnswer {
  try {
    return { kind: "read", result: (tasks[name] as (...values: unknown[]) => unknown)(...args) };
  } catch (thrown) {
    const error = damagedNumber(thrown);
    if (error instanceof Interrupted) return { kind: "interrupted" };
    if (error instanceof HistoryMissing) return { kind: "missing", since: error.since };
    if (error instanceof Problem) return { kind: "refused", code: error.code, detail: error.message };
    return { kind: "failed", failure: failureOf(error), reason: describeError(error) };
  }
}

/** Opens the reader. Returns the answer for the client if that fails. */
function open({ path, inode }: QueryThreadData): QueryTasks | (QueryAnswer & { kind: "failed" }) {
  const replaced = {
    kind: "failed",
    failure: "broken",
    reason: `${path} was removed or replaced while it was in use`,
  } as const;
  try {
    if (inodeAt(path) !== inode) return replaced;
    const opened = tasksOf(openReaders(path));
    return inodeAt(path) === inode ? opened : replaced;
  } catch (error) {
    // Other threads have the file open. The cause is probably the limit of open files or of memory, so a retry can succeed.
    return { kind: "failed", failure: "busy", reason: describeError(error) };
  }
}

lowerThreadPriority();
let tasks: QueryTasks | undefined;
parentPort?.on("message", (request: QueryRequest) => {
  deadline = request.deadline;
  cancelled = new Int32Array(request.cancelled);
  const opened = tasks ?? open(workerData as QueryThreadData);
  if ("page" in opened) tasks = opened;
  parentPort?.postMessage("page" in opened ? answer(opened, request.asked) : opened);
});
parentPort?.postMessage({ kind: "ready" } satisfies ThreadMessage);
