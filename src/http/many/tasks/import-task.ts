/** Imports as tasks. The plan has the items themselves. */
import { type Collection, openCollection } from "../../../collection/collection.ts";
import { formatPath } from "../../../collection/paths.ts";
import { pathsOf, type Unique } from "../../../collection/unique.ts";
import { Problem } from "../../../errors.ts";
import type { Spool } from "../../../import/spool.ts";
import { subjectAt, toFragment } from "../../../json/pointer.ts";
import { keyNamed } from "../../../query/unique-keys.ts";
import { uniqueValue } from "../../../query/unique-values.ts";
import { isOvertaken, type Versioned } from "../../../records.ts";
import type { Change } from "../../../store/port/commit.ts";
import type { Stored } from "../../../store/port/stored.ts";
import type { Task, TaskItem, TaskRefusal } from "../../../tasks/task.ts";
import type { Tasks } from "../../../tasks/task-loop.ts";
import type { Caller } from "../../caller/admit.ts";
import type { Import } from "../../operations/operation.ts";
import type { Result } from "../../operations/result.ts";
import type { HttpRequest } from "../../protocol/message.ts";
import { type Administration, type Clock, type Data, findCollection, type Service } from "../../service.ts";
import { requireCollection, requireFewCollections } from "../../writes/create.ts";
import { hooksForMany } from "../../writes/hooks.ts";
import { accepted, taskOf } from "./task-begin.ts";
import {
  type Decision,
  type Decisions,
  decideEach,
  type ItemsOfPart,
  type TaskKind,
  untilLong,
} from "./task-kind.ts";
import { partSize } from "./task-plan.ts";
import type { TaskWork } from "./task-work.ts";

/** Begins an import. Throws the problems of its content, UNAVAILABLE, and the problems of the store. */
export async function beginImport(
  service: Service,
  operation: Import,
  request: HttpRequest,
): Promise<Result> {
  const { readImport } = await import("../imports.ts");
  return readImport(service, operation, request, async ({ spool, report }) => {
    const { collection, asked, caller } = operation;
    requireFewCollections(service, collection);
    const asking = {
      collection: collection.name,
      refused: report.invalid,
      firstRefused: report.errors.map(({ line, element, code, detail, pointer }): TaskRefusal => {
        const text = pointer === undefined ? detail : `${pointer} ${detail}`;
        return { line, ...(element !== undefined && { element }), code, detail: text };
      }),
      isDryRun: asked.dryRun,
      skipInvalid: asked.skipInvalid,
    };
    const content: TaskImport | undefined = asked.on && {
      on: pathsOf(asked.on).map(formatPath),
      ...(asked.skipHooks === true && { skipHooks: true }),
    };
    const task = await storeImport(service, caller, { asking, content }, spool);
    return accepted({ service, request }, task, { report });
  });
}

async function storeImport(
  service: Data & Clock & Administration,
  caller: Caller,
  { asking, content }: { asking: Partial<Task> & { collection: string }; content: TaskImport | undefined },
  spool: Spool,
): Promise<Task> {
  const { collection } = asking;
  const tasks = service.tasks as Tasks;
  const { records } = tasks;
  const { task, request } = await taskOf(
    service,
    caller,
    { kind: "import", active: "no", ...asking },
    content && JSON.stringify(content),
  );
  // The engine leaves it alone until its plan is complete.
  await records.untilCommitted(
    async () => ({ changes: await records.begun(task, request), result: undefined }),
    service.now,
  );
  let stored: Versioned<Task> = { value: task, version: 1 };
  /** Each commit counts the parts, so that they are removed if the import is cancelled or interrupted. */
  const moveTo = async (next: Partial<Task>, also: readonly Change[] = []) => {
    await records.commit([records.moved(stored, next), ...also], service.now());
    stored = { value: { ...stored.value, ...next }, version: stored.version + 1 };
  };
  try {
    // Integers that the service generates come last, because they must be above every id of the input.
    for (const haveId of [true, false])
      for (const rows of spool.batches({ haveId }))
        for (let from = 0; from < rows.length; from += partSize) {
          const items = rows.slice(from, from + partSize).map(({ id, text, location }): TaskItem => {
            return { ...(id !== undefined && { id }), text, ...location };
          });
          const { parts, total } = stored.value;
          const part = records.planned(task.id, parts, { collection, items });
          await moveTo({ parts: parts + 1, total: total + items.length }, [part]);
        }
    const state = asking.skipInvalid === true && asking.isDryRun !== true ? "running" : "checking";
    await moveTo({ isPlanned: true, active: "yes", state });
  } catch (error) {
    const cancelled = isOvertaken(error) ? await records.task(task.id) : undefined;
    if (cancelled === undefined) throw error;
    return cancelled.value;
  }
  tasks.wake();
  return stored.value;
}

export const importTask: TaskKind = {
  decide: decideImports,
  isForAdministrators: true,
  findsAll: true,
  mendable: ["REFERENCE_NOT_FOUND"],
  // Another resource has the unique key by which the item was found to be new: then the item changes that one.
  isDecidedAgain: (work, collection, { code, attributes }) => {
    if (code !== "UNIQUE_VIOLATION") return false;
    const key = keyOfImport(work, importedIn(work.service, collection));
    const pointers = key && pathsOf(key).map(toFragment);
    return pointers?.length === attributes.length && pointers.every((each) => attributes.includes(each));
  },
};

/** The collection of an import. Its caller sets every attribute, because the access rules do not apply to imports. */
function importedIn(service: Data, name: string): Collection {
  return { ...(findCollection(service, name) ?? openCollection(name)), visibility: undefined };
}

/** What an import as a task was asked to do, if it is by a unique key: the attributes of the key. */
interface TaskImport {
  on: readonly string[];
  skipHooks?: boolean;
}

/** The unique key of an import. Throws INVALID_PARAMETER if the collection does not have it any more. */
function keyOfImport({ request: { content } }: TaskWork, collection: Collection): Unique | undefined {
  if (content === undefined) return undefined;
  const { on } = JSON.parse(content) as TaskImport;
  const key = keyNamed(on, collection);
  if (key !== undefined) return key;
  throw new Problem("INVALID_PARAMETER", `The collection no longer has the unique key ${on.join(" and ")}.`);
}

async function decideImports(work: TaskWork, { collection: name, items }: ItemsOfPart): Promise<Decisions> {
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
  { service, task, caller, request }: TaskWork,
  collection: Collection,
  { key, items, at }: { key: Unique; items: readonly TaskItem[]; at: number },
): Promise<(Row | Problem | undefined)[]> {
  const { store, participants } = service;
  const { skipHooks = false } = JSON.parse(request.content ?? "{}") as Partial<TaskImport>;
  const hooks = skipHooks
    ? undefined
    : hooksForMany(service, collection, { id: task.value.id, caller, now: at });
  const { fixedIn, mergeItem, itemValue } = await import("../../../import/merge.ts"); // few services import while they run
  return untilLong(
    items,
    async ({ id, text = "" }): Promise<readonly [Row | Problem | undefined, number]> => {
      const value = itemValue({ id, text });
      const holderId = await store.holder(collection.name, key, uniqueValue(value, key) as string);
      const holder =
        holderId === undefined ? undefined : await store.read({ collection: collection.name, id: holderId });
      const length = holder?.text.length ?? 0;
      const [fixed = []] = await fixedIn([holder], participants.get(collection.name)?.mirrored);
      const written = await mergeItem({ collection, at, hooks }, { id, value, holder, fixed });
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
