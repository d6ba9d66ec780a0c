/** Makes the plan of a task, part by part: which resources it is about. The plan of an import is complete from the beginning. */
import { put } from "../../records.ts";
import { beforeHistory } from "../../rewind/attempt.ts";
import { HistoryMissing } from "../../store/port/change-log.ts";
import type { Change } from "../../store/port/commit.ts";
import type { ListQuery } from "../../store/port/page.ts";
import { ended, partsName, type Task, type TaskItem, type TaskPart } from "../../tasks/task.ts";
import { unlessExpensive } from "../batch/bulk.ts";
import { storeFilter } from "../caller/permission.ts";
import { narrowed } from "../lists/lists.ts";
import { bulkOf, restoresOf, type TaskWork } from "./task-work.ts";

/** The most resources in one part. */
export const partSize = 500;

/** A task after a step of its plan, and the other changes of the same commit. */
interface Planned {
  task: Task;
  changes: readonly Change[];
}

/** What a rewind as a task was asked to do. */
export interface TaskRewind {
  to: number;
  collections: readonly string[];
  max: number;
}

/** Names no attributes, because the caller may not see those that the rules use. */
const tooExpensive =
  "The selection takes longer than the service allows, so nothing changed. Send a filter that an index serves.";

/** Adds to the plan. */
export function planNext(work: TaskWork): Promise<Planned> {
  return work.task.value.kind === "rewind" ? planRewind(work) : planBulk(work);
}

/** Selects the next resources, in the order of their ids. */
async function planBulk(work: TaskWork): Promise<Planned> {
  const { service, records, caller } = work;
  const task = work.task.value;
  const { operation, asked, deleted } = task.kind === "restore" ? restoresOf(work) : bulkOf(work);
  const { collection, guard } = operation;
  const filter = asked.filter && storeFilter(service, caller, asked.filter);
  const { after } = task;
  const all: ListQuery = {
    collection: collection.name,
    limit: partSize,
    ...(filter && { filter }),
    ...(deleted && { deleted }),
    ...(after !== undefined && { after: [collection.idKind === "integer" ? Number(after) : after] }),
  };
  const page = await service.store.list(narrowed(all, guard.listed)).catch(unlessExpensive);
  // Another attempt would take as long, and keep other tasks waiting.
  if (page === undefined) return { task: ended(task, "refused", service.now(), tooExpensive), changes: [] };
  const { items, more } = page;
  const total = task.total + items.length;
  if (total > asked.max) {
    const reason = `More than ${asked.max} resources match, but "max" is ${asked.max}, so nothing changed. Send a larger "max", or a filter that matches fewer.`;
    return { task: ended(task, "refused", service.now(), reason), changes: [] };
  }
  const planned = { ...task, total, isPlanned: !more, after: items.at(-1)?.id };
  if (items.length === 0) return { task: planned, changes: [] };
  const part = {
    collection: collection.name,
    items: items.map(({ id, version }) => (deleted ? { id, version: version + 1, exists: false } : { id })),
  };
  return {
    task: { ...planned, parts: task.parts + 1 },
    changes: [records.planned(task.id, task.parts, part)],
  };
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

/** Divides resources of one collection into parts. */
function partsOf(collection: string, items: readonly TaskItem[]): TaskPart[] {
  const count = Math.ceil(items.length / partSize);
  return Array.from({ length: count }, (_, index) => ({
    collection,
    items: items.slice(index * partSize, (index + 1) * partSize),
  }));
}
