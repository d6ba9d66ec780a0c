/**
 * A thread for lists that no index supports. `node:sqlite` cannot interrupt a running statement from outside. Each statement
 * therefore calls a function for each resource that it reads, and this function throws to end the statement.
 */
import { parentPort, workerData } from "node:worker_threads";
import { Problem } from "../../../errors.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { describeError, failureOf } from "../file/failures.ts";
import { openForReading } from "../file/open-file.ts";
import { inodeAt } from "../file/watch.ts";
import { Reader } from "../read/reader.ts";
import { lowerThreadPriority } from "../upkeep/thread-priority.ts";
import type { QueryAnswer, QueryRequest, QueryThreadData, ThreadMessage } from "./query-threads.ts";
import { interruptFunction, type PageQuery } from "./select.ts";

const cacheKibibytes = 32 * 1024;
const mappedBytes = 256 * 1024 * 1024;

/** Ends a statement after its deadline, or if its query is cancelled. */
class Interrupted extends Error {}

/** The deadline of the present query: Unix time in milliseconds. */
let deadline = Number.POSITIVE_INFINITY;
let cancelled: Int32Array = new Int32Array(1);

function interruptIfDue(): 1 {
  if (Atomics.load(cancelled, 0) !== 0 || Date.now() > deadline) throw new Interrupted();
  return 1;
}

function openReader(path: string): Reader {
  const database = openForReading(path);
  database.exec(`pragma cache_size = -${cacheKibibytes}; pragma mmap_size = ${mappedBytes}`);
  database.function(interruptFunction, { deterministic: false }, interruptIfDue);
  return new Reader(database);
}

function answer(reader: Reader, collection: NumberedCollection, query: PageQuery): QueryAnswer {
  try {
    return { kind: "page", page: reader.page(collection, query, true) };
  } catch (error) {
    if (error instanceof Interrupted) return { kind: "interrupted" };
    if (error instanceof Problem) return { kind: "refused", code: error.code, detail: error.message };
    return { kind: "failed", failure: failureOf(error), reason: describeError(error) };
  }
}

/** Opens the reader. Returns the answer for the client if that fails. */
function readerOf({ path, inode }: QueryThreadData): Reader | (QueryAnswer & { kind: "failed" }) {
  const replaced = {
    kind: "failed",
    failure: "broken",
    reason: `${path} was removed or replaced while it was in use`,
  } as const;
  try {
    if (inodeAt(path) !== inode) return replaced;
    const opened = openReader(path);
    return inodeAt(path) === inode ? opened : replaced;
  } catch (error) {
    // Other threads have the file open. The cause is probably the limit of open files or of memory, so a retry can succeed.
    return { kind: "failed", failure: "busy", reason: describeError(error) };
  }
}

lowerThreadPriority();
let reader: Reader | undefined;
parentPort?.on("message", (request: QueryRequest) => {
  deadline = request.deadline;
  cancelled = new Int32Array(request.cancelled);
  const found = reader ?? readerOf(workerData as QueryThreadData);
  if (found instanceof Reader) {
    reader = found;
    parentPort?.postMessage(answer(reader, request.collection, request.query));
  } else parentPort?.postMessage(found);
});
parentPort?.postMessage({ kind: "ready" } satisfies ThreadMessage);
