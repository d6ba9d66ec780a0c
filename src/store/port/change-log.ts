/** The change log: its rows, and what an erasure removes. */
import { type LogPlace, logStart, placeBefore } from "./log-place.ts";
import type { Key, Stored } from "./stored.ts";

/** One row of the change log. */
export interface LoggedChange {
  /** The place of the change. */
  sequence: LogPlace;
  id: string;
  /** The version that this change made. A delete makes a version too. */
  version: number;
  kind: ChangeKind;
  at: number;
  principal: string | undefined;
  /** The number that the changes of one commit share. `undefined` if the commit has one change. */
  group: number | undefined;
  /** The text of the resource before this change. `undefined` for a create. */
  superseded: string | undefined;
  /** The text that this change made; `undefined` for a delete. */
  text: string | undefined;
}

/** Stands between the id of a task and the subject of the caller who began it. */
const inTask = "\u001e";

const ofTask = new RegExp(`^([0-9a-f-]{36})${inTask}(.*)$`, "s");

/** The `principal` of a change that a task makes for a caller. */
export function authorInTask(task: string, subject: string | undefined): string {
  return `${task}${inTask}${subject ?? ""}`;
}

/** Stands between the subject of code that acts because of a change and the length of its chain. */
const inChain = "\u001f";

const ofChain = new RegExp(`^(.*)${inChain}([0-9]+)$`, "s");

/**
 * The `principal` of a change that code makes because of another change. `length`: how many such changes followed from each other, with
 * this one.
 */
export function authorInChain(subject: string, length: number): string {
  return `${subject}${inChain}${length}`;
}

/** The caller and the task in the `principal` of a change, and the length of its chain; 0 if it was not made because of a change. */
export function authorOf(principal: string | undefined): {
  principal: string | undefined;
  task: string | undefined;
  chain: number;
} {
  const [, task, caller = principal] = ofTask.exec(principal ?? "") ?? [];
  const [, subject = caller, chain = 0] = ofChain.exec(caller ?? "") ?? [];
  return { principal: subject || undefined, task, chain: Number(chain) };
}

/** A change without its texts and its origin. */
export type LoggedKey = Pick<LoggedChange, "id" | "version" | "kind" | "at">;

/** The last texts of a resource. */
export interface LastTexts {
  /**
   * The text of the resource, or its text before the last delete. `undefined` if the log does not have that delete, or no resource ever had
   * the id.
   */
  last: string | undefined;
  /** The end of the life that a version belongs to: the first delete at this version or a later one. `undefined` if no delete ended it. */
  end: LifeEnd | undefined;
}

/** A delete that ended a life. */
export interface LifeEnd {
  version: number;
  /** The text before it. `undefined` if the log does not have it. */
  text: string | undefined;
}

/** How far the log of a collection goes. */
export interface LogHead {
  /** The place after its last change. */
  sequence: LogPlace;
  /**
   * The log can lack changes up to this place, because a resource was erased or history was off. After it, the log lacks
   * only the oldest changes, which are no longer kept. The start: it lacks none for these reasons.
   */
  gapsUpTo: LogPlace;
}

/** Changes of one collection, from one snapshot. */
export interface LogSlice extends LogHead {
  /** In their order. */
  changes: readonly LoggedChange[];
}

/** The slice of a log that has no changes. */
export const emptySlice: LogSlice = { changes: [], sequence: logStart, gapsUpTo: logStart };

/** The place after which the changes of a slice begin. Without changes, it is the end of the log. */
export function startOf({ changes: [first], sequence }: LogSlice): LogPlace {
  return first === undefined ? sequence : placeBefore(first.sequence);
}

/** The most text of one slice, in bytes. A slice can be longer by a few changes. */
export const maxSliceBytes = 2 * 1024 * 1024;

/** A change in the history of one resource. */
export type ResourceChange = Omit<LoggedChange, "sequence" | "id" | "superseded" | "text">;

/** What a change did to its resource. */
export type ChangeKind = (typeof changeKinds)[number];

/** All kinds of changes. */
export const changeKinds = ["created", "updated", "deleted"] as const;

/** The result of an erasure. */
export interface Erased {
  /** Whether the store had the id: that of a resource, or of a deleted one. */
  isKnown: boolean;
  /** Whether the resource existed. `false` if it was deleted before, or never existed. */
  resource: boolean;
  /** How many of its changes were in the change log. */
  changes: number;
  /** Resources that the erasure changed or deleted, because they referred to the resource (`onDelete`), directly or not. */
  affected: readonly AffectedResource[];
  /** Whether an earlier erasure of the resource was interrupted before the files were clean. @default false */
  isResumed?: boolean;
  /** Why unused parts of the files still contain the text, and what to do first. `undefined` if they do not. */
  unfinished?: string;
}

/** A resource that a delete of another resource changed or deleted (`onDelete`). */
export interface AffectedResource extends Key {
  isDeleted: boolean;
}

/** Thrown by `list` and `changesSince` if the change log does not reach back to the requested time. */
export class HistoryMissing extends Error {
  override readonly name = "HistoryMissing";
  /** The earliest time to which the log can reach back: Unix time in milliseconds. `undefined` if it has no change. */
  readonly since: number | undefined;
  /** The collection, if several are read. */
  readonly collection: string | undefined;

  constructor(since: number | undefined, collection?: string) {
    super("The change log does not reach back to the requested time.");
    this.since = since;
    this.collection = collection;
  }
}

/** A resource with changes after the time of the list. */
export interface ChangedResource {
  id: string;
  /** The version that the first of these changes made. */
  version: number;
  /** Whether the resource existed before this change. */
  existed: boolean;
  /** The version that the last change made. */
  lastVersion: number;
  /** When the last change was made: Unix time in milliseconds. */
  lastAt: number;
  /** Whether the resource exists now. */
  exists: boolean;
  /** The version of the first of these changes that is a delete. @default no change is a delete */
  end?: number | undefined;
}

/** The texts of a changed resource. */
export interface ChangedTexts {
  /** The kept texts from the first version on, as `HistoryPlans.texts` reads them. */
  chain: readonly KeptText[];
  /** The current version, if the chain or the caller needs it. */
  current: Stored | undefined;
  /** The text before the delete, if the resource no longer exists and the caller needs it. */
  deleted: string | undefined;
}

/** The superseded text in one change: a whole text, a difference, or `null` for a create. */
export interface KeptText {
  /** The version that the change made. */
  version: number;
  kept: string | null;
}

/** The changes of one collection after a time. */
export interface ChangesSince {
  collection: string;
  /** The end of the log now. */
  sequence: LogPlace;
  /**
   * The latest time of its changes after the time, and of some before: Unix time in milliseconds; 0 without changes. The last
   * change can be earlier, if the clock was set back.
   */
  latestAt: number;
  /** The resources that changed after the time. */
  changed: readonly ChangedResource[];
}
