/** Updates and deletes of many resources as tasks. */
import { allOf } from "../../../query/filter.ts";
import { maxTaskResources, type TaskItem } from "../../../tasks/task.ts";
import { storeFilter } from "../../caller/permission.ts";
import { narrowed } from "../../lists/lists.ts";
import { type Bulk, keyOf } from "../../operations/operation.ts";
import type { Result } from "../../operations/result.ts";
import { readContent } from "../../protocol/content.ts";
import type { HttpRequest } from "../../protocol/message.ts";
import type { Write } from "../../writes/commit.ts";
import { askedIn, decideOne, requireBulk, timeOf } from "../bulk.ts";
import { begin } from "./task-begin.ts";
import {
  changedMeanwhile,
  type Decision,
  type Decisions,
  decideEach,
  type ItemsOfPart,
  type TaskKind,
} from "./task-kind.ts";
import { planSelected, type Selecting } from "./task-plan.ts";
import { operationIn, type TaskWork } from "./task-work.ts";

/** Begins a bulk change. Throws the problems of the content, and UNAVAILABLE if too many tasks wait. */
export async function beginBulk(write: Write<Bulk>): Promise<Result> {
  const { service, operation, request } = write;
  requireBulk(write);
  const bytes = await readContent(request, service.settings.limits);
  const asked = askedIn(service, operation, bytes, maxTaskResources);
  return begin(
    write,
    {
      kind: asked.patch === undefined ? "delete" : "update",
      collection: operation.collection.name,
      isDryRun: asked.isDryRun,
    },
    bytes.toString(),
  );
}

const bulk = { plan: (work: TaskWork) => planSelected(work, bulkOf(work)), decide: decideBulk };

export const updateTask: TaskKind = { ...bulk, mendable: [], findsAll: true };

export const deleteTask: TaskKind = { ...bulk, mendable: ["REFERENCED"] };

/** What a task that updates or deletes was asked to do. Throws if its caller cannot do it any more. */
function bulkOf(work: TaskWork): Selecting & { asked: ReturnType<typeof askedIn> } {
  const { service, task, request } = work;
  const operation = operationIn(work, task.value.collection ?? "");
  const bytes = Buffer.from(request.content ?? "");
  return { operation, asked: askedIn(service, operation, bytes, maxTaskResources), deleted: undefined };
}

async function decideBulk(work: TaskWork, { items }: ItemsOfPart, request: HttpRequest): Promise<Decisions> {
  const { service, caller } = work;
  const { operation, asked } = bulkOf(work);
  const { collection, guard } = operation;
  const filter = asked.filter && storeFilter(service, caller, asked.filter);
  const isOne = {
    kind: "in",
    path: ["id"],
    values: items.map(({ id = "" }) => idValue(operation, id)),
  } as const;
  const page = await service.store.list(
    narrowed(
      {
        collection: collection.name,
        limit: items.length,
        filter: filter === undefined ? isOne : allOf([isOne, filter]),
      },
      guard.listed,
    ),
  );
  const found = new Map(page.items.map((each) => [each.id, each]));
  // A page can end early. The items have the order of the page.
  const last = page.more ? items.findIndex(({ id }) => id === page.items.at(-1)?.id) + 1 : items.length;
  const at = timeOf(service, operation, page.items);
  return { decisions: await decideEach(items.slice(0, last), (item) => decide(item)), at };

  async function decide({ id = "" }: TaskItem): Promise<Decision> {
    const current = found.get(id);
    // Another delete of this task can have deleted it too.
    const key = keyOf({ collection, id });
    if (current === undefined && asked.patch === undefined && (await service.store.read(key)) === undefined)
      return undefined;
    if (current === undefined)
      return changedMeanwhile("It does not match any more, or does not exist any more.");
    const [change] = await decideOne({ service, operation, request }, current, { ...asked, at });
    return change;
  }
}

function idValue({ collection: { idKind } }: Bulk, id: string): string | number {
  return idKind === "integer" ? Number(id) : id;
}
