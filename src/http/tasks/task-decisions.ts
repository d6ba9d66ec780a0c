/** Decides what becomes of some resources in the plan of a task. Each is decided as its own request would be. */
import type { Collection } from "../../collection/collection.ts";
import { type Proposal, textOf, violationsOf } from "../../collection/proposal.ts";
import { pickMembers, resourceText } from "../../collection/resource.ts";
import { clientAttributes, withTimestamps } from "../../collection/timestamps.ts";
import type { Unique } from "../../collection/unique.ts";
import { withKept } from "../../collection/visibility.ts";
import { Problem } from "../../errors.ts";
import { subjectAt } from "../../json/pointer.ts";
import { allOf } from "../../query/filter.ts";
import { uniqueValue } from "../../query/unique-values.ts";
import type { Change, Requirement } from "../../store/port/commit.ts";
import type { Stored } from "../../store/port/stored.ts";
import type { TaskItem } from "../../tasks/task.ts";
import { createPauses } from "../admission/turns.ts";
import { decideOne, leastBytes, timeOf } from "../batch/bulk.ts";
import { decideRestore } from "../batch/restores.ts";
import { judged, requirementsFor } from "../caller/judged.ts";
import { storeFilter } from "../caller/permission.ts";
import { narrowed } from "../lists/lists.ts";
import { type Bulk, keyOf } from "../operations/operation.ts";
import type { HttpRequest } from "../protocol/message.ts";
import { timeOfChange } from "../writes/commit.ts";
import { requireCollection } from "../writes/create.ts";
import { requireNext } from "../writes/next-state.ts";
import { bulkOf, importedIn, keyOfImport, operationIn, type TaskWork } from "./task-work.ts";

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
  if (kind === "rewind" || kind === "undo" || kind === "restore")
    return decideWaysBack(work, collection, { items, request });
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

async function decideImports(work: TaskWork, name: string, items: readonly TaskItem[]): Promise<Decisions> {
  const { service } = work;
  const { store } = service;
  const at = service.now();
  const collection = importedIn(service, name);
  const key = keyOfImport(work, collection);
  // A check uses up no integers, and makes no collection.
  const isChecking = work.task.value.state === "checking";
  if (!isChecking) await requireCollection(service, collection);
  // Together, because each of them is a question to the store.
  const rows = key === undefined ? items.map(rowOf) : await mergedRows(work, collection, { key, items, at });
  const without = rows.filter((row) => !(row instanceof Problem) && row?.id === undefined).length;
  const areNumbers = collection.idKind === "integer";
  // These are the largest ones, which no resource has.
  let next = Number.MAX_SAFE_INTEGER - without;
  if (areNumbers && without > 0 && !isChecking) next = await store.reserveIds(name, without);
  const settled = rows.map((row) =>
    row === undefined || row instanceof Problem
      ? row
      : { ...row, id: row.id ?? (areNumbers ? String(next++) : service.newUuid()) },
  );
  const changes = await untilLong(settled, async (row): Promise<readonly [Decision, number]> => {
    if (row === undefined || row instanceof Problem) return [row, 0];
    const { id, holder, textWith } = row;
    const own = { collection: name, id };
    const next = textWith(id);
    const replaced = holder?.text.length ?? 0;
    if (holder !== undefined) return [{ key: own, expect: holder.version, next, replaced }, replaced];
    const [current, last] = await Promise.all([store.read(own), store.lastVersion(own)]);
    if (current !== undefined) return [existing(id), current.text.length];
    return [{ key: own, expect: "absent", next, last }, next.length];
  });
  const made = new Set<string>();
  const decisions = await decideEach(changes, async (change) => {
    if (change === undefined || change instanceof Problem || change.expect !== "absent") return change;
    const { id } = change.key;
    if (made.has(id)) return existing(id);
    made.add(id);
    return change;
  });
  return { at, decisions };
}

function existing(id: string): Problem {
  return new Problem("UNIQUE_VIOLATION", `The id ${JSON.stringify(id)} already exists.`);
}

/** What the first items of an import by a unique key write: each changes the resource that has its key. */
async function mergedRows(
  { service: { store, participants } }: TaskWork,
  collection: Collection,
  { key, items, at }: { key: Unique; items: readonly TaskItem[]; at: number },
): Promise<(Row | Problem | undefined)[]> {
  const { fixedIn, mergeItem, itemValue } = await import("../../import/merge.ts"); // few services import while they run
  return untilLong(
    items,
    async ({ id, text = "" }): Promise<readonly [Row | Problem | undefined, number]> => {
      const value = itemValue({ id, text });
      const holderId = await store.holder(collection.name, key, uniqueValue(value, key) as string);
      const holder =
        holderId === undefined ? undefined : await store.read({ collection: collection.name, id: holderId });
      const length = holder?.text.length ?? 0;
      const [fixed = []] = await fixedIn([holder], participants.get(collection.name)?.mirrored);
      const written = mergeItem({ collection, at }, { id, value, holder, fixed });
      if (written === undefined || "textWith" in written) return [written && { ...written, holder }, length];
      const [{ pointer, detail } = { pointer: "#", detail: "is not valid" }] = written;
      const message = `${subjectAt(pointer ?? "#", "The resource")} ${detail}.`;
      return [new Problem("VALIDATION_FAILED", message, { violations: written }), length];
    },
  );
}

