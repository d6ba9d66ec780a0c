/**
 * The last states of the resources that changes are about: as they are now, or as they were before their delete. A feed shows the content
 * of a change only to those who may also see the last state, so what was withdrawn is withdrawn from the feed too.
 */
import type { LoggedChange } from "../store/port/change-log.ts";
import type { HistoryStore } from "../store/port/store.ts";
import type { CommitWatch } from "./commit-watch.ts";
import { parsed } from "./event.ts";
import { type Changes, changesAtOnce } from "./shared-log.ts";
import { ReadsUnderWay } from "./shared-reads.ts";

/** A resource, as its text says. */
export type State = Readonly<Record<string, unknown>>;

/** The last state of the resource of a change, by the index of the change; `undefined` if the store does not know it. */
export type LastState = (index: number) => State | undefined | Promise<State | undefined>;

/** The last states by the ids of the resources. */
type States = ReadonlyMap<string, State | undefined>;

/** Reads last states for all subscribers. */
export class LastStates {
  readonly #store: Pick<HistoryStore, "lastTexts">;
  readonly #watch: CommitWatch;
  /** Subscribers at the same place share a read in progress. No state is kept: a later change can withdraw it. */
  readonly #reads = new ReadsUnderWay<States>();

  constructor(store: Pick<HistoryStore, "lastTexts">, watch: CommitWatch) {
    this.#store = store;
    this.#watch = watch;
  }

  /** The last states of the resources that the changes of one read of the log are about. */
  of(collection: string, { changes, isEnd }: Changes, { isShared }: { isShared: boolean }): LastState {
    if (isEnd) return (index) => stateAtEnd(changes, index);
    let known: States = new Map();
    return async (index) => {
      const { id, sequence } = changes[index] as LoggedChange;
      if (!known.has(id)) {
        const ids = [...new Set(changes.slice(index, index + changesAtOnce).map((change) => change.id))];
        const read = () => this.#read(collection, ids);
        const place = `${this.#watch.commits(collection)} ${sequence} ${ids.length} ${collection}`;
        known = await (isShared ? this.#reads.read(place, read) : read());
      }
      return known.get(id);
    };
  }

  async #read(collection: string, ids: readonly string[]): Promise<States> {
    const texts = await this.#store.lastTexts(collection, ids);
    return new Map([...texts].map(([id, text]) => [id, text === undefined ? undefined : JSON.parse(text)]));
  }
}

/** The last change of each resource in a read. */
const lastChanges = new WeakMap<readonly LoggedChange[], ReadonlyMap<string, LoggedChange>>();

/** A read that reached the end of the log has the last change of each of its resources. */
function stateAtEnd(changes: readonly LoggedChange[], index: number): State | undefined {
  const last = lastChanges.get(changes) ?? new Map(changes.map((change) => [change.id, change]));
  lastChanges.set(changes, last);
  const change = last.get((changes[index] as LoggedChange).id) as LoggedChange;
  if (change.text !== undefined) return parsed(change, "text");
  return change.superseded === undefined ? undefined : parsed(change, "superseded");
}
