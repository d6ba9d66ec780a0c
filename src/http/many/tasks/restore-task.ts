/** Restores of many deleted resources as tasks. */
import { maxTaskResources } from "../../../tasks/task.ts";
import type { Bulk } from "../../operations/operation.ts";
import type { Result } from "../../operations/result.ts";
import { readContent } from "../../protocol/content.ts";
import type { Write } from "../../writes/commit.ts";
import { decideRestore, deletedFor, requireRestores, restoresIn } from "../restores.ts";
import { begin } from "./task-begin.ts";
import type { TaskKind } from "./task-kind.ts";
import { planSelected, type Selecting } from "./task-plan.ts";
import { operationIn, type TaskWork } from "./task-work.ts";
import { decideWaysBack } from "./ways-back.ts";

/** Begins a restore of many deleted resources. Throws the problems of the content, and UNAVAILABLE if too many tasks wait. */
export async function beginRestores(write: Write<Bulk>): Promise<Result> {
  const { service, operation, request } = write;
  requireRestores(write);
  const bytes = await readContent(request, service.settings.limits);
  const { isDryRun } = restoresIn(service, operation, bytes, maxTaskResources);
  const collection = operation.collection.name;
  return begin(write, { kind: "restore", collection, isDryRun }, bytes.toString());
}

export const restoreTask: TaskKind = {
  plan: (work) => planSelected(work, restoresOf(work)),
  decide: (work, part, request) =>
    decideWaysBack(work, part, async (operation, { before, at }) => {
      const [change] = await decideRestore({ service: work.service, operation, request }, before, at);
      return change;
    }),
  mendable: ["REFERENCE_NOT_FOUND"],
};

/** What a task that restores was asked to do. */
function restoresOf(work: TaskWork): Selecting {
  const { service, task, request } = work;
  const operation = operationIn(work, task.value.collection ?? "");
  const bytes = Buffer.from(request.content ?? "");
  const asked = restoresIn(service, operation, bytes, maxTaskResources);
  return { operation, asked, deleted: deletedFor(service, operation) };
}
