/** Old versions of resources: finds them in the change log, by version or by time, and rebuilds their texts. */
import type { KeptText } from "../port/change-log.ts";
import { type ChangeKind, type LoggedChange, maxSliceBytes } from "../port/change-log.ts";
import type { Stored } from "../port/stored.ts";
import { type Decision, lookUp } from "./decision.ts";
import { isDifference, textFrom } from "./superseded.ts";

/** The main columns of a row of the change log. */
export interface LoggedVersion {
  sequence: number;
  /** The version that the change made. */
  version: number;
  kind: ChangeKind;
  at: number;
}

/** The lookups for one resource. All lookups of one decision must see the same state. */
export interface HistoryLookups {
  /** The current version of the resource. */
  current(): Stored | undefined | Promise<Stored | undefined>;
  /** The sequence at a time (`sequenceAtSql`). */
  sequenceAt(at: number): number | Promise<number>;
  /** The change that made a version, or the last change before it. */
  upTo(version: number): LoggedVersion | undefined | Promise<LoggedVersion | undefined>;
  /** The oldest change in the log. */
  oldest(): LoggedVersion | undefined | Promise<LoggedVersion | undefined>;
  /**
   * The superseded texts in the order of versions: from the change that made `version` to the first change that does not
   * contain a difference. At most `maxChain` of them.
   */
  chain(version: number): readonly KeptText[] | Promise<readonly KeptText[]>;
}

/** A version of a resource: the current one, or one whose change is in the log. Throws an Error if the log is damaged. */
export function* versionOf(id: string, version: number): Decision<HistoryLookups, Stored | undefined> {
  const current = yield* lookUp((rows) => rows.current());
  if (current?.version === version) return current;
  const made = yield* lookUp((rows) => rows.upTo(version));
  return made?.version === version ? yield* storedOf(id, made, current) : undefined;
}

/**
 * The version of a resource at a time: the one that its last change up to the sequence at that time made. Throws an Error if
 * the log is damaged.
 */
export function* stateAt(id: string, at: number): Decision<HistoryLookups, Stored | undefined> {
  const current = yield* lookUp((rows) => rows.current());
  const newest = yield* lookUp((rows) => rows.upTo(Number.MAX_SAFE_INTEGER));
  // The log does not have the last change, so only its time is known.
  if (current !== undefined && current.version !== newest?.version && current.updatedAt <= at) return current;
  if (newest === undefined) return undefined;
  const sequence = yield* lookUp((rows) => rows.sequenceAt(at));
  const made = yield* lastChangeUpTo(sequence, newest);
  if (made === undefined || made.version === current?.version) return made && current;
  return yield* storedOf(id, made, current);
}

/** The last change up to a sequence, found by binary search, because a resource can have a million changes. */
function* lastChangeUpTo(
  sequence: number,
  newest: LoggedVersion,
): Decision<HistoryLookups, LoggedVersion | undefined> {
  if (newest.sequence <= sequence) return newest;
  const oldest = yield* lookUp((rows) => rows.oldest());
  if (oldest === undefined || oldest.sequence > sequence) return undefined;
  let last = oldest;
  let high = newest.version - 1;
  for (let low = last.version; low < high; ) {
    const middle = low + Math.ceil((high - low) / 2);
    const found = yield* lookUp((rows) => rows.upTo(middle));
    if (found === undefined) return undefined;
    if (found.sequence <= sequence) {
      last = found;
      low = middle;
    } else high = found.version - 1;
  }
  return last;
}

/** The state that a change made. The next change in the log contains its text. */
function* storedOf(
  id: string,
  { version, kind, at }: Omit<LoggedVersion, "sequence">,
  current: Stored | undefined,
): Decision<HistoryLookups, Stored | undefined> {
  if (kind === "deleted") return undefined;
  const chain = yield* lookUp((rows) => rows.chain(version + 1));
  const text = textOfChain(id, version + 1, { chain, current });
  return text === undefined ? undefined : { id, version, text, updatedAt: at };
}

/**
 * The text that the change to `version` superseded. `undefined` if that change is a create, or if a later change is missing
 * because the service ran without a history for a while.
 */
export function textOfChain(
  id: string,
  version: number,
  { chain, current }: { chain: readonly KeptText[]; current: Stored | undefined },
): string | undefined {
  const last = chain.at(-1);
  if (last === undefined || last.version !== version + chain.length - 1) return undefined;
  let next = current?.version === last.version ? current.text : undefined;
  for (const each of chain.toReversed()) next = textOf(id, each, next);
  return next;
}

function textOf(id: string, { version, kept }: KeptText, next: string | undefined): string | undefined {
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

/** A row of the change log, with the superseded text as the log contains it. */
export type LoggedRow = Omit<LoggedChange, "superseded" | "text"> & { kept: string | null };

/** The lookups for the resources of one collection. */
export type CollectionLookups = (id: string) => Pick<HistoryLookups, "current" | "chain">;

/**
 * Adds the texts before and after each change to rows of the change log, which are in order. Applies each difference only
 * once. A text is `undefined` if the log does not have it.
 */
export function* withTexts(rows: readonly LoggedRow[]): Decision<CollectionLookups, LoggedChange[]> {
  /** The loop goes back in time. This is the oldest text of each resource so far, and its version. */
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
}: Pick<LoggedRow, "id" | "version" | "kind">): Decision<CollectionLookups, string | undefined> {
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
