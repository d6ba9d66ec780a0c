/** Undoes of tasks. The plan is what the slices of the other task have changed. */
import { Problem } from "../../../errors.ts";
import type { Versioned } from "../../../records.ts";
import { isAtWork, type Task } from "../../../tasks/task.ts";
import type { Tasks } from "../../../tasks/task-loop.ts";
import type { Writes } from "../../operations/operation.ts";
import type { Result } from "../../operations/result.ts";
import type { Service } from "../../service.ts";
import type { Write } from "../../writes/commit.ts";
import { begin } from "./task-begin.ts";
import type { TaskKind } from "./task-kind.ts";
import { decideWaysBack, wayBack } from "./ways-back.ts";

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

function requireUndoable({ feed }: Pick<Service, "feed">, task: Task): void {
  const refuse = (reason: string): never => {
    throw new Problem("TASK_UNAVAILABLE", reason);
  };
  if (isAtWork(task)) refuse("The task still works. Cancel it with DELETE first.");
  if (task.undoneBy !== undefined) refuse(`The task ${task.undoneBy} undoes this one already.`);
  if (task.slices === 0) refuse("The task has changed nothing.");
  if (feed === undefined) refuse("The service keeps no history, so it has no earlier versions.");
}

export const undoTask: TaskKind = {
  decide: (work, part) =>
    decideWaysBack(work, part, (operation, last) => wayBack(work, operation, last, { isRuled: true })),
  revives: true,
  mendable: ["REFERENCE_NOT_FOUND", "REFERENCED", "UNIQUE_VIOLATION"],
  isMendedByOthers: true,
};
