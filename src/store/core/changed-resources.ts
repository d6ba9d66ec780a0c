/** The changes after the time of a list: the resources that they changed, and the lookups to undo them. */

import { Problem } from "../../errors.ts";
import type { Filter } from "../../query/filter.ts";
import type { LoggedChange, LoggedKey } from "../port/change-log.ts";
import { type ChangedResource, type ChangedTexts, HistoryMissing } from "../port/change-log.ts";
import type { ListQuery, Page } from "../port/page.ts";
import { type Decision, lookUp } from "./decision.ts";

/** The most changes after the time of a list. */
export const maxUndone = 100_000;

/** Rows of the change log that are read at once. */
const rowsAtOnce = 5_000;

/** A query for a page as of a time. */
export type PastQuery = Omit<ListQuery, "collection" | "client" | "filter"> & { at: number; filter?: Filter };

/** A query for the current list. */
export type CurrentQuery = Omit<PastQuery, "at" | "visibleFilter">;

/** The lookups for one collection. All lookups of one decision must see the same state. */
export interface PastPageLookups {
  /** The sequence of the collection now, and at a time (`sequenceAtSql`). */
  sequences(at: number): Sequences | Promise<Sequences>;
  /** The change log after a sequence. */
  changes(after: number, limit: number): readonly LoggedRowKey[] | Promise<readonly LoggedRowKey[]>;
  /**
   * The texts of the resources from `from` on, at least one of them. `needsPresent`: also their current texts, or their last
   * texts before they were deleted.
   */
  texts(
    changed: readonly ChangedResource[],
    from: number,
    needsPresent: boolean,
  ): readonly ChangedTexts[] | Promise<readonly ChangedTexts[]>;
  /** A page of the current list. */
  current(query: CurrentQuery): Page | Promise<Page>;
}

/** The lookups that do not read the current list. */
export type PastLookups = Omit<PastPageLookups, "current">;

interface Sequences {
  current: number;
  past: number;
}

/** A change without its texts. */
export type LoggedRowKey = LoggedKey & Pick<LoggedChange, "sequence" | "group">;

/** A decision on a page as of a time. */
export type PageDecision<T> = Decision<PastPageLookups, T>;

/**
 * The resources with changes between two sequences, by id. Throws HistoryMissing, and QUERY_TOO_EXPENSIVE if there are more
 * than `maxUndone` changes.
 */
export function* readChanged(from: number, to: number): PageDecision<Map<string, ChangedResource>> {
  const changed = new Map<string, ChangedResource>();
  if (to - from > maxUndone) yield* refuseTooMany(from);
  yield* readRows(from, to, (row) => noteChange(changed, row));
  return changed;
}

/** Calls `use` with every change between two sequences, in order. Throws HistoryMissing. */
export function* readRows(from: number, to: number, use: (row: LoggedRowKey) => void): PageDecision<void> {
  let last = from;
  let afterGap: number | undefined;
  let isComplete = true;
  while (last < to) {
    const after = last;
    const rows = yield* lookUp((log: PastPageLookups) => log.changes(after, rowsAtOnce));
    for (const row of rows) {
      if (row.sequence !== last + 1) {
        isComplete = false;
        afterGap = row.at;
      }
      last = row.sequence;
      use(row);
    }
    if (rows.length < rowsAtOnce) break;
  }
  if (last < to) throw new HistoryMissing(undefined);
  if (!isComplete) throw new HistoryMissing(afterGap);
}

function* refuseTooMany(from: number): PageDecision<never> {
  const [first] = yield* lookUp((log: PastPageLookups) => log.changes(from, 1));
  if (first?.sequence !== from + 1) throw new HistoryMissing(first?.at);
  const most = maxUndone.toLocaleString("en");
  throw new Problem(
    "QUERY_TOO_EXPENSIVE",
    `The collection has had more than ${most} changes since that time, which is the limit for a list. Request a later time.`,
  );
}

/** Adds a change to the changed resources by id. Call it in the order of the changes. */
export function noteChange(
  changed: Map<string, ChangedResource>,
  { id, version, kind, at }: LoggedRowKey,
): void {
  const known = changed.get(id);
  const exists = kind !== "deleted";
  if (known === undefined)
    changed.set(id, { id, version, existed: kind !== "created", lastVersion: version, lastAt: at, exists });
  else Object.assign(known, { lastVersion: version, lastAt: at, exists });
}
