/** Rewinds of collections as tasks. */
import { put } from "../../../records.ts";
import { beforeHistory } from "../../../rewind/attempt.ts";
import { HistoryMissing } from "../../../store/port/change-log.ts";
import { ended, partsName, type TaskItem } from "../../../tasks/task.ts";
import type { Writes } from "../../operations/operation.ts";
import type { Result } from "../../operations/result.ts";
import type { Write } from "../../writes/commit.ts";
import { readRewind } from "../rewind.ts";
import { begin } from "./task-begin.ts";
import type { Planned, TaskKind } from "./task-kind.ts";
import { partsOf } from "./task-plan.ts";
import type { TaskWork } from "./task-work.ts";
import { decideWaysBack, wayBack } from "./ways-back.ts";

/** Begins a rewind. Throws the problems of the content, and UNAVAILABLE if too many tasks wait. */
export async function beginRewind(write: Write<Writes>): Promise<Result> {
  const { to, max, collections, isDryRun } = await readRewind(write);
  const names = collections.map(({ name }) => name);
  const content: TaskRewind = { to, max, collections: names };
  const [only] = names.length === 1 ? names : [];
  const asking = { kind: "rewind", collection: only, isDryRun } as const;
  return begin(write, asking, JSON.stringify(content));
}

export const rewindTask: TaskKind = {
  plan: planRewind,
  decide: (work, part) =>
    decideWaysBack(work, part, (operation, last) => wayBack(work, operation, last, { isRuled: false })),
  isForAdministrators: true,
  revives: true,
  mendable: ["REFERENCE_NOT_FOUND", "REFERENCED", "UNIQUE_VIOLATION"],
  isMendedByOthers: true,
};

/** What a rewind as a task was asked to do. */
interface TaskRewind {
  to: number;
  collections: readonly string[];
  max: number;
}

/** Finds what changed since the time. */
async function planRewind({ service, records, request, task: { value: task } }: TaskWork): Promise<Planned> {
  const { to, collections, max } = JSON.parse(request.content ?? "{}") as TaskRewind;
  const refused = (reason: string, total = 0) => ({
    task: ended({ ...task, total }, "refused", service.now(), reason),
    changes: [],
  });
  await service.expired.sweep(collections); // what has expired would change in the meantime
  const since = await service.store.changesSince(collections, to).catch((error: unknown) => {
    if (error instanceof HistoryMissing) return error;
    throw error;
  });
  if (since instanceof HistoryMissing) return refused(`The time ${beforeHistory(since)}. Send a later time.`);
  const parts = since.flatMap(({ collection, changed }) => {
    const items = changed
      .filter(({ existed, exists }) => existed || exists)
      .map(({ id, version, existed, lastVersion, exists }): TaskItem => {
        return { id, version: lastVersion, exists, to: existed ? version - 1 : null };
      });
    return partsOf(collection, items);
  });
  const total = parts.reduce((sum, { items }) => sum + items.length, 0);
  if (total > max)
    return refused(
      `${total} resources would change, but "max" is ${max}, so nothing was rewound. Send "max":${total}, or a later time.`,
      total,
    );
  for (const [number, part] of parts.entries()) {
    // If an earlier attempt was interrupted, its parts are there already.
    const before = await records.part(task.id, number);
    const change =
      before === undefined
        ? records.planned(task.id, number, part)
        : put(partsName, `${task.id}.${number}`, before.version, part);
    await records.commit([change], service.now());
  }
  return { task: { ...task, total, parts: parts.length, isPlanned: true }, changes: [] };
}
