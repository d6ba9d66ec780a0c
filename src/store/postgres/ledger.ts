/** What a group of commits makes of the resources that it is about, before any of it is written. */
import type { ChangeKind } from "../change-log.ts";
import type { Receipt } from "../commit.ts";
import type { NumberedCollection } from "./catalogue.ts";

/** One state of a resource. */
export interface State {
  version: number;
  text: string;
  at: number;
}

/** A resource as it is in the database, and as the group has made it so far. */
export interface Entry {
  id: string;
  before: State | undefined;
  now: State | undefined;
}

/** Where a change came from. */
export interface Origin {
  at: number;
  principal: string | null;
  group: number | null;
}

/** A row that the change log is to have; the first of a group has sequence 1. */
export interface PendingChange extends Origin {
  /** The number of the collection. */
  collection: number;
  sequence: number;
  id: string;
  version: number;
  kind: ChangeKind;
  superseded: string | null;
}

/** A receipt that is to be kept. */
export type PendingReceipt = Receipt & { at: number };

/** Part of the ledger that belongs to one collection. */
export interface Account {
  collection: NumberedCollection;
  entries: Map<string, Entry>;
  changes: PendingChange[];
}

/** Where the ledger stood at some time. */
export type Mark = number;

/** Resources by collection and id. Whatever was written can be taken back to a mark. */
export class Ledger {
  readonly #accounts = new Map<number, Account>();
  readonly #undo: (() => void)[] = [];
  /** By their keys. */
  readonly receipts = new Map<string, PendingReceipt>();

  /** The accounts that there are, in the order of numbers. */
  get accounts(): readonly Account[] {
    return [...this.#accounts.values()].sort((a, b) => a.collection.number - b.collection.number);
  }

  /** The account of a collection. */
  of(collection: NumberedCollection): Account {
    const known = this.#accounts.get(collection.number);
    if (known !== undefined) return known;
    const account: Account = { collection, entries: new Map(), changes: [] };
    this.#accounts.set(collection.number, account);
    return account;
  }

  /** The resource, where it was taken in. */
  find(collection: NumberedCollection, id: string): Entry | undefined {
    return this.of(collection).entries.get(id);
  }

  /** Takes a resource in as it is in the database, or as not there. One that is known already stays as it is. */
  takeIn(collection: NumberedCollection, id: string, before: State | undefined): Entry {
    const { entries } = this.of(collection);
    const known = entries.get(id);
    if (known !== undefined) return known;
    const entry = { id, before, now: before };
    entries.set(id, entry);
    return entry;
  }

  /** Writes a resource's next state into the ledger and gives the place of the change. `after`: the version of a delete. */
  write(
    collection: NumberedCollection,
    change: { id: string; next: string | undefined; after?: number },
    origin: Origin,
  ): PendingChange {
    const { id, next, after = 0 } = change;
    const { changes } = this.of(collection);
    const entry = this.takeIn(collection, id, undefined);
    const { now } = entry;
    const version = (now?.version ?? after) + 1;
    const kind = next === undefined ? "deleted" : now === undefined ? "created" : "updated";
    const superseded = now?.text ?? null;
    const logged = {
      ...origin,
      collection: collection.number,
      sequence: changes.length + 1,
      id,
      version,
      kind,
      superseded,
    } as const;
    changes.push(logged);
    entry.now = next === undefined ? undefined : { version, text: next, at: origin.at };
    this.#undo.push(() => {
      entry.now = now;
      changes.pop();
    });
    return logged;
  }

  /** Keeps a receipt. */
  keep(receipt: PendingReceipt): void {
    this.receipts.set(receipt.key, receipt);
    this.#undo.push(() => this.receipts.delete(receipt.key));
  }

  /** Where the ledger stands. */
  mark(): Mark {
    return this.#undo.length;
  }

  /** Takes back what was written since the mark. */
  takeBack(mark: Mark): void {
    while (this.#undo.length > mark) this.#undo.pop()?.();
  }
}
