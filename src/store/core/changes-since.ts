/** The changes after a time: the resources that they changed, and what is needed to undo them in lists or in whole collections. */
import { Problem } from "../../errors.ts";
import {
  type ChangedResource,
  type ChangesSince,
  HistoryMissing,
  type LoggedChange,
  type LoggedKey,
} from "../port/change-log.ts";
import { toPlace } from "../port/log-place.ts";
import type { Plan } from "../sql/plans.ts";
import type { HistoryPlans } from "./history-plans.ts";

/** The most changes after the time of a list. */
export const maxUndone = 100_000;

/** Rows of the change log that are read at once. */
const rowsAtOnce = 5_000;

/** A change without its texts. */
export type LoggedRowKey = LoggedKey & Pick<LoggedChange, "group"> & { sequence: number };

/** Two sequences of a collection: all changes after `past`, up to `current`. */
export interface Sequences {
  past: number;
  current: number;
}

/**
 * The resources with changes between two sequences, by id. Throws HistoryMissing, and QUERY_TOO_EXPENSIVE if there are more
 * than `maxUndone` changes.
 */
export function* readChanged(
  history: HistoryPlans,
  sequences: Sequences,
): Plan<Map<string, ChangedResource>> {
  const changed = new Map<string, ChangedResource>();
  if (sequences.current - sequences.past > maxUndone) yield* refuseTooMany(history, sequences.past);
  yield* readRows(history, sequences, (row) => noteChange(changed, row));
  return changed;
}

/** Calls `use` with every change between two sequences, in order. Throws HistoryMissing. */
function* readRows(
  history: HistoryPlans,
  { past, current }: Sequences,
  use: (row: LoggedRowKey) => void,
): Plan<void> {
  let last = past;
  let afterGap: number | undefined;
  let isComplete = true;
  while (last < current) {
    const rows = yield* history.keysAfter(last, rowsAtOnce);
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
  if (last < current) throw new HistoryMissing(undefined);
  if (!isComplete) throw new HistoryMissing(afterGap);
}

function* refuseTooMany(history: HistoryPlans, past: number): Plan<never> {
  const [first] = yield* history.keysAfter(past, 1);
  if (first?.sequence !== past + 1) throw new HistoryMissing(first?.at);
  const most = maxUndone.toLocaleString("en");
  throw new Problem(
    "QUERY_TOO_EXPENSIVE",
    `The collection has had more than ${most} changes since that time, which is the limit for a list. Request a later time.`,
  );
}

/** Adds a change to the changed resources by id. Call it in the order of the changes. */
function noteChange(changed: Map<string, ChangedResource>, { id, version, kind, at }: LoggedRowKey): void {
  const known = changed.get(id);
  const exists = kind !== "deleted";
  const end = exists ? undefined : version;
  if (known === undefined)
    changed.set(id, {
      id,
      version,
      existed: kind !== "created",
      lastVersion: version,
      lastAt: at,
      exists,
      end,
    });
  else Object.assign(known, { lastVersion: version, lastAt: at, exists, end: known.end ?? end });
}

/** The most changes after the time, in all collections together. */
export const maxChangesSince = 100_000;

/**
 * This many changes before the time are compared with the later ones, to find commits on both sides. There can be such
 * commits only if clocks differ or were set back.
 */
const comparedBefore = 1_000;

/** A collection and its changes after the time, in order. */
interface Part {
  collection: string;
  sequence: number;
  latestAt: number;
  after: LoggedRowKey[];
}

/** The log of a collection, and its sequences at the time and now. */
interface Log {
  history: HistoryPlans;
  sequences: Sequences;
}

/**
 * The changes of collections after a time. Each statement can see its own state, so the caller must keep other writes away. Throws
 * HistoryMissing with the collection if its log begins later, or if the time is before all changes of all collections. Throws
 * CONTENT_TOO_LARGE if there are more than `maxChangesSince` changes.
 */
export function* changesSince(
  histories: ReadonlyMap<string, HistoryPlans>,
  at: number,
): Plan<ChangesSince[]> {
  const logs = new Map<string, Log>();
  for (const [name, history] of histories)
    logs.set(name, { history, sequences: yield* history.sequences(at) });
  yield* requireChangeBefore(logs);
  yield* requireFew(logs);
  const parts: Part[] = [];
  const groupsBefore = new Set<number>();
  for (const [collection, { history, sequences }] of logs) {
    const { past, current } = sequences;
    const start = Math.max(0, past - comparedBefore);
    const before = (yield* history.keysAfter(start, past - start)).filter(({ sequence }) => sequence <= past);
    for (const { group } of before) if (group !== undefined) groupsBefore.add(group);
    const after: LoggedRowKey[] = [];
    try {
      yield* readRows(history, sequences, (row) => after.push(row));
    } catch (error) {
      throw error instanceof HistoryMissing ? new HistoryMissing(error.since, collection) : error;
    }
    const latestAt = latestOf(after, latestOf(before, 0));
    parts.push({ collection, sequence: current, latestAt, after });
  }
  keepCommitsWhole(parts, groupsBefore);
  return parts.map(({ after, sequence, ...part }) => {
    const changed = new Map<string, ChangedResource>();
    for (const row of after) noteChange(changed, row);
    return { ...part, sequence: toPlace(sequence), changed: [...changed.values()] };
  });
}

function latestOf(rows: readonly LoggedRowKey[], least: number): number {
  return rows.reduce((latest, { at }) => Math.max(latest, at), least);
}

/**
 * A time before every change is a mistake, and would delete everything. Then this names the first change. A log that does not
 * have it is a reason of its own.
 */
function* requireChangeBefore(logs: ReadonlyMap<string, Log>): Plan<void> {
  if ([...logs.values()].some(({ sequences }) => sequences.past > 0)) return;
  const firsts: { collection: string; at: number }[] = [];
  for (const [collection, { history, sequences }] of logs) {
    if (sequences.current === 0) continue;
    const [first] = yield* history.keysAfter(0, 1);
    if (first?.sequence !== 1) return;
    firsts.push({ collection, at: first.at });
  }
  const [earliest] = firsts.sort((a, b) => a.at - b.at);
  if (earliest !== undefined) throw new HistoryMissing(earliest.at, earliest.collection);
}

/** Too many changes are refused before they are read. A log that begins later is the better reason. */
function* requireFew(logs: ReadonlyMap<string, Log>): Plan<void> {
  const counts = [...logs.values()].map(({ sequences: { current, past } }) => current - past);
  if (counts.reduce((sum, count) => sum + count, 0) <= maxChangesSince) return;
  for (const [collection, { history, sequences }] of logs) {
    const { current, past } = sequences;
    const [first] = current > past ? yield* history.keysAfter(past, 1) : [];
    if (current > past && first?.sequence !== past + 1) throw new HistoryMissing(first?.at, collection);
  }
  const most = maxChangesSince.toLocaleString("en");
  throw new Problem("CONTENT_TOO_LARGE", `More than ${most} changes were made since that time.`);
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
