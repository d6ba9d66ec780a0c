/** One slice of a task: some changes of its plan, and how far it is then, in one commit. So each change is made exactly once. */
import { shortJson } from "../../../collection/messages.ts";
import { Problem } from "../../../errors.ts";
import { put, remove } from "../../../records.ts";
import type { Change } from "../../../store/port/commit.ts";
import { versionOf } from "../../../store/port/commit.ts";
import {
  ended,
  type Made,
  partsName,
  type Task,
  type TaskItem,
  type TaskRefusal,
  tasksName,
  withRefusals,
} from "../../../tasks/task.ts";
import type { Writes } from "../../operations/operation.ts";
import { notFound, type Result } from "../../operations/result.ts";
import { resourcePath } from "../../route.ts";
import type { CommitPlan, Write, WriteAttempt } from "../../writes/commit.ts";
import { largeTurn, nameOf, runWrite, type WriteSteps } from "../../writes/write.ts";
import type { Decision, TaskKind } from "./task-kind.ts";
import { kindsOfTasks } from "./task-kinds.ts";
import { operationIn, requestOfTask, type TaskWork } from "./task-work.ts";

/** The items that a slice can take, and where they come from. */
export interface Source {
  collection: string;
  items: readonly TaskItem[];
  /** How many items the part has, and the version of its record; `undefined` if it is not removed when it is done. */
  length: number;
  version: number | undefined;
}

/** What a slice did. */
export interface SliceOutcome {
  /** How many items had their turn. */
  taken: number;
  /** How many resources it has changed, or would change, and how many of them are new. */
  changed: number;
  created: number;
  refusals: readonly TaskRefusal[];
  /** How long the store took, in milliseconds. */
  busyMs: number;
}

/** How many times an item has another turn. */
const maxTries = 10;

/** The result of a commit that succeeded. No client gets it. */
const succeeded: Result = { kind: "batch", body: "" };

/**
 * Does a slice of the task, or only judges it while the task checks. Returns `undefined` if the task has changed, because it was
 * cancelled or another instance works on it. Throws the problems of the store that a later attempt can mend.
 */
export async function doSlice(
  work: TaskWork,
  source: Source,
  size: number,
): Promise<SliceOutcome | undefined> {
  /** The problems with which the store has refused items. */
  const refused = new Map<number, Problem>();
  /** How often items have been decided again, because another write has made a resource with their unique key. */
  const again = new Map<number, number>();
  for (let most = size; ; ) {
    const slice = new Slice(work, { ...source, items: source.items.slice(0, most) }, refused);
    try {
      return await slice.perform();
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error;
      const found = [error, ...error.others].flatMap((each) => {
        const index = slice.itemOf(each);
        return index === undefined ? [] : [[index, each] as const];
      });
      if (found.length > 0)
        for (const [index, each] of found) {
          const times = again.get(index) ?? 0;
          if (times < maxTries && slice.isDecidedAgain(each)) again.set(index, times + 1);
          else refused.set(index, each);
        }
      else if (most === 1 && !refused.has(0)) refused.set(0, error);
      else if (most === 1) throw error;
      // It is about the slice as a whole, such as too much text that follows from deletes.
      else most = Math.ceil(most / 4);
    }
  }
}

class Slice {
  readonly #work: TaskWork;
  readonly #source: Source;
  readonly #refused: ReadonlyMap<number, Problem>;
  readonly #isOnlyJudged: boolean;
  #decisions: readonly Decision[] = [];
  /** The items with a change, in the order of the changes. */
  #changing: readonly number[] = [];
  #busyMs = 0;

  constructor(work: TaskWork, source: Source, refused: ReadonlyMap<number, Problem>) {
    this.#work = work;
    this.#source = source;
    this.#refused = refused;
    this.#isOnlyJudged = work.task.value.state === "checking";
  }

