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
import type { PastLookups } from "./changed-resources.ts";
import { changesSince } from "./changes-since.ts";

/** The change log of a store in one snapshot. `HistoryStore` describes the results. */
export interface LogSnapshot<Collection> {
  changesAfter(collection: Collection, sequence: number, limit: number): LogSlice | Promise<LogSlice>;
  changeAt(collection: Collection, sequence: number): LoggedKey | undefined | Promise<LoggedKey | undefined>;
  changes(
    collection: Collection,
    id: string,
    page: { before: number; limit: number },
  ): readonly ResourceChange[] | Promise<readonly ResourceChange[]>;
  version(
    collection: Collection,
    id: string,
    version: number,
  ): Stored | undefined | Promise<Stored | undefined>;
  at(collection: Collection, id: string, at: number): Stored | undefined | Promise<Stored | undefined>;
  past(collection: Collection): PastLookups;
}

/** A collection, or one of its resources. */
export interface Place {
  collection: string;
  id?: string;
}

/** A read of the change log. */
export type LogRead<Collection, T> = (log: LogSnapshot<Collection>, collection: Collection) => T | Promise<T>;

/** The reads of the history. A store adds `readLog`. */
export abstract class LoggedStore<Collection> implements Omit<HistoryStore, "logHeads" | "onCommit"> {
  /**
   * Calls `read` with the change log in one snapshot. `undefined` if the collection does not exist, or cannot have the id.
   * `lengthOf` returns the length of the texts in a result, in characters.
   */
  protected abstract readLog<T>(
    place: Place,
    read: LogRead<Collection, T>,
    lengthOf?: (result: T) => number,
  ): Promise<T | undefined>;

  async changesAfter(collection: string, sequence: number, limit: number): Promise<LogSlice> {
    const read: LogRead<Collection, LogSlice> = (log, known) => log.changesAfter(known, sequence, limit);
    return (await this.readLog({ collection }, read, sliceLength)) ?? emptySlice;
  }

  changeAt(collection: string, sequence: number): Promise<LoggedKey | undefined> {
    return this.readLog({ collection }, (log, known) => log.changeAt(known, sequence));
  }

  async changesOf(key: Key, page: { before: number; limit: number }): Promise<readonly ResourceChange[]> {
    return (await this.readLog(key, (log, known) => log.changes(known, key.id, page))) ?? [];
  }

  version(key: Key, version: number): Promise<Stored | undefined> {
    return this.readLog(key, (log, known) => log.version(known, key.id, version), textLength);
  }

  versionAt(key: Key, at: number): Promise<Stored | undefined> {
    return this.readLog(key, (log, known) => log.at(known, key.id, at), textLength);
  }

  changesSince(collections: readonly string[], at: number): Promise<readonly ChangesSince[]> {
    return changesSince(collections, at, (collection) => {
      const read = <T>(work: (past: PastLookups) => T | Promise<T>) =>
        this.readLog({ collection }, (log, known) => work(log.past(known)));
      return {
        sequences: async (time) => (await read((past) => past.sequences(time))) ?? { current: 0, past: 0 },
        changes: async (after, limit) => (await read((past) => past.changes(after, limit))) ?? [],
      };
    });
  }

  async textsOf(
    collection: string,
    changed: readonly ChangedResource[],
    from: number,
  ): Promise<readonly ChangedTexts[]> {
    const read: LogRead<Collection, readonly ChangedTexts[]> = (log, known) =>
      log.past(known).texts(changed, from, true);
    return (await this.readLog({ collection }, read)) ?? [];
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
