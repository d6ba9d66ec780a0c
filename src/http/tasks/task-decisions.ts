/** Decides what becomes of some resources in the plan of a task. Each is decided as its own request would be. */
import { resourceText } from "../../collection/resource.ts";
import { clientAttributes, withTimestamps } from "../../collection/timestamps.ts";
import { Problem } from "../../errors.ts";
import { allOf } from "../../query/filter.ts";
import type { Change } from "../../store/port/commit.ts";
import type { Stored } from "../../store/port/stored.ts";
import type { TaskItem } from "../../tasks/task.ts";
import { createPauses } from "../admission/turns.ts";
import { decideOne, leastBytes, timeOf } from "../batch/bulk.ts";
import { storeFilter } from "../caller/permission.ts";
import { narrowed } from "../lists/lists.ts";
import { type Bulk, keyOf } from "../operations/operation.ts";
import type { HttpRequest } from "../protocol/message.ts";
import { timeOfChange } from "../writes/commit.ts";
import { bulkOf, operationIn, type TaskWork } from "./task-work.ts";

/** What becomes of one resource: a change, the reason why it is refused, or nothing if it stays the same. */
export type Decision = Change | Problem | undefined;

/** The decisions about the first of the items. */
export interface Decisions {
  decisions: readonly Decision[];
  at: number;
}

/** The most text of one slice, in characters. One resource can be longer. */
const maxSliceText = 262_144;

/** Decides about the first items, until they have enough text for a slice. */
export function decideItems(
  work: TaskWork,
  collection: string,
  items: readonly TaskItem[],
  request: HttpRequest,
): Promise<Decisions> {
  const { kind } = work.task.value;
  if (kind === "import") return decideImports(work, collection, items);
  if (kind === "rewind" || kind === "undo") return decideWaysBack(work, collection, items);
  return decideBulk(work, items, request);
}

async function decideBulk(
  work: TaskWork,
  items: readonly TaskItem[],
  request: HttpRequest,
): Promise<Decisions> {
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

async function decideImports(
  { service }: TaskWork,
  collection: string,
  items: readonly TaskItem[],
): Promise<Decisions> {
  const { store } = service;
  const without = items.filter(({ id }) => id === undefined).length;
  let next = without === 0 ? 0 : await store.reserveIds(collection, without);
  const rows = items.map(({ id, text = "" }) => {
    if (id !== undefined) return { id, text };
    const own = String(next++);
    return { id: own, text: `{"id":${own}${text}` };
  });
  // Together, because each of them is a question to the store.
  const known = await Promise.all(
    rows.map(({ id }) =>
      Promise.all([store.read({ collection, id }), store.lastVersion({ collection, id })]),
    ),
  );
  return {
    at: service.now(),
    decisions: await decideEach(rows, async ({ id, text }, index): Promise<Decision> => {
      const [current, last] = known[index] ?? [undefined, 0];
      if (current !== undefined || rows.findIndex((row) => row.id === id) < index)
        return new Problem("UNIQUE_VIOLATION", `The id ${JSON.stringify(id)} already exists.`);
      return { key: { collection, id }, expect: "absent", next: text, last };
    }),
  };
}

async function decideWaysBack(work: TaskWork, name: string, items: readonly TaskItem[]): Promise<Decisions> {
  const { service } = work;
  const operation = operationIn(work, name);
  const last = await Promise.all(items.map((item) => lastOf(work, name, item)));
  const at = last.reduce(
    (latest, each) =>
      each instanceof Problem ? latest : Math.max(latest, timeOfChange(service, operation.collection, each)),
    service.now(),
  );
  const decisions = await decideEach(items, (item, index) => {
    const before = last[index];
    return Promise.resolve(
      before === undefined || before instanceof Problem
        ? before
        : wayBack(work, operation, { item, before, at }),
    );
  });
  return { decisions, at };
}

/** The last state of a resource, if its last change is the one of the plan. */
async function lastOf(
  { service: { store } }: TaskWork,
  collection: string,
  item: TaskItem,
): Promise<Stored | Problem> {
  const { id = "", version = 0, exists } = item;
  const key = { collection, id };
  const current = await store.read(key);
  const isSame = exists
    ? current?.version === version
    : current === undefined && (await store.lastVersion(key)) === version;
  if (!isSame) return changedMeanwhile("It has changed in the meantime.");
  return current ?? (await store.version(key, version - 1)) ?? notKept();
}

/** The change that goes back to the version of the plan, or `undefined` if nothing differs. */
async function wayBack(
  { service }: TaskWork,
  operation: Bulk,
  {
    item: { id = "", version = 0, exists = false, to },
    before,
    at,
  }: { item: TaskItem; before: Stored; at: number },
): Promise<Decision> {
  const { collection, guard } = operation;
  const key = keyOf({ collection, id });
  if (to === null || to === undefined) {
    guard.require("delete", before.text);
    return { key, expect: version, next: undefined, replaced: before.text.length };
  }
  const then = await service.store.version(key, to);
  if (then === undefined) return notKept();
  guard.require(exists ? "update" : "create", then.text);
  if (exists) guard.require("update", before.text);
  const attributes = clientAttributes(collection, JSON.parse(then.text) as Record<string, unknown>);
  const violations = collection.validate(attributes);
  if (violations.length > 0)
    return new Problem("VALIDATION_FAILED", "It does not fit the current schema.", { violations });
  const next = collection.timestamps
    ? resourceText(collection.idKind, id, withTimestamps(attributes, at, before))
    : then.text;
  return exists
    ? { key, expect: version, next, replaced: before.text.length }
    : { key, expect: "absent", next, after: version };
}

/** Decides about the first items, one after the other. An error of the client is the decision about its item. */
async function decideEach<Item>(
  items: readonly Item[],
  decide: (item: Item, index: number) => Promise<Decision>,
): Promise<Decision[]> {
  const decisions: Decision[] = [];
  const pause = createPauses();
  let length = 0;
  for (const [index, item] of items.entries()) {
    const decision = await decide(item, index).catch((error: unknown) => {
      if (error instanceof Problem && error.status < 500) return error;
      throw error;
    });
    decisions.push(decision);
    if (decision === undefined || decision instanceof Problem) continue;
    length += (decision.next?.length ?? 0) + (decision.replaced ?? 0);
    if (length > maxSliceText) break;
    await pause(leastBytes + (decision.next?.length ?? 0));
  }
  return decisions;
}

function changedMeanwhile(message: string): Problem {
  return new Problem("PRECONDITION_FAILED", message);
}

function notKept(): Problem {
  return new Problem("PRECONDITION_FAILED", "The history no longer has the version to go back to.");
}
