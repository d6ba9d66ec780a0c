/** The plans of tasks: which resources a task is about, in parts. */
import type { DeletedQuery, ListQuery } from "../../../store/port/page.ts";
import { ended, type TaskItem, type TaskPart } from "../../../tasks/task.ts";
import { storeFilter } from "../../caller/permission.ts";
import { narrowed } from "../../lists/lists.ts";
import type { Bulk } from "../../operations/operation.ts";
import { unlessExpensive } from "../bulk.ts";
import type { restoresIn } from "../restores.ts";
import type { Planned } from "./task-kind.ts";
import type { TaskWork } from "./task-work.ts";

/** The most resources in one part. */
export const partSize = 500;

/** The resources that a task selects: of its collection, or deleted ones. */
export interface Selecting {
  operation: Bulk;
  asked: ReturnType<typeof restoresIn>;
  deleted: DeletedQuery | undefined;
}

/** Names no attributes, because the caller may not see those that the rules use. */
const tooExpensive =
  "The selection takes longer than the service allows, so nothing changed. Send a filter that an index serves.";

/** Selects the next resources, in the order of their ids. */
export async function planSelected(
  work: TaskWork,
  { operation, asked, deleted }: Selecting,
): Promise<Planned> {
  const { service, records, caller } = work;
  const task = work.task.value;
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

/** Divides resources of one collection into parts. */
export function partsOf(collection: string, items: readonly TaskItem[]): TaskPart[] {
  const count = Math.ceil(items.length / partSize);
  return Array.from({ length: count }, (_, index) => ({
    collection,
    items: items.slice(index * partSize, (index + 1) * partSize),
  }));
}
