/** Removes resources for good. */
import type { DatabaseSync } from "node:sqlite";
import { erasedOf, judgeErasure } from "../../commits/erasure.ts";
import type { WriterAnswer } from "../commit/protocol.ts";
import { collectionOf, type NumberedCollection } from "../file/catalogue.ts";
import type { ChangeLog } from "./change-log.ts";
import type { Commits } from "./commits.ts";
import type { Heads } from "./heads.ts";
import type { Receipts } from "./receipts.ts";
import type { SearchTables } from "./search-tables.ts";
import type { Transactions } from "./transactions.ts";

/** What erasing works on. */
export interface ErasingParts {
  database: DatabaseSync;
  collections: ReadonlyMap<number, NumberedCollection>;
  heads: Heads;
  search: SearchTables;
  log: ChangeLog;
  receipts: Receipts;
  commits: Commits;
  transactions: Transactions;
}

/** Erases one resource at a time. */
export class Erasing {
  readonly #parts: ErasingParts;

  constructor(parts: ErasingParts) {
    this.#parts = parts;
  }

  /** Removes a resource and all that is kept of it, and does to those that refer to it what a delete would. */
  erase(number: number, id: string): WriterAnswer {
    const { collections, heads, log, receipts, commits, search, transactions } = this.#parts;
    const collection = collectionOf(collections, number);
    transactions.begin();
    const { result } = commits.decide((judging) => judgeErasure(judging, { collection, id }));
    if (result !== undefined && "refusal" in result) {
      transactions.rollBack();
      return { kind: "problem", ...result.refusal };
    }
    const logged = log.erase(number, id);
    receipts.erase(id);
    if (result !== undefined || logged > 0) {
      search.rebuild(number);
      const head = heads.of(number);
      if (result === undefined) head.sequence++; // who follows the log must notice
      log.noteGaps(number, head.sequence);
    }
    transactions.commit();
    this.#writeAnew();
    return { kind: "erased", ...erasedOf(result, logged, log.isKept) };
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
