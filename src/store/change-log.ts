/** The change log: its rows, and what an erasure removes. */
import type { Key } from "./stored.ts";

/** One row of the change log. */
export interface LoggedChange {
  sequence: number;
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
}

/** A change in the history of one resource. */
export type ResourceChange = Omit<LoggedChange, "id" | "superseded">;

/** What a change did to its resource. */
export type ChangeKind = "created" | "updated" | "deleted";

/** The result of an erasure. */
export interface Erased {
  /** Whether the resource existed. `false` if it was deleted before, or never existed. */
  resource: boolean;
  /** How many of its changes were in the change log. */
  changes: number;
  /** Resources that the erasure changed or deleted, because they referred to the resource (`onDelete`), directly or not. */
  followed: readonly Followed[];
}

/** A resource that a delete of another resource changed or deleted (`onDelete`). */
export interface Followed extends Key {
  isDeleted: boolean;
}
