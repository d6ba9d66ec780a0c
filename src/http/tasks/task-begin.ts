/** Begins tasks for requests that prefer a response before the work is done. */
import { formatPath } from "../../collection/paths.ts";
import { pathsOf } from "../../collection/unique.ts";
import { Problem } from "../../errors.ts";
import type { Spool } from "../../import/spool.ts";
import { isOvertaken, type Versioned } from "../../records.ts";
import type { Change } from "../../store/port/commit.ts";
import {
  isAtWork,
  maxTaskResources,
  newTask,
  type Task,
  type TaskItem,
  type TaskRefusal,
  type TaskRequest,
} from "../../tasks/task.ts";
import type { Tasks } from "../../tasks/task-loop.ts";
import { askedIn, requireBulk } from "../batch/bulk.ts";
import { requireRestores, restoresIn } from "../batch/restores.ts";
import type { Caller } from "../caller/admit.ts";
import type { Bulk, Import, Writes } from "../operations/operation.ts";
import type { Asked, Result } from "../operations/result.ts";
import { readContent } from "../protocol/content.ts";
import { type HttpRequest, jsonType } from "../protocol/message.ts";
import { prefersAsync } from "../protocol/prefer.ts";
import type { Service } from "../service.ts";
import { commit, type Write } from "../writes/commit.ts";
import { requireFewCollections } from "../writes/create.ts";
import { readRewind } from "../writes/rewind.ts";
import { untilCommitted } from "../writes/write.ts";
import { partSize, type TaskRewind } from "./task-plan.ts";
import type { TaskImport } from "./task-work.ts";

/** Whether a request becomes a task. In a service with `auth`, it does not without a credential, because each task belongs to its caller. */
export function isForTask(service: Service, { caller, request }: Pick<Asked, "caller" | "request">): boolean {
  if (service.tasks === undefined || !prefersAsync(request.headers)) return false;
  return service.access === undefined || caller.principal !== undefined;
}

/** A new task, as far as its request decides it. */
type Asking = Pick<Task, "kind"> & Partial<Task>;

/** Begins a bulk change. Throws the problems of the content, and UNAVAILABLE if too many tasks wait. */
export async function beginBulk(write: Write<Bulk>): Promise<Result> {
  const { service, operation, request } = write;
  requireBulk(write);
  const bytes = await readContent(request, service.settings.limits);
  const asked = askedIn(service, operation, bytes, maxTaskResources);
  return begin(
    write,
    {
      kind: asked.patch === undefined ? "delete" : "update",
      collection: operation.collection.name,
      isDryRun: asked.isDryRun,
    },
    bytes.toString(),
  );
}

/** Begins a restore of many deleted resources. Throws the problems of the content, and UNAVAILABLE if too many tasks wait. */
export async function beginRestores(write: Write<Bulk>): Promise<Result> {
  const { service, operation, request } = write;
  requireRestores(write);
  const bytes = await readContent(request, service.settings.limits);
  const { isDryRun } = restoresIn(service, operation, bytes, maxTaskResources);
  const collection = operation.collection.name;
  return begin(write, { kind: "restore", collection, isDryRun }, bytes.toString());
}

/** Begins a rewind. Throws the problems of the content, and UNAVAILABLE if too many tasks wait. */
export async function beginRewind(write: Write<Writes>): Promise<Result> {
  const { to, max, collections, isDryRun } = await readRewind(write);
  const names = collections.map(({ name }) => name);
  const content: TaskRewind = { to, max, collections: names };
  const [only] = names.length === 1 ? names : [];
  const asking = { kind: "rewind", collection: only, isDryRun } as const;
  return begin(write, asking, JSON.stringify(content));
}

/** Begins an undo of a task that has ended. Throws TASK_UNAVAILABLE, and UNAVAILABLE if too many tasks wait. */
export async function beginUndo(write: Write<Writes>, other: Versioned<Task>): Promise<Result> {
  const { records } = write.service.tasks as Tasks;
  const { id, slices, collection, changed } = other.value;
  requireUndoable(write.service, other.value);
  const asking = {
    kind: "undo",
    state: "running",
    isPlanned: true,
    undoes: id,
    collection,
    parts: slices,
    borrowed: slices,
    total: changed,
  } as const;
  return begin(write, asking, undefined, async (task) => {
    const latest = (await records.task(id)) ?? other; // the removal of its plan changes it too
    requireUndoable(write.service, latest.value);
    return [records.moved(latest, { undoneBy: task.id })];
  });
}

function requireUndoable({ feed }: Service, task: Task): void {
  const refuse = (reason: string): never => {
    throw new Problem("TASK_UNAVAILABLE", reason);
  };
  if (isAtWork(task)) refuse("The task still works. Cancel it with DELETE first.");
  if (task.undoneBy !== undefined) refuse(`The task ${task.undoneBy} undoes this one already.`);
  if (task.slices === 0) refuse("The task has changed nothing.");
  if (feed === undefined) refuse("The service keeps no history, so it has no earlier versions.");
}

