/** Waits for a task of a running service, and shows its progress. */
import type { Task } from "holdfast-client";
import { StartError } from "../errors.ts";
import { startProgress } from "./progress-display.ts";
import { callService, type RunningService } from "./running-service.ts";
import { Interrupted } from "./shell.ts";

/** How often the command looks, in milliseconds. */
const everyMs = 200;

/** The address of a task. */
export function taskUrl({ base }: RunningService, { id }: Pick<Task, "id">): string {
  return `${base.href.replace(/\/$/, "")}/_tasks/${id}`;
}

/**
 * Waits until the task has ended. `what` it does is for the progress. Throws StartError if the service cannot be reached, and
 * Interrupted. The task goes on then.
 */
export async function followTask(
  running: RunningService,
  begun: Task,
  { what, signal }: { what: string; signal: AbortSignal },
): Promise<Task> {
  const url = taskUrl(running, begun);
  const advice = `To look at the task: GET ${url}. To cancel it: DELETE ${url}`;
  const checks = begun.state === "checking" && !begun.dryRun;
  const total = (checks ? 2 : 1) * begun.total; // each resource has its turn twice
  const progress = await startProgress({ what, total: total > 0 ? total : undefined });
  const onProgress = ({ state, checked, done }: Task) =>
    progress.update(checked + done, state === "checking" ? checked : done);
  try {
    return await callService(
      running,
      ({ $tasks }) => $tasks.finished(begun, { onProgress, everyMs, signal }),
      "the task",
    );
  } catch (error) {
    if (signal.aborted) throw new Interrupted(`interrupted; the service goes on with the task. ${advice}`);
    throw error instanceof StartError ? new StartError(`${error.message} ${advice}`) : error;
  } finally {
    progress.stop();
  }
}

/** Why a task that began its work did not change everything. Completes a sentence. */
export function whyNotAll({ state, reason }: Task): string {
  if (state === "done") return "something has changed since its check";
  const cause = reason === undefined ? "" : `: ${reason.replace(/\.$/, "")}`;
  return `it ${state === "cancelled" ? "was cancelled" : "failed"}${cause}`;
}
