/**
 * The last states of the resources that changes are about: as they are now, or as they were before their delete. A feed shows the content
 * of a change only to those who may also see the last state, so what was withdrawn is withdrawn from the feed too. Each delete ends a life.
 * A change of an earlier life also needs the last state of that life.
 */
import { LRUCache } from "lru-cache";
import type { LifeEnd, LoggedChange } from "../store/port/change-log.ts";
import type { HistoryStore } from "../store/port/store.ts";
import type { CommitWatch } from "./commit-watch.ts";
import { parsed } from "./event.ts";
import { type Changes, changesAtOnce } from "./shared-log.ts";
import { keptMs, ReadsUnderWay } from "./shared-reads.ts";

/** A resource, as its text says. */
export type State = Readonly<Record<string, unknown>>;

/** The states that decide about one change. A state is `undefined` if the store does not know it. */
export type LastStatesOf = readonly (State | undefined)[];

/** The last states for a change, by its index: that of the resource, and that of the life that the change belongs to. */
export type LastState = (index: number) => LastStatesOf | Promise<LastStatesOf>;

/** The last states by the ids of the resources. */
type States = ReadonlyMap<string, LastStatesOf>;

/** The ends of long lives that are kept, and for how many milliseconds. */
const keptEnds = { max: 20, ttl: keptMs };

/** Reads last states for all subscribers. */
export class LastStates {
  readonly #store: Pick<HistoryStore, "lastTexts">;
  readonly #watch: CommitWatch;
  /** Subscribers at the same place share a read in progress. No last state is kept: a later change can withdraw it. */
  readonly #reads = new ReadsUnderWay<States>();
  /**
   * The ends of lives that are far away, because the search for the end reads all versions up to it: without them, the time for a feed of
   * one resource would grow with the square of its changes. The end of a life does not change.
   */
  readonly #ends = new LRUCache<string, LifeEnd & { from: number }>(keptEnds);

  constructor(store: Pick<HistoryStore, "lastTexts">, watch: CommitWatch) {
    this.#store = store;
    this.#watch = watch;
  }

  /** The last states of the resources that the changes of one read of the log are about. */
  of(collection: string, { changes, isEnd }: Changes, { isShared }: { isShared: boolean }): LastState {
    const timeline = timelineOf(changes);
    if (isEnd) return (index) => timeline.statesOf(changes[index] as LoggedChange);
    let known: States = new Map();
    return async (index) => {
      const change = changes[index] as LoggedChange;
      if (!known.has(change.id)) {
        const some = changes.slice(index, index + changesAtOnce);
        // Only the last change of a resource can belong to a life that ends after this read.
        const last = new Set(some.map(({ id }) => timeline.lastOf(id)));
        const read = () => this.#read(collection, [...last]);
        const end = String(changes.at(-1)?.sequence);
        const place = `${this.#watch.commits(collection)} ${String(change.sequence)} ${end} ${collection}`;
        known = await (isShared ? this.#reads.read(place, read) : read());
      }
      const states = known.get(change.id) as LastStatesOf;
      const end = timeline.endOf(change);
      return end === undefined ? states : [states[0], before(end)];
    };
  }

  async #read(collection: string, changes: readonly LoggedChange[]): Promise<States> {
    const wanted = changes.map(({ id, version }) => ({
      id,
      version,
      kept: this.#keptEnd(collection, id, version),
    }));
    const texts = await this.#store.lastTexts(
      collection,
      wanted.map(({ id, version, kept }) => ({ id, version: kept === undefined ? version : noVersion })),
    );
    const states = new Map<string, LastStatesOf>();
    for (const { id, version, kept } of wanted) {
      const found = texts.get(id);
      if (found === undefined) break; // the texts are too long to be read together
      const end = kept ?? found.end;
      if (end !== undefined && end.version - version > changesAtOnce)
        this.#ends.set(`${id} ${collection}`, { ...end, from: version });
      const last = stateOf(found.last);
      states.set(id, end === undefined ? [last] : [last, stateOf(end.text)]);
    }
    return states;
  }

  #keptEnd(collection: string, id: string, version: number): LifeEnd | undefined {
    const kept = this.#ends.get(`${id} ${collection}`);
    return kept !== undefined && kept.from <= version && version <= kept.version ? kept : undefined;
  }
}

/** Higher than every version, so the store searches no end. */
const noVersion = Number.MAX_SAFE_INTEGER;

function stateOf(text: string | undefined): State | undefined {
  return text === undefined ? undefined : JSON.parse(text);
}

function before(change: LoggedChange): State | undefined {
  return change.superseded === undefined ? undefined : parsed(change, "superseded");
}

/** The lives of resources, as far as one read of the log knows them. */
class Timeline {
  readonly #last: ReadonlyMap<string, LoggedChange>;
  readonly #deletes: ReadonlyMap<string, readonly LoggedChange[]>;

  constructor(changes: readonly LoggedChange[]) {
    this.#last = new Map(changes.map((change) => [change.id, change]));
    this.#deletes = Map.groupBy(
      changes.filter(({ kind }) => kind === "deleted"),
      ({ id }) => id,
    );
  }

  /** The last change of a resource of the read. */
  lastOf(id: string): LoggedChange {
    return this.#last.get(id) as LoggedChange;
  }

  /** The delete that ends the life of a change; `undefined` if it is not in this read. */
  endOf({ id, version }: LoggedChange): LoggedChange | undefined {
    return this.#deletes.get(id)?.find((change) => change.version >= version);
  }

  /** The last states for a change of a read that reached the end of the log: it has the last change of each of its resources. */
  statesOf(change: LoggedChange): LastStatesOf {
    const last = this.lastOf(change.id);
    const end = this.endOf(change);
    const states = [last.text === undefined ? before(last) : parsed(last, "text")];
    return end === undefined ? states : [...states, before(end)];
  }
}

const timelines = new WeakMap<readonly LoggedChange[], Timeline>();

function timelineOf(changes: readonly LoggedChange[]): Timeline {
  const known = timelines.get(changes) ?? new Timeline(changes);
  timelines.set(changes, known);
  return known;
}
