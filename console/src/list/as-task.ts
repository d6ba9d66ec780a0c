/** Changes that are too large for one commit, as tasks. */
import { notifications } from "@mantine/notifications";
import { ProblemError, type Task } from "holdfast-client";
import { go } from "../route.ts";
import { tasksKey } from "../service/administrator.ts";
import { queries, useAction } from "../service/queries.ts";
import { listTexts } from "../texts.ts";

/** Whether a change is too large for one commit. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof ProblemError && (error.status === 413 || error.code === "TOO_MANY_MATCHES");
}

/** The action that begins a task, and then shows the page of the tasks. */
export function useTask(begin: () => Promise<Task>, onBegun: () => void) {
  return useAction({
    mutationFn: begin,
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: tasksKey });
      notifications.show({ message: listTexts.isTask, color: "holdfast" });
      onBegun();
      go({ kind: "page", name: "tasks" });
    },
  });
}
