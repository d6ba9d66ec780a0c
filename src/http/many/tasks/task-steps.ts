/**
 * The steps of a task: it makes its plan, checks all of it, and then works on it in slices. Each step ends with one commit, so a
 * task goes on where it was, whatever happens in between.
 */
import { Problem } from "../../../errors.ts";
import type { Versioned } from "../../../records.ts";
import { ended, maxRefusals, type Task, withRefusals } from "../../../tasks/task.ts";
import type { TaskStep, Tasks } from "../../../tasks/task-loop.ts";
import { administers } from "../../caller/permission.ts";
import type { Service } from "../../service.ts";
import type { TaskKind } from "./task-kind.ts";
import { kindsOfTasks } from "./task-kinds.ts";
import { doSlice, type Source } from "./task-slices.ts";
import { principalNow, type TaskWork } from "./task-work.ts";
import { wayBackOf } from "./ways-back.ts";

/** How long the store may take for the changes of a slice, in milliseconds, besides what every commit takes. */
const sliceMs = 5;

/** The fewest and the most changes of a slice. */
const fewest = 20;
const most = 500;

/** Makes the function that does the next step of a task. Slices become longer or shorter, as the store is fast or slow. */
export function createTaskStep(service: Service, { records }: Pick<Tasks, "records">): TaskStep {
  const pace = new Pace();
  return async (task, lease) => {
    const request = await records.request(task.value.id);
    const principal = request.principal === null ? undefined : await principalNow(service, request.principal);
    const caller = { principal, quota: undefined };
    const work: TaskWork = { service, records, task, lease, request, caller };
    const kind = kindsOfTasks[task.value.kind];
    if (kind.isForAdministrators && !administers(service, caller))
      throw new Problem("INSUFFICIENT_SCOPE", "The caller of the task no longer administers the service.");
    const { state, isPlanned, part, parts } = task.value;
    if (!isPlanned) return planMore(work, kind);
    if (part < parts) return workOn(work, pace);
    if (state === "checking") await move(work, checked(task.value, service.now()));
    else await move(work, { ...ended(task.value, "done", service.now()), active: "no" });
    return 1;
  };
}

/** The size of the next slice: as many changes as take about `sliceMs`, besides the time that every commit takes. */
class Pace {
  size = 25;
  /** The shortest commit of late, in milliseconds. */
  #least = Number.POSITIVE_INFINITY;

  note(busyMs: number, isFull: boolean): void {
    this.#least = Math.min(busyMs, this.#least * 1.05);
    if (busyMs > this.#least + sliceMs) this.size = Math.max(fewest, Math.floor(this.size * 0.7));
    else if (isFull) this.size = Math.min(most, Math.ceil(this.size * 1.2));
  }
}

async function planMore(work: TaskWork, { plan }: TaskKind): Promise<number> {
  const since = performance.now();
  if (plan === undefined) throw new Error(`The task ${work.task.value.id} has no plan.`);
  const { task, changes } = await plan(work);
  const { records, service, lease } = work;
  await records.commit([records.moved(work.task, { ...task, ...lease }), ...changes], service.now());
  return performance.now() - since;
}

/** Checks the next items of the plan, or changes them. */
async function workOn(work: TaskWork, pace: Pace): Promise<number> {
  const { task, service } = work;
  const source = await sourceOf(work);
  if (source === undefined) throw new Error(`The task ${task.value.id} has lost a part of its plan.`);
  const { size } = pace;
  const outcome = await doSlice(work, source, size).catch(async (error: unknown) => {
    pace.size = fewest; // others may change these resources all the time
    if (!isExpensive(error)) throw error;
    if (size === fewest) await move(work, ended(task.value, "failed", service.now(), tooSlow));
    return undefined;
  });
  if (outcome === undefined) return 1;
  const { taken, changed, created, refusals, busyMs } = outcome;
  pace.note(busyMs, taken >= size);
  if (task.value.state === "checking") {
    const item = task.value.item + taken;
    const isPartDone = item >= source.length;
    const counted = task.value.isDryRun
      ? { changed: task.value.changed + changed, created: task.value.created + created }
      : {};
    const place = { part: task.value.part + (isPartDone ? 1 : 0), item: isPartDone ? 0 : item };
    const next = withRefusals(
      { ...task.value, ...counted, ...place, checked: task.value.checked + taken },
      refusals,
    );
    const isOver = next.refused >= maxRefusals && next.skipInvalid !== true;
    await move(work, isOver ? checked(next, service.now()) : next);
  }
  return busyMs;
}

/** Names no attributes, because the caller may not see those that the rules use. */
const tooSlow =
  "The filter and the rules take longer than the service allows, even for a few resources. The rest did not change.";

/** Whether a list took too long. */
function isExpensive(error: unknown): boolean {
  return error instanceof Problem && error.code === "QUERY_TOO_EXPENSIVE";
}

/** The items that are next. Those of an undo are what the slices of the other task made, the last one first. */
async function sourceOf({ records, task: { value: task } }: TaskWork): Promise<Source | undefined> {
  const { borrowed = 0 } = task;
  if (task.undoes === undefined || task.part >= borrowed) {
    const part = await records.part(task.id, task.part);
    if (part === undefined) return undefined;
    const { collection, items } = part.value;
    return { collection, items: items.slice(task.item), length: items.length, version: part.version };
  }
  const slice = await records.slice(task.undoes, borrowed - 1 - task.part);
  if (slice === undefined) return undefined;
  const items = wayBackOf(slice.value);
  const { collection } = slice.value;
  return { collection, items: items.slice(task.item), length: items.length, version: undefined };
}

/** The task after its check: if everything fits, it goes on from the beginning of its plan. */
function checked(task: Task, at: number): Task {
  if (task.refused > 0 && task.skipInvalid !== true)
    return ended(task, "refused", at, "Some resources do not fit, so nothing changed.");
  if (task.isDryRun) return ended(task, "done", at);
  return { ...task, state: "running", part: 0, item: 0, refused: 0, firstRefused: [] };
}

async function move({ records, task, lease, service }: TaskWork, next: Partial<Task>): Promise<void> {
  await records.commit([records.moved(task as Versioned<Task>, { ...next, ...lease })], service.now());
}
