/**
 * The last states of the resources that changes are about: as they are now, or as they were before their delete. A feed shows the content
 * of a change only to those who may also see the last state, so what was withdrawn is withdrawn from the feed too.
 */
import type { LoggedChange } from "../store/port/change-log.ts";
import type { HistoryStore } from "../store/port/store.ts";
import type { CommitWatch } from "./commit-watch.ts";
import { type Changes, changesAtOnce } from "./shared-log.ts";
import { SharedReads } from "./shared-reads.ts";

/** A resource, as its text says. */
export type State = Readonly<Record<string, unknown>>;

/** The last state of the resource of a change, by the index of the change; `undefined` if the store does not know it. */
export type LastState = (index: number) => State | undefined | Promise<State | undefined>;

/** States by the ids of their resources. */
interface Found {
  states: ReadonlyMap<string, State | undefined>;
  isEnd: true;
}

/** Reads last states for all subscribers. */
export class LastStates {
  readonly #store: Pick<HistoryStore, "lastTexts">;
  readonly #watch: CommitWatch;
  /** Subscribers at the same place share a read in progress. A state that was read before is not used: a later change can withdraw it. */
  readonly #reads = new SharedReads<Found>({ maxSize: 1, sizeOf: () => 0 });

  constructor(store: Pick<HistoryStore, "lastTexts">, watch: CommitWatch) {
    this.#store = store;
    this.#watch = watch;
  }

  /** The last states of the resources that the changes of one read of the log are about. */
  of(collection: string, { changes, isEnd }: Changes, { isShared }: { isShared: boolean }): LastState {
    if (isEnd) return (index) => stateAtEnd(changes, index);
    let known: Found["states"] = new Map();
    return async (index) => {
      const { id, sequence } = changes[index] as LoggedChange;
      if (!known.has(id)) {
        const since = isShared ? String(this.#watch.commits(collection)) : undefined;
        const ids = [...new Set(changes.slice(index, index + changesAtOnce).map((change) => change.id))];
        known = await this.#read(collection, ids, { sequence, since });
      }
      return known.get(id);
    };
  }

  async #read(
    collection: string,
    ids: readonly string[],
    { sequence, since }: { sequence: number; since: string | undefined },
  ): Promise<Found["states"]> {
    if (since === undefined) return (await this.#readNow(collection, ids)).states;
    const place = `${sequence} ${ids.length} ${collection}`;
    return (await this.#reads.readTogether(place, since, () => this.#readNow(collection, ids))).states;
  }

  async #readNow(collection: string, ids: readonly string[]): Promise<Found> {
    const texts = await this.#store.lastTexts(collection, ids);
    const states = [...texts].map(
      ([id, text]) => [id, text === undefined ? undefined : parse(text)] as const,
    );
    return { states: new Map(states), isEnd: true };
  }
}

const parse = (text: string) => JSON.parse(text) as State;

/** The last change of each resource in a read. */
const lastChanges = new WeakMap<readonly LoggedChange[], ReadonlyMap<string, LoggedChange>>();

const lastStates = new WeakMap<LoggedChange, State | undefined>();

/** A read that reached the end of the log has the last change of each of its resources. */
function stateAtEnd(changes: readonly LoggedChange[], index: number): State | undefined {
  const last = lastChanges.get(changes) ?? new Map(changes.map((change) => [change.id, change]));
  lastChanges.set(changes, last);
  const change = last.get((changes[index] as LoggedChange).id) as LoggedChange;
  if (!lastStates.has(change)) {
    const text = change.text ?? change.superseded;
    lastStates.set(change, text === undefined ? undefined : parse(text));
  }
  return lastStates.get(change);
}
