/** The endpoints of tasks: those who began one, and administrators, see how far it is, cancel it and undo it. */
import { denied } from "../../access/challenges.ts";
import type { Versioned } from "../../records.ts";
import { isOvertaken } from "../../records.ts";
import { ended, isAtWork, type Task } from "../../tasks/task.ts";
import type { Tasks } from "../../tasks/task-loop.ts";
import { administers } from "../caller/permission.ts";
import type { Endpoint, Success } from "../endpoint/endpoint.ts";
import { shownTask } from "../many/tasks/task-begin.ts";
import { beginUndo } from "../many/tasks/undo-task.ts";
import { json, listOf, ref } from "../openapi/described.ts";
import { type Asked, jsonResult, notFound } from "../operations/result.ts";
import type { Administration, Callers, Clock } from "../service.ts";
import { overtaken, type WriteAttempt } from "../writes/commit.ts";
import { untilCommitted } from "../writes/write.ts";

const example = {
  id: "0193ad4c-7b1e-7c39-9f5e-2f6f3f1a9b10",
  kind: "update",
  state: "running",
  collection: "topics",
  by: null,
  dryRun: false,
  total: 250_000,
  checked: 250_000,
  done: 12_000,
  changed: 11_990,
  created: 0,
  refused: 0,
  firstRefused: [],
  createdAt: "2026-01-31T08:30:00.000Z",
};

const task = json(ref("schemas", "ServiceTask"), example);

/** The success of a request that becomes a task. */
export const acceptedTask: Success = {
  description: "The request became a task. `Location` is its path.",
  must: ["Location", "Preference-Applied"],
  may: ["Idempotent-Replayed"],
  content: task,
};

const names = { id: { description: "The id of the task." } };

/** The endpoints. */
export const taskEndpoints: readonly Endpoint[] = [
  {
    path: "/_tasks",
    method: "GET",
    who: "everyone",
    isNeverForbidden: true,
    page: { usual: 100, most: 1_000, hasAfter: false, what: "tasks" },
    id: "listServiceTasks",
    summary: "List tasks",
    description: "Lists the tasks that the caller began, the latest first. Administrators see all tasks.",
    successes: {
      200: { description: "The tasks.", content: json(listOf(ref("schemas", "ServiceTask")), [example]) },
    },
    handle: async (service, { caller, page }) => {
      requireCaller(service, caller);
      const by = administers(service, caller) ? undefined : (caller.principal?.subject ?? null);
      const tasks = await (service.tasks as Tasks).records.latest(page.limit, by);
      return jsonResult(tasks.map(shownTask));
    },
  },
  {
    path: "/_tasks/{id}",
    method: "GET",
    who: "everyone",
    isNeverForbidden: true,
    names,
    id: "getServiceTask",
    summary: "Read a task",
    description:
      "Says how far a task is, and what it could not change. The caller who began it and administrators can read it.",
    successes: { 200: { description: "The task.", content: task } },
    handle: async (service, asked) => {
      const found = await taskOf(service, asked);
      return jsonResult(found && shownTask(found.value));
    },
  },
  {
    path: "/_tasks/{id}",
    method: "DELETE",
    who: "everyone",
    isNeverForbidden: true,
    names,
    id: "cancelServiceTask",
    summary: "Cancel a task",
    description:
      "Ends a task before its next slice. What it has changed stays. A task that has ended does not change.",
    successes: { 200: { description: "The task.", content: task } },
    handle: (service, asked) => untilCommitted(service, () => cancel(service, asked)),
  },
  {
    path: "/_tasks/{id}/_undo",
    method: "POST",
    who: "everyone",
    isNeverForbidden: true,
    names,
    id: "undoServiceTask",
    summary: "Undo a task",
    description:
      "Begins a task that takes back what another task has changed. Resources that others have changed since stay unchanged.",
    successes: { 202: { ...acceptedTask, must: ["Location"], may: ["Preference-Applied"] } },
    errors: [409],
    handle: async (service, asked) => {
      const { caller, request } = asked;
      const found = await taskOf(service, asked);
      if (found === undefined) return notFound;
      // Without an Idempotency-Key: a second undo is refused, and names the first one.
      return beginUndo({ service, operation: { caller }, request }, found);
    },
  },
];

/** The task in the path, if the caller can see it. */
async function taskOf(
  service: Callers & Administration,
  { caller, names }: Asked,
): Promise<Versioned<Task> | undefined> {
  requireCaller(service, caller);
  const found = await (service.tasks as Tasks).records.task(names.id as string);
  const isOwn = found?.value.by === caller.principal?.subject;
  return isOwn || administers(service, caller) ? found : undefined;
}

/** Throws UNAUTHENTICATED in a service with `auth`: without a credential, no task belongs to the caller. */
function requireCaller({ access }: Callers, { principal }: Asked["caller"]): void {
  if (access !== undefined && principal === undefined) throw denied(undefined);
}

async function cancel(service: Callers & Clock & Administration, asked: Asked): Promise<WriteAttempt> {
  const tasks = service.tasks as Tasks;
  const found = await taskOf(service, asked);
  if (found === undefined) return notFound;
  if (!isAtWork(found.value)) return jsonResult(shownTask(found.value));
  const next: Task = { ...ended(found.value, "cancelled", service.now()), active: "yes" };
  try {
    await tasks.records.commit([tasks.records.moved(found, next)], service.now());
  } catch (error) {
    if (isOvertaken(error)) return overtaken;
    throw error;
  }
  tasks.wake(); // it removes the rest of the plan
  return jsonResult(shownTask(next));
}