  async perform(): Promise<SliceOutcome | undefined> {
    const { service, caller, task } = this.#work;
    const request = requestOfTask(service, task.value.id);
    try {
      const result = await runWrite(this.#steps, { service, operation: { caller }, request });
      if (result.kind === "not found") return undefined;
      return {
        taken: this.#decisions.length,
        ...this.#counts,
        refusals: this.#refusals,
        busyMs: this.#busyMs,
      };
    } finally {
      request.ticket.end();
    }
  }

  /** The item that the store has refused; `undefined` if the error is about no single one. */
  itemOf({ change }: Problem): number | undefined {
    return change === undefined ? undefined : this.#changing[change];
  }

  /** Whether an item is decided again after this refusal. */
  isDecidedAgain(refusal: Problem): boolean {
    return this.#kind.isDecidedAgain?.(this.#work, this.#source.collection, refusal) === true;
  }

  get #kind(): TaskKind {
    return kindsOfTasks[this.#work.task.value.kind];
  }

  get #steps(): WriteSteps<Writes, true, undefined> {
    const { collection, items } = this.#source;
    return {
      find: async () => true,
      read: async () => undefined,
      // One at a time, as bulk changes.
      resources: () => {
        if (this.#isOnlyJudged) return [];
        const names = items.flatMap(({ id }) => (id === undefined ? [] : [nameOf({ collection, id })]));
        return [largeTurn, ...new Set(names.sort())];
      },
      decide: (write) => this.#decide(write),
    };
  }

  async #decide({ request }: Write): Promise<CommitPlan | WriteAttempt> {
    const { records, task, service } = this.#work;
    const { collection, items } = this.#source;
    if ((await records.task(task.value.id))?.version !== task.version) return notFound;
    const { references } = operationIn(this.#work, collection).collection;
    // What has expired would hold ids and unique values, and an import could refer to it.
    await service.expired.sweep([collection, ...references.map((each) => each.collection)]);
    const { decisions, at } = await this.#kind.decide(this.#work, { collection, items }, request);
    this.#decisions = decisions.map((decision, index) => this.#refused.get(index) ?? decision);
    this.#changing = this.#decisions.flatMap((each, index) => (isChange(each) ? [index] : []));
    const changes = this.#decisions.filter(isChange);
    // Nothing in the store conflicts with what would make the collection.
    const judged = service.store.collections().has(collection) ? changes : [];
    const { findsAll, revives } = this.#kind;
    const { id } = task.value;
    return {
      kind: "plan",
      changes: this.#isOnlyJudged ? judged : [...changes, ...this.#progress(changes, at)],
      at,
      isDryRun: this.#isOnlyJudged,
      // Without deletes, this only makes the store say everything that it refuses.
      ...(findsAll && { whole: new Map() }),
      ...(revives && { revives }),
      task: id,
      commit: async (commit) => {
        const since = performance.now();
        const committed = await service.store.commit(commit);
        this.#busyMs = performance.now() - since;
        return committed;
      },
      result: succeeded,
    };
  }

  /** The changes of the records of the task: they are in the commit of the changes that they are about. */
  #progress(changes: readonly Change[], at: number): Change[] {
    const { records, task, lease } = this.#work;
    const { collection, length, version } = this.#source;
    const { value } = task;
    const { id, part, slices } = value;
    const item = value.item + this.#decisions.length;
    const isPartDone = item >= length;
    const made = changes.map(madeBy);
    const later = this.#later;
    const { changed, created } = this.#counts;
    const moved: Task = {
      ...withRefusals(value, this.#refusals),
      ...lease,
      done: value.done + this.#decisions.length - later.length,
      changed: value.changed + changed,
      created: value.created + created,
      slices: slices + (made.length > 0 ? 1 : 0),
      parts: value.parts + (later.length > 0 ? 1 : 0),
      part: isPartDone ? part + 1 : part,
      item: isPartDone ? 0 : item,
    };
    const next = moved.part === moved.parts ? { ...ended(moved, "done", at), active: "no" as const } : moved;
    return [
      put(tasksName, id, task.version, next),
      ...(made.length > 0 ? [records.made(id, slices, { collection, made })] : []),
      ...(later.length > 0 ? [records.planned(id, value.parts, { collection, items: later })] : []),
      ...(isPartDone && version !== undefined ? [remove(partsName, `${id}.${part}`, version)] : []),
    ];
  }

  get #counts(): Pick<SliceOutcome, "changed" | "created"> {
    const changes = this.#decisions.filter(isChange);
    return { changed: changes.length, created: changes.filter(({ expect }) => expect === "absent").length };
  }

  /** The items that have another turn at the end of the plan. */
  get #later(): TaskItem[] {
    return this.#source.items.flatMap((item, index) =>
      this.#mayFitLater(index) ? [{ ...item, tries: (item.tries ?? 0) + 1 }] : [],
    );
  }

  /** Whether the store can accept an item after other changes of the task: resources of a collection can refer to each other. */
  #mayFitLater(index: number): boolean {
    const { collection, items } = this.#source;
    const { tries = 0 } = items[index] ?? {};
    const code = this.#refused.get(index)?.code;
    const { mendable, isMendedByOthers } = this.#kind;
    if (code === undefined || tries >= maxTries || !mendable.includes(code)) return false;
    if (isMendedByOthers) return true;
    const { references } = operationIn(this.#work, collection).collection;
    return references.some((each) => each.collection === collection);
  }

  get #refusals(): TaskRefusal[] {
    const { collection, items } = this.#source;
    const { prefix } = this.#work.service.settings;
    return this.#decisions.flatMap((decision, index) => {
      if (!(decision instanceof Problem) || this.#mayFitLater(index)) return [];
      const { id = "", line, element } = items[index] ?? {};
      const place =
        line === undefined
          ? { resource: resourcePath(`${prefix}/${collection}`, id) }
          : { line, ...(element !== undefined && { element }) };
      return [{ ...place, code: decision.code, detail: detailOf(decision) }];
    });
  }
}

function isChange(decision: Decision): decision is Change {
  return decision !== undefined && !(decision instanceof Problem);
}

function madeBy(change: Change): Made {
  const kind = change.next === undefined ? "deleted" : change.expect === "absent" ? "created" : "updated";
  return [change.key.id, versionOf(change), kind];
}

/** What is wrong, with the first attribute that it is about. */
function detailOf({ message, violations: [first] }: Problem): string {
  const { pointer, detail } = first ?? {};
  const text =
    pointer === undefined || message.includes(detail ?? "") ? message : `${message} ${pointer} ${detail}.`;
  return text.length <= 500 ? text : shortJson(text);
}