/** What an item of an import writes. */
interface Row {
  /** `undefined` if it needs a new one. */
  id: string | undefined;
  /** The resource that it changes. */
  holder: Stored | undefined;
  textWith(id: string): string;
}

function rowOf({ id, text = "" }: TaskItem): Row {
  const textWith = (own: string) => (id === undefined ? `{"id":${own}${text}` : text);
  return { id, holder: undefined, textWith };
}

async function decideWaysBack(
  work: TaskWork,
  name: string,
  { items, request }: { items: readonly TaskItem[]; request: HttpRequest },
): Promise<Decisions> {
  const { service, task } = work;
  const operation = operationIn(work, name);
  const last = await untilLong(items, async (item) => {
    const found = await lastOf(work, name, item);
    return [found, found instanceof Problem ? 0 : found.text.length];
  });
  const at = last.reduce(
    (latest, each) =>
      each instanceof Problem ? latest : Math.max(latest, timeOfChange(service, operation.collection, each)),
    service.now(),
  );
  const decisions = await decideEach(items.slice(0, last.length), async (item, index) => {
    const before = last[index];
    if (before === undefined || before instanceof Problem) return before;
    if (task.value.kind !== "restore") return wayBack(work, operation, { item, before, at });
    const [change] = await decideRestore({ service, operation, request }, before, at);
    return change;
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
  { service, task: { value: task } }: TaskWork,
  operation: Bulk,
  {
    item: { id = "", version = 0, exists = false, to },
    before,
    at,
  }: { item: TaskItem; before: Stored; at: number },
): Promise<Decision> {
  const { collection, guard } = operation;
  const key = keyOf({ collection, id });
  // The access rules do not apply to a rewind.
  const requires: Requirement[] = [];
  const requireRight = async (action: "create" | "update" | "delete", stored: Stored) => {
    if (task.kind === "rewind") return;
    const state = await judged(service, guard, stored);
    guard.require(action, state);
    requires.push(...requirementsFor(service, guard, { allowed: guard.allowed(action), state, at }));
  };
  if (to === null || to === undefined) {
    await requireRight("delete", before);
    return { key, expect: version, next: undefined, replaced: before.text.length, requires };
  }
  const then = await service.store.version(key, to);
  if (then === undefined) return notKept();
  if (exists) await requireRight("update", before);
  const restored = clientAttributes(collection, JSON.parse(then.text) as Record<string, unknown>);
  // As in a restore, attributes that the caller cannot see keep their present values.
  const hidden = task.kind === "undo" ? collection.visibility?.hidden : undefined;
  const attributes =
    hidden === undefined
      ? restored
      : withKept(
          pickMembers(restored, (name) => !hidden.has(name)),
          clientAttributes(collection, JSON.parse(before.text) as Record<string, unknown>),
          (name) => hidden.has(name),
        );
  const proposal: Proposal = {
    collection,
    attributes,
    textWith: (all) => {
      if (collection.timestamps) return resourceText(collection.idKind, id, withTimestamps(all, at, before));
      return all === restored ? then.text : resourceText(collection.idKind, id, all);
    },
  };
  const violations = violationsOf(proposal);
  if (violations.length > 0)
    return new Problem("VALIDATION_FAILED", "It does not fit the current schema.", { violations });
  const next = textOf(proposal, id);
  // The access rules do not apply to a rewind.
  const allowed =
    task.kind === "rewind"
      ? { text: next, requires: [] }
      : await requireNext(service, operation, { key, current: exists ? before : undefined, next, at });
  requires.push(...allowed.requires);
  return exists
    ? { key, expect: version, next: allowed.text, replaced: before.text.length, requires }
    : { key, expect: "absent", next: allowed.text, after: version, requires };
}

/**
 * What is found about the first items, until it has enough text for a slice. Several are found together, because each is a question
 * to the store. `find` also returns the length of the text that it has read.
 */
async function untilLong<Item, Found>(
  items: readonly Item[],
  find: (item: Item) => Promise<readonly [Found, number]>,
): Promise<Found[]> {
  const all: Found[] = [];
  let length = 0;
  // The first groups are small, because each resource can be as long as many slices.
  for (let size = 1; all.length < items.length && length <= maxSliceText; size = Math.min(2 * size, 32)) {
    const found = await Promise.all(items.slice(all.length, all.length + size).map(find));
    for (const [each, own] of found) {
      all.push(each);
      length += own;
    }
  }
  return all;
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
