/** Removes resources for good. */
import type { DatabaseSync } from "node:sqlite";
import { collectionOf, type NumberedCollection } from "../catalogue.ts";
import type { Refusal, WriterAnswer } from "../protocol.ts";
import type { ChangeLog } from "./change-log.ts";
import type { Following } from "./following.ts";
import type { Groups } from "./groups.ts";
import type { Receipts } from "./receipts.ts";
import type { References } from "./references.ts";
import type { Before, Resources } from "./resources.ts";
import type { SearchTables } from "./search-tables.ts";
import type { Transactions } from "./transactions.ts";

/** How many of those that keep a resource from being erased are named. */
const shownReferrers = 5;

/** What erasing works on. */
export interface ErasingParts {
  database: DatabaseSync;
  collections: ReadonlyMap<number, NumberedCollection>;
  references: References;
  search: SearchTables;
  log: ChangeLog;
  receipts: Receipts;
  resources: Resources;
  groups: Groups;
  following: Following;
  transactions: Transactions;
}

/** Erases one resource at a time. */
export class Erasing {
  readonly #parts: ErasingParts;

  constructor(parts: ErasingParts) {
    this.#parts = parts;
  }

  /** Removes a resource and all that is kept of it, and does to those that refer to it what a delete would. */
  erase(collection: number, id: string): WriterAnswer {
    const { log, receipts, resources, search, following, transactions } = this.#parts;
    transactions.begin();
    const before = resources.find({ collection, id });
    const refusal = before === undefined ? undefined : this.#remove({ collection, id }, before);
    const followed = following.take();
    if (refusal !== undefined) {
      transactions.rollBack();
      return { kind: "problem", ...refusal };
    }
    const changes = log.erase(collection, id);
    receipts.erase(id);
    if (before !== undefined || changes > 0) search.rebuild(collection);
    transactions.commit();
    this.#writeAnew();
    return { kind: "erased", resource: before !== undefined, changes, followed };
  }

  #remove(key: { collection: number; id: string }, { version }: Before): Refusal | undefined {
    const { resources, groups, following } = this.#parts;
    groups.begin(1);
    const sequence = resources.erase(key);
    const changes = [{ ...key, expect: version, next: null }];
    const commit = { changes, at: Date.now(), principal: null, receipt: undefined };
    const refusal = following.follow(commit, [sequence]);
    if (refusal?.code !== "REFERENCED") return refusal;
    return { ...refusal, detail: `${refusal.detail}${this.#nameReferrers(key)}` };
  }

  #nameReferrers({ collection, id }: { collection: number; id: string }): string {
    const { references, collections } = this.#parts;
    const found = references
      .to(collectionOf(collections, collection))
      .flatMap(({ from, find }) => find(id, shownReferrers).map((resource) => `${from.name}/${resource.id}`));
    const some = [...new Set(found)].slice(0, shownReferrers);
    return some.length === 0 ? "" : ` Among them: ${some.join(", ")}.`;
  }

  /** What was changed earlier may still lie in the gaps between the contents of the file. */
  #writeAnew(): void {
    const { database } = this.#parts;
    database.limits.attach = 1; // which is how SQLite writes the new file
    try {
      database.exec("vacuum; pragma wal_checkpoint(truncate)");
    } finally {
      database.limits.attach = 0;
    }
  }
}
