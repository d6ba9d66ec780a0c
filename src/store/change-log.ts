/** What stores tell of changes. */
import type { Key } from "./stored.ts";

/** One row of the change log. */
export interface LoggedChange {
  sequence: number;
  id: string;
  /** The version that this change made; a delete is one above the last. */
  version: number;
  kind: ChangeKind;
  at: number;
  principal: string | undefined;
  /** Equal for the changes of one commit of several, `undefined` for a commit of one. */
  group: number | undefined;
  /** The text that this change superseded; `undefined` for a create. */
  superseded: string | undefined;
}

/** A change in the history of one resource. */
export type ResourceChange = Omit<LoggedChange, "id" | "superseded">;

/** What a change did to its resource. */
export type ChangeKind = "created" | "updated" | "deleted";

/** What was removed for good. */
export interface Erased {
  /** Whether the resource was there, and not deleted already. */
  resource: boolean;
  /** How many of its changes were in the change log. */
  changes: number;
  /** Resources that referred to it, or to one of these, and were changed or deleted as by a delete. */
  followed: readonly Followed[];
}

/** A resource that a change of another one changed or deleted, with its history. */
export interface Followed extends Key {
  isDeleted: boolean;
}
