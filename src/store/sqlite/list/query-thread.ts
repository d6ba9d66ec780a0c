/**
 * Lists that no index serves, in a thread of their own. A statement that runs cannot be interrupted from outside, so it
 * calls a function for each resource that it looks at, and that one ends it.
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
import { type PageQuery, watchFunction } from "./select.ts";

const cacheKibibytes = 32 * 1024;
const mappedBytes = 256 * 1024 * 1024;

/** Thrown by the watch. */
class Ended extends Error {}

/** When the work under way has to end. */
let deadline = Number.POSITIVE_INFINITY;
let cancelled: Int32Array = new Int32Array(1);

function goesOn(): 1 {
  if (Atomics.load(cancelled, 0) !== 0 || Date.now() > deadline) throw new Ended();
  return 1;
}

function openReader(path: string): Reader {
  const database = openForReading(path);
  database.exec(`pragma cache_size = -${cacheKibibytes}; pragma mmap_size = ${mappedBytes}`);
  database.function(watchFunction, { deterministic: false }, goesOn);
  return new Reader(database);
}

function answer(reader: Reader, collection: NumberedCollection, query: PageQuery): QueryAnswer {
  try {
    return { kind: "page", page: reader.page(collection, query, true) };
  } catch (error) {
    if (error instanceof Ended) return { kind: "ended" };
    if (error instanceof Problem) return { kind: "refused", code: error.code, detail: error.message };
    return { kind: "failed", failure: failureOf(error), reason: describeError(error) };
  }
}

/** The reader, opened when it is needed first; or why there is none now. */
function readerOf({ path, inode }: QueryThreadData): Reader | (QueryAnswer & { kind: "failed" }) {
  const gone = {
    kind: "failed",
    failure: "broken",
    reason: `${path} is not the file any more that is open`,
  } as const;
  try {
    if (inodeAt(path) !== inode) return gone;
    const opened = openReader(path);
    return inodeAt(path) === inode ? opened : gone;
  } catch (error) {
    // The others have the file open, so that it may be the number of open files, or memory: another time it may go well.
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
