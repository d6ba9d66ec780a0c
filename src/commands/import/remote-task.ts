/** The result of an import of which a running service has made a task. */
import { type BegunImport, importReportOf, type Task } from "holdfast-client";
import { StartError } from "../../errors.ts";
import type { ImportResult } from "../../import/item-reader.ts";
import { followTask, taskUrl, whyNotAll } from "../running-task.ts";
import { counted } from "../wording.ts";
import { type Remote, resultOf } from "./remote.ts";

/** What a task did. */
export interface TaskOutcome {
  result: ImportResult;
  /** Why the task did not import all resources that it was to import. */
  fault: StartError | undefined;
}

/** Waits until the task has ended. Throws as `followTask` does. */
export async function finishImport(
  remote: Remote,
  begun: BegunImport,
  { collection, signal }: { collection: string; signal: AbortSignal },
): Promise<TaskOutcome> {
  const task = await followTask(remote, begun, { what: `importing ${collection}`, signal });
  const report = importReportOf(begun, task);
  const isAccepted = task.state !== "refused";
  const imported = isAccepted ? report.imported : report.resources - report.invalid;
  const merged = isAccepted ? {} : { merged: undefined };
  return {
    result: { ...resultOf(report, collection, remote), isAccepted, imported, ...merged },
    fault: faultOf(task, remote),
  };
}

function faultOf(task: Task, remote: Remote): StartError | undefined {
  const { state, changed, total, refused } = task;
  const isAll = state === "done" && (refused === 0 || remote.given.skipInvalid !== undefined);
  if (isAll || state === "refused") return undefined;
  return new StartError(
    `the task has imported ${changed.toLocaleString("en")} of ${counted(total, "resource")}, because ${whyNotAll(task)}. To take it back: POST ${taskUrl(remote, task)}/_undo`,
  );
}
