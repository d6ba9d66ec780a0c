/** A thread for lists that no index supports. */
import { parentPort, workerData } from "node:worker_threads";
import { lowerThreadPriority } from "../../../program.ts";
import { describeError } from "../file/failures.ts";
import { openForReading } from "../file/open-file.ts";
import { inodeAt } from "../file/watch.ts";
import { createQueryTasks } from "./query-tasks.ts";
import type { QueryAnswer, QueryRequest, QueryThreadData, ThreadMessage } from "./query-threads.ts";

const cacheKibibytes = 32 * 1024;
const mappedBytes = 256 * 1024 * 1024;

type Answer = ReturnType<typeof createQueryTasks>;

function openTasks(path: string): Answer {
  const database = openForReading(path);
  database.exec(`pragma cache_size = -${cacheKibibytes}; pragma mmap_size = ${mappedBytes}`);
  return createQueryTasks(database);
}

/** Opens the reader. Returns the answer for the client if that fails. */
function open({ path, inode }: QueryThreadData): Answer | (QueryAnswer & { kind: "failed" }) {
  const replaced = {
    kind: "failed",
    failure: "broken",
    reason: `${path} was removed or replaced while it was in use`,
  } as const;
  try {
    if (inodeAt(path) !== inode) return replaced;
    const opened = openTasks(path);
    return inodeAt(path) === inode ? opened : replaced;
  } catch (error) {
    // Other threads have the file open. The cause is probably the limit of open files or of memory, so a retry can succeed.
    return { kind: "failed", failure: "busy", reason: describeError(error) };
  }
}

lowerThreadPriority();
let answer: Answer | undefined;
parentPort?.on("message", (request: QueryRequest) => {
  const opened = answer ?? open(workerData as QueryThreadData);
  if (typeof opened === "function") answer = opened;
  parentPort?.postMessage(typeof opened === "function" ? opened(request) : opened);
});
parentPort?.postMessage({ kind: "ready" } satisfies ThreadMessage);
