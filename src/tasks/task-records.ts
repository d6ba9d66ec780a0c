/** Reads and writes what the store keeps about tasks. */
import { openCollection } from "../collection/collection.ts";
import { readIndexes } from "../collection/indexes.ts";
import { Problem } from "../errors.ts";
import { allOf } from "../query/filter.ts";
import { isIn, isOvertaken, put, Records, remove, type Versioned } from "../records.ts";
import type { Change } from "../store/port/commit.ts";
import type { ServingStore } from "../store/port/store.ts";
import {
  ended,
  keptTasks,
  maxActiveTasks,
  maxOwnTasks,
  partsName,
  slicesName,
  type Task,
  type TaskPart,
  type TaskRequest,
  type TaskSlice,
  tasksName,
} from "./task.ts";

/** The records that are removed in one commit. */
const atOnce = 50;

/** Parts and slices have the id of their task and their number. */
const partId = (task: string, number: number) => `${task}.${number}`;
const requestId = (task: string) => `${task}.request`;

/** An import that has not stored its plan after this time, in milliseconds, was interrupted. */
const storingMs = 3_600_000;

/** The record that each task changes when it begins, so that tasks begin one after the other. */
const lastBegunId = "last-begun";

/** The records of the tasks of one store. */
export class TaskRecords extends Records {
  readonly #store: ServingStore;

  constructor(store: ServingStore) {
    const tasks = { ...openCollection(tasksName), indexes: readIndexes([["active"], ["by"]], "indexes") };
    super(store, [tasks, openCollection(partsName), openCollection(slicesName)]);
    this.#store = store;
  }

  /** Whether the store has ever had a task. */
  async exist(): Promise<boolean> {
    if (this.#store.collections().has(tasksName)) return true;
    return (await this.#store.collectionNames()).includes(tasksName);
  }

  /** The tasks with something left to do, the earliest first. */
  async active(): Promise<Versioned<Task>[]> {
    if (!(await this.exist())) return [];
    const filter = isIn("active", "yes");
    return (await this.list<Task>({ collection: tasksName, filter, limit: 2 * maxActiveTasks })).records;
  }

  /** A task; `undefined` if it does not exist. */
  task(id: string): Promise<Versioned<Task> | undefined> {
    return this.read(tasksName, id);
  }

  /** The latest tasks, the latest first. `by`: only those that this caller began. */
  async latest(limit: number, by?: string | null): Promise<Task[]> {
    if (!(await this.exist())) return [];
    const all = await this.list<Task>({
      collection: tasksName,
      filter: allOf(typeof by === "string" ? [isIn("by", by)] : []),
      sort: [{ path: ["id"], descending: true }],
      limit,
    });
    return all.records.map(({ value }) => value);
  }

  async request(id: string): Promise<TaskRequest> {
    const found = await this.read<TaskRequest>(partsName, requestId(id));
    return found?.value ?? { principal: null };
  }

  part(id: string, number: number): Promise<Versioned<TaskPart> | undefined> {
    return this.read(partsName, partId(id, number));
  }

  slice(id: string, number: number): Promise<Versioned<TaskSlice> | undefined> {
    return this.read(slicesName, partId(id, number));
  }

  /**
   * The changes that store a new task and its request. Of two tasks that begin at once, only one can be the last that fits. Throws
   * UNAVAILABLE if too many tasks wait or work already.
   */
  async begun(task: Task, request: TaskRequest): Promise<Change[]> {
    const before = await this.read(partsName, lastBegunId);
    const active = await this.active();
    const own = active.filter(({ value }) => task.by !== null && value.by === task.by);
    if (active.length >= maxActiveTasks)
      throw tooMany(`${maxActiveTasks} tasks wait or work already. Try again later.`);
    if (own.length >= maxOwnTasks)
      throw tooMany(
        `${maxOwnTasks} of your tasks wait or work already. Wait until one has ended, or cancel one.`,
      );
    return [
      put(partsName, lastBegunId, before?.version, { task: task.id }),
      put(tasksName, task.id, undefined, task),
      put(partsName, requestId(task.id), undefined, request),
    ];
  }

  /** The change that stores the state of a task. */
  moved({ value, version }: Versioned<Task>, next: Partial<Task>): Change {
    return put(tasksName, value.id, version, { ...value, ...next });
  }

  /** The change that adds a part to the plan. */
  planned(id: string, number: number, part: TaskPart): Change {
    return put(partsName, partId(id, number), undefined, part);
  }

  /** The change that notes what a slice has changed. */
  made(id: string, number: number, slice: TaskSlice): Change {
    return put(slicesName, partId(id, number), undefined, slice);
  }

  /**
   * Removes a few of the parts that an ended task has left. Returns the task as it is then: without any, it is no longer active.
   * Throws PRECONDITION_FAILED if another instance was faster.
   */
  async clean(task: Versioned<Task>, at: number): Promise<void> {
    const { id, part, parts } = task.value;
    const to = Math.min(parts, part + atOnce);
    const changes = await this.#removals(partsName, id, [part, to]);
    const isClean = to === parts;
    changes.push(this.moved(task, { part: to, item: 0, active: isClean ? "no" : "yes" }));
    await this.commit(changes, at);
  }

  /** Removes tasks that ended long ago, and the oldest of those that are too many. */
  async sweep(now: number): Promise<void> {
    const excess = (await this.count(tasksName)) - keptTasks.most;
    const { records } = await this.list<Task>({ collection: tasksName, limit: atOnce });
    for (const [index, task] of records.entries()) {
      const { active, createdAt, endedAt } = task.value;
      if (active === "yes") continue;
      if (
        endedAt === undefined ? createdAt > now - storingMs : index >= excess && endedAt > now - keptTasks.ms
      )
        continue;
      const removed = endedAt === undefined ? this.#giveUp(task, now) : this.#remove(task, now);
      await removed.catch((error: unknown) => {
        if (!isOvertaken(error)) throw error; // another instance removes it
      });
    }
  }

  /** Ends an import whose request was interrupted while it stored its plan. */
  #giveUp(task: Versioned<Task>, at: number): Promise<void> {
    const next = {
      ...ended(task.value, "failed", at, "The request was interrupted."),
      active: "yes" as const,
    };
    return this.commit([this.moved(task, next)], at);
  }

  async #remove({ value: { id, slices }, version }: Versioned<Task>, at: number): Promise<void> {
    for (let from = 0; from < slices; from += atOnce) {
      const changes = await this.#removals(slicesName, id, [from, Math.min(slices, from + atOnce)]);
      await this.commit(changes, at);
    }
    const request = await this.read(partsName, requestId(id));
    await this.commit(
      [
        remove(tasksName, id, version),
        ...(request === undefined ? [] : [remove(partsName, requestId(id), request.version)]),
      ],
      at,
    );
  }

  async #removals(collection: string, id: string, [from, to]: readonly [number, number]): Promise<Change[]> {
    const ids = Array.from({ length: to - from }, (_, index) => partId(id, from + index));
    const found = await Promise.all(ids.map((each) => this.read(collection, each)));
    return found.flatMap((each, index) =>
      each === undefined ? [] : [remove(collection, ids[index] as string, each.version)],
    );
  }
}

function tooMany(detail: string): Problem {
  return new Problem("UNAVAILABLE", detail, { headers: { "retry-after": "60" } });
}
