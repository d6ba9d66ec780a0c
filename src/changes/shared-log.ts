/** Reads the change log for all subscribers. Subscribers at the same place share one read. */
import { type LoggedChange, type LogHead, type LogSlice, startOf } from "../store/port/change-log.ts";
import { isAfter, type LogPlace, laterOf, logStart, placeAfter } from "../store/port/log-place.ts";
import type { HistoryStore } from "../store/port/store.ts";
import type { CommitWatch } from "./commit-watch.ts";
import { checkOf, type Mark, noChange } from "./position.ts";
import { SharedReads } from "./shared-reads.ts";

/** The changes after a place that belong together. */
export interface Changes {
  changes: readonly LoggedChange[];
  /** Whether these were the last ones when they were read. */
  isEnd: boolean;
}

/** Thrown if the log cannot continue from a place. Texts for a client: why, in a few words. */
export class Gone extends Error {
  override readonly name = "Gone";
}

export const goneReasons = {
  tooOld: "the changes after this position are no longer kept",
  erased: "something was erased since then, or the service ran without history",
  otherHistory: "this position is of another history of the store: it was restored or replaced",
} as const;

/** Changes of one read. A turn of the event loop makes about as many events. */
export const changesAtOnce = 100;

/** A commit with more changes, or more text in characters, is not kept together. */
const wholeCommit = { changes: 2_000, text: 8 * 1024 * 1024 };

/** The memory of all slices that are kept for other subscribers, in bytes. */
const maxKeptBytes = 16 * 1024 * 1024;

const noHead: LogHead = { sequence: logStart, gapsUpTo: logStart };

/** The log of one store. */
export class SharedLog {
  readonly #store: HistoryStore;
  readonly #watch: CommitWatch;
  readonly #reads = new SharedReads<Changes>({
    maxSize: maxKeptBytes,
    sizeOf: ({ changes }) => 2 * textOf(changes),
  });
  /** The last requested place of each collection. */
  readonly #latest = new Map<string, Mark>();
  /** Waits for a turn of the event loop, so that many large reads do not delay other requests. */
  readonly takeTurn: () => Promise<void>;

  constructor(store: HistoryStore, watch: CommitWatch, takeTurn: () => Promise<void>) {
    this.#store = store;
    this.#watch = watch;
    this.takeTurn = takeTurn;
  }

  /**
   * The changes after a place. They end between two commits, unless one commit is very large. Throws Gone if the store
   * does not have all of them. A shared read can miss what was committed since the watch noticed its last commit.
   */
  async after(collection: string, place: LogPlace, { isShared }: { isShared: boolean }): Promise<Changes> {
    const since = isShared ? String(this.#watch.commits(collection)) : undefined;
    return this.#reads.read(`${String(place)} ${collection}`, since, () => this.#read(collection, place));
  }

  /** Throws Gone unless the store has this place, in the same history. */
  async verify({ collection, sequence, check }: Mark): Promise<void> {
    const [change, heads] = await Promise.all([
      this.#store.changeAt(collection, sequence),
      this.#store.logHeads([collection]),
    ]);
    const head = heads.get(collection) ?? noHead;
    if (isAfter(sequence, head.sequence)) throw new Gone(goneReasons.otherHistory);
    if (isAfter(head.gapsUpTo, sequence)) throw new Gone(goneReasons.erased);
    const found = change === undefined ? noChange : checkOf(change);
    if (found === check) return;
    throw new Gone(change === undefined ? goneReasons.tooOld : goneReasons.otherHistory);
  }

  /** The place after the last change of each collection. */
  async now(collections: readonly string[]): Promise<Mark[]> {
    const heads = await this.#store.logHeads(collections);
    return Promise.all(collections.map((name) => this.markAt(name, (heads.get(name) ?? noHead).sequence)));
  }

  /** The place before the oldest change from which on the log is complete. */
  async start(collections: readonly string[]): Promise<Mark[]> {
    return Promise.all(
      collections.map(async (name) => {
        const slice = await this.#store.changesAfter(name, logStart, 1);
        return this.markAt(name, laterOf(slice.gapsUpTo, startOf(slice)));
      }),
    );
  }

  /** The mark of a place. Without a promise if it is the last requested place. */
  markAt(collection: string, place: LogPlace): Mark | Promise<Mark> {
    const known = this.#latest.get(collection);
    return known?.sequence === place ? known : this.#readMark(collection, place);
  }

  async #readMark(collection: string, sequence: LogPlace): Promise<Mark> {
    const change = sequence === logStart ? undefined : await this.#store.changeAt(collection, sequence);
    const mark = { collection, sequence, check: change === undefined ? noChange : checkOf(change) };
    const latest = this.#latest.get(collection);
    if (latest === undefined || !isAfter(latest.sequence, sequence)) this.#latest.set(collection, mark);
    return mark;
  }

  async #read(collection: string, after: LogPlace): Promise<Changes> {
    const changes: LoggedChange[] = [];
    for (;;) {
      const slice = await this.#store.changesAfter(
        collection,
        changes.at(-1)?.sequence ?? after,
        changesAtOnce,
      );
      changes.push(...withoutGap(slice, changes.at(-1)?.sequence ?? after));
      const last = changes.at(-1);
      if (last === undefined || !isAfter(slice.sequence, last.sequence)) return { changes, isEnd: true };
      const whole = wholeCommits(changes);
      const isTooLarge = changes.length > wholeCommit.changes || textOf(changes) > wholeCommit.text;
      if (whole.length > 0 || isTooLarge) return { changes: isTooLarge ? changes : whole, isEnd: false };
      await this.takeTurn();
    }
  }
}

/** The changes up to the first one that the log lacks. Throws Gone if it lacks the first one. */
function withoutGap({ changes, sequence, gapsUpTo }: LogSlice, after: LogPlace): readonly LoggedChange[] {
  if (isAfter(after, sequence)) throw new Gone(goneReasons.otherHistory);
  if (isAfter(gapsUpTo, after)) throw new Gone(goneReasons.erased);
  const gap = changes.findIndex(
    (change, n) => change.sequence !== placeAfter(after, n + 1) || lacksText(change),
  );
  if (gap === 0 || (changes.length === 0 && isAfter(sequence, after))) throw new Gone(goneReasons.tooOld);
  return gap === -1 ? changes : changes.slice(0, gap);
}

/** Whether a text is missing because the log lacks a later change. */
function lacksText({ kind, superseded, text }: LoggedChange): boolean {
  return (kind !== "created" && superseded === undefined) || (kind !== "deleted" && text === undefined);
}

/** The changes without the last commit, which may continue after them. A commit of one change has no group. */
function wholeCommits(changes: readonly LoggedChange[]): readonly LoggedChange[] {
  const group = changes.at(-1)?.group;
  if (group === undefined) return changes;
  return changes.slice(0, changes.findLastIndex((change) => change.group !== group) + 1);
}

function textOf(changes: readonly LoggedChange[]): number {
  return changes.reduce((sum, { text = "", superseded = "" }) => sum + text.length + superseded.length, 0);
}
