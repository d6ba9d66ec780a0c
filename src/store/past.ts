/** Resources as they were: how versions and times are found in the change log, and texts in what changes keep of them. */
import { type ChangeKind, type LoggedChange, maxSliceBytes } from "./change-log.ts";
import { type Decision, lookUp } from "./decision.ts";
import type { Stored } from "./stored.ts";
import { isDifference, textFrom } from "./superseded.ts";

/** A row of the change log in short. */
export interface LoggedVersion {
  /** The version that the change made. */
  version: number;
  kind: ChangeKind;
  at: number;
}

/** What one change keeps of the text that it superseded; `null` for a create. */
export interface Kept {
  version: number;
  kept: string | null;
}

/** What a store looks up of one resource. All look-ups of one decision must see the same state. */
export interface PastRows {
  /** The resource as it is now. */
  current(): Stored | undefined | Promise<Stored | undefined>;
  /** The change that made a version, or the last one below it. */
  upTo(version: number): LoggedVersion | undefined | Promise<LoggedVersion | undefined>;
  /** The oldest change in the log. */
  oldest(): LoggedVersion | undefined | Promise<LoggedVersion | undefined>;
  /**
   * What changes keep, in the order of versions: from the change that made `version` up to the first one that keeps no
   * difference, at most `maxChain` of them.
   */
  chain(version: number): readonly Kept[] | Promise<readonly Kept[]>;
}

/** A version of a resource: the current one, or one whose change is in the log. Throws an Error if the log is damaged. */
export function* versionOf(id: string, version: number): Decision<PastRows, Stored | undefined> {
  const current = yield* lookUp((rows) => rows.current());
  if (current?.version === version) return current;
  const made = yield* lookUp((rows) => rows.upTo(version));
  return made?.version === version ? yield* storedOf(id, made, current) : undefined;
}

/** The resource as it was at a time, by the times of the commits. Throws an Error if the log is damaged. */
export function* stateAt(id: string, at: number): Decision<PastRows, Stored | undefined> {
  const current = yield* lookUp((rows) => rows.current());
  if (current !== undefined && current.updatedAt <= at) return current;
  const made = yield* lastUntil(at);
  return made && (yield* storedOf(id, made, current));
}

/**
 * The last change that had happened by then. A resource may have a million changes, so this halves them. If the clock was
 * set back, it is some change after which the clock showed that time.
 */
function* lastUntil(at: number): Decision<PastRows, LoggedVersion | undefined> {
  const oldest = yield* lookUp((rows) => rows.oldest());
  if (oldest === undefined || oldest.at > at) return undefined;
  const newest = yield* lookUp((rows) => rows.upTo(Number.MAX_SAFE_INTEGER));
  let last = oldest;
  let high = newest?.version ?? last.version;
  for (let low = last.version; low < high; ) {
    const middle = low + Math.ceil((high - low) / 2);
    const found = yield* lookUp((rows) => rows.upTo(middle));
    if (found === undefined) return undefined;
    if (found.at <= at) {
      last = found;
      low = middle;
    } else high = found.version - 1;
  }
  return last;
}

/** The state that a change made, which the next change superseded. */
function* storedOf(
  id: string,
  { version, kind, at }: LoggedVersion,
  current: Stored | undefined,
): Decision<PastRows, Stored | undefined> {
  if (kind === "deleted") return undefined;
  const chain = yield* lookUp((rows) => rows.chain(version + 1));
  const text = textOfChain(id, version + 1, { chain, current });
  return text === undefined ? undefined : { id, version, text, updatedAt: at };
}

/**
 * The text that the change to `version` superseded. `undefined` if the log does not have it: it was created there, or a later
 * change is missing because the service ran without a history for a while.
 */
function textOfChain(
  id: string,
  version: number,
  { chain, current }: { chain: readonly Kept[]; current: Stored | undefined },
): string | undefined {
  const last = chain.at(-1);
  if (last === undefined || last.version !== version + chain.length - 1) return undefined;
  let next = current?.version === last.version ? current.text : undefined;
  for (const each of chain.toReversed()) next = textOf(id, each, next);
  return next;
}

function textOf(id: string, { version, kept }: Kept, next: string | undefined): string | undefined {
  if (kept === null || (next === undefined && isDifference(kept))) return undefined;
  try {
    return textFrom(kept, next ?? "");
  } catch (error) {
    throw new Error(
      `The change log is damaged: version ${version - 1} of the resource ${JSON.stringify(id)} cannot be read (${(error as Error).message}). Restore the store from a backup.`,
      { cause: error },
    );
  }
}

/** A row of the change log as it is kept. */
export type LoggedRow = Omit<LoggedChange, "superseded" | "text"> & { kept: string | null };

/** What a store looks up of the resources of one collection. */
export type CollectionRows = (id: string) => Pick<PastRows, "current" | "chain">;

/**
 * Rows of the change log, in order, with the texts before and after each change. Each difference is applied once. A text is
 * `undefined` if the log does not have it.
 */
export function* withTexts(rows: readonly LoggedRow[]): Decision<CollectionRows, LoggedChange[]> {
  /** The text of each resource before the change that was looked at last, with the version of that text. */
  const known = new Map<string, { version: number; text: string | undefined }>();
  const changes: LoggedChange[] = [];
  for (const { kept, ...row } of rows.toReversed()) {
    const { id, version } = row;
    const later = known.get(id);
    const text = later?.version === version ? later.text : yield* textAfter(row);
    const superseded = textOf(id, { version, kept }, text);
    known.set(id, { version: version - 1, text: superseded });
    changes.push({ ...row, superseded, text });
  }
  return changes.reverse();
}

/** The text that a change made. */
function* textAfter({
  id,
  version,
  kind,
}: Pick<LoggedRow, "id" | "version" | "kind">): Decision<CollectionRows, string | undefined> {
  if (kind === "deleted") return undefined;
  const current = yield* lookUp((of) => of(id).current());
  if (current?.version === version) return current.text;
  const chain = yield* lookUp((of) => of(id).chain(version + 1));
  return textOfChain(id, version + 1, { chain, current });
}

/** How many rows of the change log to read next, so that few more texts are read than `maxSliceBytes`. */
export class SliceSize {
  #rows = 0;
  #bytes = 0;

  /** The next number of rows, at most `limit`; 0 if the slice is full. */
  next(limit: number): number {
    const left = limit - this.#rows;
    if (left <= 0 || this.#bytes >= maxSliceBytes) return 0;
    if (this.#rows === 0) return Math.min(left, firstRows);
    const bytesOfRow = Math.max(1, this.#bytes / this.#rows);
    return Math.min(
      left,
      Math.max(1, Math.floor((maxSliceBytes - this.#bytes) / bytesOfRow)),
      this.#rows * 4,
    );
  }

  /** Counts what was read. */
  note(changes: readonly LoggedChange[]): void {
    this.#rows += changes.length;
    for (const { text, superseded } of changes)
      this.#bytes += Math.max(text?.length ?? 0, superseded?.length ?? 0);
  }
}

/** The first rows of a slice. Even if each has a mebibyte, they need little memory. */
const firstRows = 8;
