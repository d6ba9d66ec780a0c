/** The changes after a time: the resources that they changed, and what is needed to undo them in lists or in whole collections. */
import { Problem } from "../../errors.ts";
import type { Filter } from "../../query/filter.ts";
import {
  type ChangedResource,
  type ChangedTexts,
  type ChangesSince,
  HistoryMissing,
  type LoggedChange,
  type LoggedKey,
} from "../port/change-log.ts";
import type { ListQuery, Page } from "../port/page.ts";
import { type Decision, decideAsync, lookUp } from "./decision.ts";

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

/** The most changes after the time, in all collections together. */
export const maxChangesSince = 100_000;

/**
 * This many changes before the time are compared with the later ones, to find commits on both sides. There can be such
 * commits only if clocks differ or were set back.
 */
const comparedBefore = 1_000;

/** The reads of the log of one collection. */
export type LogReads = Pick<PastPageLookups, "sequences" | "changes">;

/** A collection and its changes after the time, in order. */
interface Part {
  collection: string;
  sequence: number;
  latestAt: number;
  after: LoggedRowKey[];
}

/**
 * The changes of collections after a time. Each read sees its own state, so the caller must keep other writes away. Throws
 * HistoryMissing with the collection if its log begins later, or if the time is before all changes of all collections. Throws
 * CONTENT_TOO_LARGE if there are more than `maxChangesSince` changes.
 */
export async function changesSince(
  collections: readonly string[],
  at: number,
  readsOf: (collection: string) => LogReads,
): Promise<ChangesSince[]> {
  const ends = new Map<string, { current: number; past: number }>();
  for (const name of collections) ends.set(name, await readsOf(name).sequences(at));
  await requireChangeBefore(ends, readsOf);
  await requireFew(ends, readsOf);
  const parts: Part[] = [];
  const groupsBefore = new Set<number>();
  for (const [collection, { current, past }] of ends) {
    const log = readsOf(collection);
    const start = Math.max(0, past - comparedBefore);
    const before = (await log.changes(start, past - start)).filter(({ sequence }) => sequence <= past);
    for (const { group } of before) if (group !== undefined) groupsBefore.add(group);
    const after = await rowsBetween(log, { from: past, to: current }).catch(withCollection(collection));
    const latestAt = latestOf(after, latestOf(before, 0));
    parts.push({ collection, sequence: current, latestAt, after });
  }
  keepCommitsWhole(parts, groupsBefore);
  return parts.map(({ after, ...part }) => {
    const changed = new Map<string, ChangedResource>();
    for (const row of after) noteChange(changed, row);
    return { ...part, changed: [...changed.values()] };
  });
}

function latestOf(rows: readonly LoggedRowKey[], least: number): number {
  return rows.reduce((latest, { at }) => Math.max(latest, at), least);
}

async function rowsBetween(
  log: LogReads,
  { from, to }: { from: number; to: number },
): Promise<LoggedRowKey[]> {
  const rows: LoggedRowKey[] = [];
  await decideAsync(
    readRows(from, to, (row) => rows.push(row)),
    log as PastPageLookups, // `readRows` uses nothing else
  );
  return rows;
}

/**
 * A time before every change is a mistake, and would delete everything. Then this names the first change. A log that does not
 * have it is a reason of its own.
 */
async function requireChangeBefore(
  ends: ReadonlyMap<string, { current: number; past: number }>,
  readsOf: (collection: string) => LogReads,
): Promise<void> {
  if ([...ends.values()].some(({ past }) => past > 0)) return;
  const firsts: { collection: string; at: number }[] = [];
  for (const [collection, { current }] of ends) {
    if (current === 0) continue;
    const [first] = await readsOf(collection).changes(0, 1);
    if (first?.sequence !== 1) return;
    firsts.push({ collection, at: first.at });
  }
  const [earliest] = firsts.sort((a, b) => a.at - b.at);
  if (earliest !== undefined) throw new HistoryMissing(earliest.at, earliest.collection);
}

/** Too many changes are refused before they are read. A log that begins later is the better reason. */
async function requireFew(
  ends: ReadonlyMap<string, { current: number; past: number }>,
  readsOf: (collection: string) => LogReads,
): Promise<void> {
  let total = 0;
  for (const { current, past } of ends.values()) total += current - past;
  if (total <= maxChangesSince) return;
  for (const [collection, { current, past }] of ends) {
    const [first] = current > past ? await readsOf(collection).changes(past, 1) : [];
    if (current > past && first?.sequence !== past + 1) throw new HistoryMissing(first?.at, collection);
  }
  const most = maxChangesSince.toLocaleString("en");
  throw new Problem("CONTENT_TOO_LARGE", `More than ${most} changes were made since that time.`);
}

function withCollection(collection: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof HistoryMissing ? new HistoryMissing(error.since, collection) : error;
  };
}

/** If a commit has changes on both sides of the time, all changes up to its last one count as made before. */
function keepCommitsWhole(parts: readonly Part[], groupsBefore: Set<number>): void {
  const isBefore = ({ group }: LoggedRowKey) => group !== undefined && groupsBefore.has(group);
  for (let hasMoved = true; hasMoved; ) {
    hasMoved = false;
    for (const { after } of parts) {
      const last = after.findLastIndex(isBefore);
      if (last < 0) continue;
      for (const { group } of after.splice(0, last + 1)) if (group !== undefined) groupsBefore.add(group);
      hasMoved = true;
    }
  }
}
