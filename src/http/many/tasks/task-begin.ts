/** Begins tasks for requests that prefer a response before the work is done. */
import { Problem } from "../../../errors.ts";
import type { Change } from "../../../store/port/commit.ts";
import { newTask, type Task, type TaskRequest } from "../../../tasks/task.ts";
import type { Tasks } from "../../../tasks/task-loop.ts";
import type { Caller } from "../../caller/admit.ts";
import type { Writes } from "../../operations/operation.ts";
import { type Asked, jsonResult, type Result } from "../../operations/result.ts";
import { prefersAsync } from "../../protocol/prefer.ts";
import type { Administration, Callers, Clock, Data } from "../../service.ts";
import { commit, type Write } from "../../writes/commit.ts";
import { untilCommitted } from "../../writes/write.ts";

/** Whether a request becomes a task. In a service with `auth`, it does not without a credential, because each task belongs to its caller. */
export function isForTask(
  service: Callers & Administration,
  { caller, request }: Pick<Asked, "caller" | "request">,
): boolean {
  if (service.tasks === undefined || !prefersAsync(request.headers)) return false;
  return service.access === undefined || caller.principal !== undefined;
}

/** A new task, as far as its request decides it. */
type Asking = Pick<Task, "kind"> & Partial<Task>;

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

/** A new task with what its request asks for. Throws UNAVAILABLE. */
export async function taskOf(
  service: Data & Clock & Administration,
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

/** The response to the request that begins a task. `more`: what only this response has. */
export function accepted(
  { service, request }: Pick<Write<Writes>, "service" | "request">,
  task: Task,
  more: object = {},
): Result {
  const headers = {
    location: `${service.settings.prefix}/_tasks/${task.id}`,
    ...(prefersAsync(request.headers) && { "preference-applied": "respond-async" }),
  };
  return jsonResult({ ...shownTask(task), ...more }, { status: 202, headers });
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
