/** Tasks: changes of many resources that do not fit one commit. `task-records.ts` keeps them, and `task-loop.ts` works on them. */
import type { Principal } from "../access/principal.ts";

/** The internal collections: the tasks, the parts of their plans, and what their slices have changed. */
export const tasksName = "_tasks";
export const partsName = "_task_parts";
export const slicesName = "_task_slices";

/** What a task does, by its name. */
export type TaskKindName = (typeof taskKinds)[number];

/** All kinds. */
export const taskKinds = ["update", "delete", "import", "restore", "rewind", "undo"] as const;

/** How far a task is. It goes on only while it is checking or running. */
export type TaskState = (typeof taskStates)[number];

/** All states. */
export const taskStates = ["checking", "running", "done", "refused", "cancelled", "failed"] as const;

/** A resource that a task could not change, and why. */
export interface TaskRefusal {
  /** The path of the resource. Absent for a resource of an import. */
  resource?: string;
  /** The place in the body of an import. */
  line?: number;
  element?: number | undefined;
  code: string;
  detail: string;
}

/** A task in the store. Times are Unix times in milliseconds. */
export interface Task {
  id: string;
  kind: TaskKindName;
  state: TaskState;
  /** The collection; absent if there can be several. */
  collection?: string | undefined;
  /** The subject of the caller who began it; `null` without a credential. */
  by: string | null;
  /** Whether it only checks. */
  isDryRun?: boolean;
  /** Whether what does not fit is left out, instead of refusing the whole task. */
  skipInvalid?: boolean;
  /** The task that this one undoes, and the one that undoes this one. */
  undoes?: string;
  undoneBy?: string;
  /** The resources of the plan, those that are checked, those that had their turn, and those of them that changed. */
  total: number;
  checked: number;
  done: number;
  changed: number;
  /** How many of those that changed are new resources. In a dry run, both say what would happen. */
  created: number;
  /** How many were refused, and the first of them. */
  refused: number;
  firstRefused: readonly TaskRefusal[];
  /** Why it ended, if it was not the end of its plan. */
  reason?: string;
  createdAt: number;
  endedAt?: number;
  /** `yes` while something is left to do for it: its work, or the removal of its plan. */
  active: "yes" | "no";
  /** How many of the first parts are slices of the task that it undoes. @default 0 */
  borrowed?: number;
  /** How many parts the plan has, and whether it is complete. */
  parts: number;
  isPlanned: boolean;
  /** The first part that is left to check, and later to work on or to remove, and its first item that is left. */
  part: number;
  item: number;
  /** How many slices have changed something. */
  slices: number;
  /** The last id that was selected, while the plan is made. */
  after?: string | undefined;
  /** The instance that works on it, and until when no other one does. */
  holder: string | null;
  until: number;
}

/** What a task was asked to do. It never changes. */
export interface TaskRequest {
  principal: Principal | null;
  /** The body of the request, or what is left of it; absent if the plan has everything. */
  content?: string | undefined;
}

/** One resource in the plan of a task. */
export interface TaskItem {
  /** Absent if the collection must generate an integer. */
  id?: string | undefined;
  /** An import: the text of the resource; without an id, the text that follows the id. */
  text?: string;
  /** An import: its place in the body. */
  line?: number;
  element?: number | undefined;
  /** A way back: the version of the last change, whether the resource exists, and the version to go back to; `null` for none. */
  version?: number;
  exists?: boolean;
  to?: number | null;
  /** How often it had its turn before. @default 0 */
  tries?: number;
}

/** A part of a plan: resources of one collection. */
export interface TaskPart {
  collection: string;
  items: readonly TaskItem[];
}

/** What one slice has changed: the id, the version that it made, and whether it created, updated or deleted the resource. */
export type Made = readonly [id: string, version: number, kind: "created" | "updated" | "deleted"];

/** The changes of one slice. */
export interface TaskSlice {
  collection: string;
  made: readonly Made[];
}

/** The most refusals that a task keeps. A check ends with this many. */
export const maxRefusals = 50;

/** The most resources of one task. */
export const maxTaskResources = 2_000_000;

/** The most tasks that can wait or work at the same time. */
export const maxActiveTasks = 100;

/** The most of them that one caller can have begun. */
export const maxOwnTasks = 20;

/** How long a task is kept after its end, in milliseconds, and how many of them. */
export const keptTasks = { ms: 7 * 24 * 3_600_000, most: 1_000 };

/** Whether a task has still work to do on resources. */
export function isAtWork({ state }: Pick<Task, "state">): boolean {
  return state === "checking" || state === "running";
}

/** A task that has just begun. */
export function newTask(own: Pick<Task, "id" | "kind" | "by" | "createdAt"> & Partial<Task>): Task {
  return {
    state: "checking",
    total: 0,
    checked: 0,
    done: 0,
    changed: 0,
    created: 0,
    refused: 0,
    firstRefused: [],
    active: "yes",
    parts: 0,
    isPlanned: false,
    part: 0,
    item: 0,
    slices: 0,
    holder: null,
    until: 0,
    ...own,
  };
}

/** The task with more refusals. */
export function withRefusals(task: Task, more: readonly TaskRefusal[]): Task {
  if (more.length === 0) return task;
  const firstRefused = [...task.firstRefused, ...more].slice(0, maxRefusals);
  return { ...task, refused: task.refused + more.length, firstRefused };
}

/** The task after its end. What is left of its plan is still there. */
export function ended(task: Task, state: TaskState, at: number, reason?: string): Task {
  const place = task.state === "checking" ? { part: 0, item: 0 } : {};
  return { ...task, ...place, state, endedAt: at, ...(reason !== undefined && { reason }) };
}
