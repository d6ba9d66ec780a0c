/** The table of all kinds of tasks. */
import type { TaskKindName } from "../../../tasks/task.ts";
import { deleteTask, updateTask } from "./bulk-task.ts";
import { importTask } from "./import-task.ts";
import { restoreTask } from "./restore-task.ts";
import { rewindTask } from "./rewind-task.ts";
import type { TaskKind } from "./task-kind.ts";
import { undoTask } from "./undo-task.ts";

/** What each kind of tasks does. */
export const kindsOfTasks: Readonly<Record<TaskKindName, TaskKind>> = {
  update: updateTask,
  delete: deleteTask,
  import: importTask,
  restore: restoreTask,
  rewind: rewindTask,
  undo: undoTask,
};
