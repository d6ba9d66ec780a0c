/** Erases resources with their history. */
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

/** The parts of the writer that an erasure uses. */
export interface ErasureParts {
  database: DatabaseSync;
  collections: ReadonlyMap<number, NumberedCollection>;
  heads: Heads;
  search: SearchTables;
  log: ChangeLog;
  receipts: Receipts;
  commits: Commits;
  transactions: Transactions;
}

/** Erases resources, one at a time. */
export class Erasure {
  readonly #parts: ErasureParts;

  constructor(parts: ErasureParts) {
    this.#parts = parts;
  }

  /** Removes a resource, its changes and its receipts. Resources that refer to it change as in a delete (`onDelete`). */
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
      if (result === undefined) head.sequence++; // subscribers must notice the erasure
      log.noteGaps(number, head.sequence);
    }
    transactions.commit();
    this.#vacuum();
    return { kind: "erased", ...erasedOf(result, logged, log.isKept) };
  }

  /** Rewrites the file, because its free space can still contain old texts. */
  #vacuum(): void {
    const { database } = this.#parts;
    database.limits.attach = 1; // VACUUM attaches a temporary database
    try {
      database.exec("vacuum; pragma wal_checkpoint(truncate)");
    } finally {
      database.limits.attach = 0;
    }
  }
}
