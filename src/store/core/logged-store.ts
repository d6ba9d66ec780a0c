/** A store with a change log. Both stores read the history in the same way, and differ only in how they read the log. */

import type { ChangedResource, ChangedTexts } from "../port/change-log.ts";
import {
  type ChangesSince,
  emptySlice,
  type LoggedKey,
  type LogSlice,
  type ResourceChange,
} from "../port/change-log.ts";
import type { HistoryStore } from "../port/store.ts";
import type { Key, Stored } from "../port/stored.ts";
import type { Plan } from "../sql/plans.ts";
import { changesSince } from "./changes-since.ts";
import type { HistoryPlans } from "./history-plans.ts";

/** A collection, or one of its resources. */
export interface Place {
  collection: string;
  id?: string;
}

/** The reads of the history. A store adds `readLog`. */
export abstract class LoggedStore implements Omit<HistoryStore, "logHeads" | "onCommit"> {
  /**
   * Runs a plan on the change log of a collection, in one snapshot. `undefined` if the collection does not exist, or cannot have
   * the id. `lengthOf` returns the length of the texts in a result, in characters.
   */
  protected abstract readLog<T>(
    place: Place,
    plan: (history: HistoryPlans) => Plan<T>,
    lengthOf?: (result: T) => number,
  ): Promise<T | undefined>;

  async changesAfter(collection: string, sequence: number, limit: number): Promise<LogSlice> {
    const plan = (history: HistoryPlans) => history.changesAfter(sequence, limit);
    return (await this.readLog({ collection }, plan, sliceLength)) ?? emptySlice;
  }

  changeAt(collection: string, sequence: number): Promise<LoggedKey | undefined> {
    return this.readLog({ collection }, (history) => history.changeAt(sequence));
  }

  async changesOf(key: Key, page: { before: number; limit: number }): Promise<readonly ResourceChange[]> {
    return (await this.readLog(key, (history) => history.changesOf(key.id, page))) ?? [];
  }

  version(key: Key, version: number): Promise<Stored | undefined> {
    return this.readLog(key, (history) => history.version(key.id, version), textLength);
  }

  versionAt(key: Key, at: number): Promise<Stored | undefined> {
    return this.readLog(key, (history) => history.at(key.id, at), textLength);
  }

  changesSince(collections: readonly string[], at: number): Promise<readonly ChangesSince[]> {
    return changesSince(collections, at, (collection) => ({
      sequences: async (time) =>
        (await this.readLog({ collection }, (history) => history.sequences(time))) ?? { current: 0, past: 0 },
      changes: async (after, limit) =>
        (await this.readLog({ collection }, (history) => history.keysAfter(after, limit))) ?? [],
    }));
  }

  async textsOf(
    collection: string,
    changed: readonly ChangedResource[],
    from: number,
  ): Promise<readonly ChangedTexts[]> {
    return (await this.readLog({ collection }, (history) => history.texts(changed, from, true))) ?? [];
  }
}

/** The reads of a store's history, for an object that changes only other parts of the store. */
export function historyOf(store: HistoryStore): HistoryStore {
  return {
    changesAfter: (...args) => store.changesAfter(...args),
    changeAt: (...args) => store.changeAt(...args),
    logHeads: (collections) => store.logHeads(collections),
    onCommit: (listener) => store.onCommit(listener),
    changesOf: (...args) => store.changesOf(...args),
    version: (...args) => store.version(...args),
    versionAt: (...args) => store.versionAt(...args),
    changesSince: (...args) => store.changesSince(...args),
    textsOf: (...args) => store.textsOf(...args),
  };
}

function sliceLength({ changes }: LogSlice): number {
  return changes.reduce((sum, { text = "" }) => sum + text.length, 0);
}

/** The length of the text of a resource, in characters. */
export function textLength(resource: Stored | undefined): number {
  return resource?.text.length ?? 0;
}
