/** Reads earlier states of resources from the change log. */

import type { PastLookups } from "../../core/changed-resources.ts";
import { decideAsync } from "../../core/decision.ts";
import { type HistoryLookups, SliceSize, stateAt, versionOf, withTexts } from "../../core/history-reads.ts";
import type { LogSnapshot } from "../../core/logged-store.ts";
import type { ChangeKind, LoggedChange, LoggedKey, LogSlice, ResourceChange } from "../../port/change-log.ts";
import type { Stored } from "../../port/stored.ts";
import type { Connections, Row, Statement } from "../connection/connections.ts";
import { transact, transactionModes } from "../connection/transaction.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { keyOf } from "../tables/id-keys.ts";
import { selectLogHead } from "../tables/statements.ts";
import { pastPageLookups } from "./past-page.ts";
import { type Run, toLoggedVersion, toStored } from "./reads.ts";
import {
  selectChain,
  selectChanges,
  selectChangesOf,
  selectChangeUpTo,
  selectOldestChange,
  selectResources,
  selectSequenceAt,
} from "./statements.ts";

/** Reads the change log in one snapshot. */
export function readHistory<T>(
  connections: Connections,
  read: (history: HistoryReader) => Promise<T>,
): Promise<T> {
  return transact(connections, transactionModes.snapshot, (transaction) =>
    read(new HistoryReader((statement) => transaction.run(statement))),
  );
}

/** The change log in one snapshot. */
export class HistoryReader implements LogSnapshot<NumberedCollection> {
  readonly #run: Run;

  constructor(run: Run) {
    this.#run = run;
  }

  /** The change log of a collection after a sequence: at most `limit` changes, or `maxSliceBytes` of text. */
  async changesAfter(collection: NumberedCollection, sequence: number, limit: number): Promise<LogSlice> {
    const changes: LoggedChange[] = [];
    const size = new SliceSize();
    for (let rows = size.next(limit); rows > 0; rows = size.next(limit)) {
      const read = await this.#read(collection, changes.at(-1)?.sequence ?? sequence, rows);
      changes.push(...read);
      if (read.length < rows) break;
      size.note(read);
    }
    const { rows } = await this.#run(selectLogHead(collection.number));
    return { changes, sequence: Number(rows[0]?.[0] ?? 0), gapsUpTo: Number(rows[0]?.[1] ?? 0) };
  }

  /** The change with a sequence. */
  async changeAt({ number }: NumberedCollection, sequence: number): Promise<LoggedKey | undefined> {
    const { rows } = await this.#run(selectChanges(number, sequence - 1, 1));
    const [row] = rows;
    if (row === undefined || Number(row[0]) !== sequence) return undefined;
    const { version, kind, at } = toResourceChange(row);
    return { id: String(row[6]), version, kind, at };
  }

  async #read(collection: NumberedCollection, after: number, limit: number): Promise<LoggedChange[]> {
    const { rows } = await this.#run(selectChanges(collection.number, after, limit));
    const logged = rows.map((row) => ({
      ...toResourceChange(row),
      id: String(row[6]),
      kept: row[7] ?? null,
    }));
    const current = await this.#currentOf(
      collection,
      logged.map(({ id }) => id),
    );
    return decideAsync(withTexts(logged), (id) => ({
      ...this.#lookupsOf(collection, id),
      current: () => current.get(id),
    }));
  }

  /** The changes of a resource with versions below `before`, newest first. */
  async changes({ number }: NumberedCollection, id: string, page: { before: number; limit: number }) {
    const { rows } = await this.#run(selectChangesOf(number, id, page));
    return rows.map(toResourceChange);
  }

  /** A version of a resource: the current one, or one whose change is in the log. */
  version(collection: NumberedCollection, id: string, version: number): Promise<Stored | undefined> {
    return decideAsync(versionOf(id, version), this.#lookupsOf(collection, id));
  }

  /** The resource as it was at a time. */
  at(collection: NumberedCollection, id: string, at: number): Promise<Stored | undefined> {
    return decideAsync(stateAt(id, at), this.#lookupsOf(collection, id));
  }

  /** The lookups for the changes after a time. */
  past(collection: NumberedCollection): PastLookups {
    return pastPageLookups(collection, this.#run);
  }

  async #currentOf(
    collection: NumberedCollection,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, Stored>> {
    const keys = [...new Set(ids)].map((id) => keyOf(collection.idKind, id));
    const { rows } = await this.#run(selectResources(collection.number, keys));
    return new Map(rows.map((row) => toStored(collection, row)).map((stored) => [stored.id, stored]));
  }

  #lookupsOf(collection: NumberedCollection, id: string): HistoryLookups {
    const { number, idKind } = collection;
    const logged = (row: Row | undefined) => row && toLoggedVersion(row);
    const first = async (statement: Statement) => (await this.#run(statement)).rows[0];
    return {
      current: async () => {
        const row = await first(selectResources(number, [keyOf(idKind, id)]));
        return row && toStored(collection, row);
      },
      sequenceAt: async (at) => Number((await first(selectSequenceAt(number, at)))?.[0]),
      upTo: async (version) => logged(await first(selectChangeUpTo(number, id, version))),
      oldest: async () => logged(await first(selectOldestChange(number, id))),
      chain: async (version) => {
        const { rows } = await this.#run(selectChain(number, id, version));
        return rows.map(([each, kept]) => ({ version: Number(each), kept: kept ?? null }));
      },
    };
  }
}

function toResourceChange([sequence, version, kind, at, principal, group]: Row): ResourceChange {
  return {
    sequence: Number(sequence),
    version: Number(version),
    kind: kind as ChangeKind,
    at: Number(at),
    principal: principal ?? undefined,
    group: group == null ? undefined : Number(group),
  };
}
