/** Waits for the task that a running service has made of an import, and shows its progress. */
import type { ImportReport, Task } from "holdfast-client";
import { StartError } from "../../errors.ts";
import type { ImportResult } from "../../import/item-reader.ts";
import { startProgress } from "../progress-display.ts";
import { callService } from "../running-service.ts";
import { Interrupted } from "../shell.ts";
import { counted } from "../wording.ts";
import { type Remote, resultOf } from "./remote.ts";

/** A task that has begun. */
export type BegunImport = Task & { readonly report: ImportReport };

/** What a task did. */
export interface TaskOutcome {
  result: ImportResult;
  /** Why the task did not import all resources that it was to import. */
  fault: StartError | undefined;
}

/** How often the command looks, in milliseconds. */
const everyMs = 200;

/** Waits until the task has ended. Throws StartError if the service cannot be reached, and Interrupted. The task goes on then. */
export async function finishImport(
  remote: Remote,
  begun: BegunImport,
  { collection, signal }: { collection: string; signal: AbortSignal },
): Promise<TaskOutcome> {
  const url = `${remote.base.href.replace(/\/$/, "")}/_tasks/${begun.id}`;
  const advice = `To look at the task: GET ${url}. To cancel it: DELETE ${url}`;
  const progress = await startProgress({ what: `importing ${collection}`, total: begun.total });
  const onProgress = ({ done }: Task) => progress.update(done, done);
  try {
    const task = await callService(
      remote,
      ({ $tasks }) => $tasks.finished(begun, { onProgress, everyMs, signal }),
      "the task",
    );
    return {
      result: resultOfTask(task, begun.report, { collection, remote }),
      fault: faultOf(task, remote, url),
    };
  } catch (error) {
    if (signal.aborted) throw new Interrupted(`interrupted; the service goes on with the task. ${advice}`);
    throw error instanceof StartError ? new StartError(`${error.message} ${advice}`) : error;
  } finally {
    progress.stop();
  }
}

function resultOfTask(
  { state, changed, refused, firstRefused }: Task,
  report: ImportReport,
  { collection, remote }: { collection: string; remote: Remote },
): ImportResult {
  // The task repeats the errors of the report, in fewer words.
  const errors = [
    ...report.errors,
    ...firstRefused.slice(report.errors.length).map(({ line = 0, ...error }) => ({ ...error, line })),
  ].toSorted((a, b) => a.line - b.line || (a.element ?? 0) - (b.element ?? 0));
  const isNone = state === "refused";
  return {
    ...resultOf({ ...report, errors, invalid: refused }, collection, remote),
    isAccepted: !isNone,
    imported: isNone ? report.resources - refused : changed,
  };
}

function faultOf({ state, reason, changed, total, refused }: Task, { skipInvalid }: Remote, url: string) {
  const isAll = state === "done" && (refused === 0 || skipInvalid);
  if (isAll || state === "refused") return undefined;
  const why =
    state === "done"
      ? "something has changed since its check"
      : `it ${state === "cancelled" ? "was cancelled" : "failed"}${reason === undefined ? "" : `: ${reason}`}`;
  return new StartError(
    `the task has imported ${changed.toLocaleString("en")} of ${counted(total, "resource")}, because ${why.replace(/\.$/, "")}. To take it back: POST ${url}/_undo`,
  );
}
