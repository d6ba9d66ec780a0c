/** Tasks: changes of many resources on which the service works while others write. */
import { ResultHiddenError } from "./errors.ts";
import type { ImportReport } from "./import-report.ts";
import type { PageLimit } from "./list-types.ts";
import { keyedPost } from "./posts.ts";
import { sleep } from "./retry.ts";
import type { Rewind } from "./rewind-types.ts";
import type { Call, CallOptions, Send } from "./transport.ts";

/** A task. It is not one commit: others see partial results. */
export interface Task {
  readonly id: string;
  readonly kind: "update" | "delete" | "import" | "restore" | "rewind" | "undo";
  readonly state: "checking" | "running" | "done" | "refused" | "cancelled" | "failed";
  /** The collection. Absent if the task can change several. */
  readonly collection?: string;
  /** The subject of the caller who began it. */
  readonly by: string | null;
  readonly dryRun: boolean;
  /** The resources that it is about. The number grows while the task selects them. */
  readonly total: number;
  /** The resources that it has checked, before it changes anything. A task that checks nothing has 0. */
  readonly checked: number;
  /** The resources that had their turn, and those of them that changed. */
  readonly done: number;
  readonly changed: number;
  /** How many of those that changed are new resources. In a dry run, both say what would happen. */
  readonly created: number;
  /** How many resources could not be changed, and the first of them. */
  readonly refused: number;
  readonly firstRefused: readonly TaskRefusal[];
  /** Why it ended, if not all was done. */
  readonly reason?: string;
  /** The id of the task that it undoes, and of the task that undoes it. */
  readonly undoes?: string;
  readonly undoneBy?: string;
  readonly createdAt: string;
  /** Absent while it works. */
  readonly endedAt?: string;
}

/** An import that has begun as a task, with what the service has read. `imported` is how many resources the task is about. */
export interface BegunImport extends Task {
  readonly report: ImportReport;
}

/** A resource that a task could not change, and why. */
export interface TaskRefusal {
  /** The path of the resource. Absent for an import, which has the place in its body. */
  readonly resource?: string;
  readonly line?: number;
  readonly element?: number;
  readonly code: string;
  readonly detail: string;
}

/** How to wait for a task. */
export interface FinishedOptions extends CallOptions {
  /** Called with each state of the task that the client reads. */
  readonly onProgress?: (task: Task) => void;
  /** How often the client looks, in milliseconds. @default 500 */
  readonly everyMs?: number;
}

/** The tasks of the caller. Administrators see all tasks. */
export class TasksClient<Name extends string = string> {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** The latest tasks, the latest first. `limit` is at most 1,000, or `max`. @default 100 */
  async list({
    limit = 100,
    ...options
  }: CallOptions & { limit?: PageLimit } = {}): Promise<readonly Task[]> {
    return (await this.#read(`?limit=${limit}`, options)) as readonly Task[];
  }

  /** A task. Throws NotFoundError if it does not exist for the caller. */
  async get(id: string, options: CallOptions = {}): Promise<Task> {
    return (await this.#read(`/${encodeURIComponent(id)}`, options)) as Task;
  }

  /** Waits until a task has ended, and returns it. Check its `state` and `refused`. Throws as `get`. */
  async finished({ id }: Pick<Task, "id">, options: FinishedOptions = {}): Promise<Task> {
    const { onProgress, everyMs = 500, ...call } = options;
    for (;;) {
      const task = await this.get(id, call);
      onProgress?.(task);
      if (task.endedAt !== undefined) return task;
      await sleep(everyMs, call.signal);
    }
  }

  /** Ends a task before its next slice. What it has changed stays. Throws as `get`. */
  async cancel(id: string, options: CallOptions = {}): Promise<Task> {
    const path = `/_tasks/${encodeURIComponent(id)}`;
    return (await this.#send({ ...options, method: "DELETE", path, isRepeatable: true })).body as Task;
  }

  /** Begins a task that takes back what another one has changed, unless others have changed it since. */
  undo(id: string, options: CallOptions = {}): Promise<Task> {
    const path = `/_tasks/${encodeURIComponent(id)}/_undo`;
    return beginTask(this.#send, { ...options, method: "POST", path, isRepeatable: false });
  }

  /** Begins a task that returns collections to their state at an earlier time. Only administrators can rewind. */
  rewind(rewind: Rewind<Name>, options: CallOptions = {}): Promise<Task> {
    return beginTask(this.#send, keyedPost({ ...options, path: "/_rewind", content: rewind }));
  }

  async #read(rest: string, options: CallOptions): Promise<unknown> {
    return (await this.#send({ ...options, method: "GET", path: `/_tasks${rest}`, isRepeatable: true })).body;
  }
}

/** The report of an import that was a task: what the service has read when it began, and what the task did. */
export function importReportOf({ report }: BegunImport, ended: Task): ImportReport {
  const { total, changed, created, refused, firstRefused } = ended;
  // The task repeats the errors of the report, in fewer words.
  const late = firstRefused.slice(report.errors.length).map(({ line = 0, ...error }) => ({ ...error, line }));
  const errors = [...report.errors, ...late].sort(
    (a, b) => a.line - b.line || (a.element ?? 0) - (b.element ?? 0),
  );
  const same = total - changed - (refused - report.invalid);
  const isByKey = report.changed !== undefined;
  const merged = isByKey && { made: created, changed: changed - created, same };
  return { ...report, errors, invalid: refused, imported: changed, ...merged };
}

/** Sends a request that becomes a task. Throws ResultHiddenError if a retry cannot see the task any more. */
export async function beginTask(send: Send, call: Call): Promise<Task> {
  const { body } = await send({ ...call, headers: { ...call.headers, Prefer: "respond-async" } });
  if (body === undefined) throw new ResultHiddenError("task");
  return body as Task;
}