/** Begins a task. Its commit also stores the response for an Idempotency-Key. */
export async function begin(
  write: Write<Writes>,
  asking: Asking,
  content: string | undefined,
  also: (task: Task) => Promise<readonly Change[]> = async () => [],
): Promise<Result> {
  const { service, operation } = write;
  const tasks = service.tasks as Tasks;
  const { task, request } = await taskOf(service, operation.caller, asking, content);
  return untilCommitted(service, async () =>
    commit(write, {
      kind: "plan",
      changes: [...(await tasks.records.begun(task, request)), ...(await also(task))],
      at: task.createdAt,
      result: accepted(write, task),
      onCommitted: () => tasks.wake(),
    }),
  );
}

async function taskOf(
  service: Service,
  caller: Caller,
  asking: Asking,
  content: string | undefined,
): Promise<{ task: Task; request: TaskRequest }> {
  const { records } = service.tasks as Tasks;
  const principal = caller.principal ?? null;
  if (service.readOnly)
    throw new Problem("UNAVAILABLE", "The service is read-only now. No task begins. Try again later.");
  await records.prepare();
  const task = newTask({
    id: service.newUuid(),
    by: principal?.subject ?? null,
    createdAt: service.now(),
    ...asking,
  });
  return { task, request: { principal, ...(content !== undefined && { content }) } };
}

/** Begins an import. Throws the problems of its content, UNAVAILABLE, and the problems of the store. */
export async function beginImport(
  service: Service,
  operation: Import,
  request: HttpRequest,
): Promise<Result> {
  const { readImport } = await import("../imports/imports.ts");
  return readImport(service, operation, request, async ({ spool, report }) => {
    const { collection, asked, caller } = operation;
    requireFewCollections(service, collection);
    const asking = {
      collection: collection.name,
      refused: report.invalid,
      firstRefused: report.errors.map(({ line, element, code, detail, pointer }): TaskRefusal => {
        const text = pointer === undefined ? detail : `${pointer} ${detail}`;
        return { line, ...(element !== undefined && { element }), code, detail: text };
      }),
      isDryRun: asked.dryRun,
      skipInvalid: asked.skipInvalid,
    };
    const content: TaskImport | undefined = asked.on && { on: pathsOf(asked.on).map(formatPath) };
    const task = await storeImport(service, caller, { asking, content }, spool);
    return accepted({ service, request }, task, { report });
  });
}

async function storeImport(
  service: Service,
  caller: Caller,
  { asking, content }: { asking: Partial<Task> & { collection: string }; content: TaskImport | undefined },
  spool: Spool,
): Promise<Task> {
  const { collection } = asking;
  const tasks = service.tasks as Tasks;
  const { records } = tasks;
  const { task, request } = await taskOf(
    service,
    caller,
    { kind: "import", active: "no", ...asking },
    content && JSON.stringify(content),
  );
  // The engine leaves it alone until its plan is complete.
  await records.untilCommitted(
    async () => ({ changes: await records.begun(task, request), result: undefined }),
    service.now,
  );
  let stored: Versioned<Task> = { value: task, version: 1 };
  /** Each commit counts the parts, so that they are removed if the import is cancelled or interrupted. */
  const moveTo = async (next: Partial<Task>, also: readonly Change[] = []) => {
    await records.commit([records.moved(stored, next), ...also], service.now());
    stored = { value: { ...stored.value, ...next }, version: stored.version + 1 };
  };
  try {
    // Integers that the service generates come last, because they must be above every id of the input.
    for (const haveId of [true, false])
      for (const rows of spool.batches({ haveId }))
        for (let from = 0; from < rows.length; from += partSize) {
          const items = rows.slice(from, from + partSize).map(({ id, text, location }): TaskItem => {
            return { ...(id !== undefined && { id }), text, ...location };
          });
          const { parts, total } = stored.value;
          const part = records.planned(task.id, parts, { collection, items });
          await moveTo({ parts: parts + 1, total: total + items.length }, [part]);
        }
    const state = asking.skipInvalid === true && asking.isDryRun !== true ? "running" : "checking";
    await moveTo({ isPlanned: true, active: "yes", state });
  } catch (error) {
    const cancelled = isOvertaken(error) ? await records.task(task.id) : undefined;
    if (cancelled === undefined) throw error;
    return cancelled.value;
  }
  tasks.wake();
  return stored.value;
}

/** The response to the request that begins a task. `more`: what only this response has. */
function accepted(
  { service, request }: Pick<Write<Writes>, "service" | "request">,
  task: Task,
  more: object = {},
): Result {
  const headers = {
    location: `${service.settings.prefix}/_tasks/${task.id}`,
    ...(prefersAsync(request.headers) && { "preference-applied": "respond-async" }),
  };
  return {
    kind: "document",
    document: { status: 202, type: jsonType, body: JSON.stringify({ ...shownTask(task), ...more }), headers },
  };
}

/** A task as its caller sees it. */
export function shownTask(task: Task): Record<string, unknown> {
  const { id, kind, state, collection, by, isDryRun = false, undoes, undoneBy, total } = task;
  const { checked, done, changed, created, refused, firstRefused, reason, createdAt, endedAt } = task;
  return {
    id,
    kind,
    state,
    collection,
    by,
    dryRun: isDryRun,
    total,
    checked,
    done,
    changed,
    created,
    refused,
    firstRefused,
    reason,
    undoes,
    undoneBy,
    createdAt: new Date(createdAt).toISOString(),
    endedAt: endedAt === undefined ? undefined : new Date(endedAt).toISOString(),
  };
}
