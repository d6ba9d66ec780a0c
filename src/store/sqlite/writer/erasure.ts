/** Erases resources with their history. */
import type { DatabaseSync } from "node:sqlite";
import { erasedOf, judgeErasure } from "../../core/commits/erasure.ts";
import type { ReceiptPlans } from "../../core/receipt-plans.ts";
import type { WriterAnswer } from "../commit/protocol.ts";
import { collectionOf, type NumberedCollection } from "../file/catalogue.ts";
import { InvalidStateError } from "../file/failures.ts";
import {
  erasureName,
  forgetErasures,
  noteErasure,
  rewriteFile,
  unfinishedErasures,
} from "../file/unfinished-erasures.ts";
import { logPlans, type PlanRunner } from "../sqlite-dialect.ts";
import type { Commits } from "./commits.ts";
import type { EntryTables } from "./entry-tables.ts";
import type { Heads } from "./heads.ts";
import type { Resources } from "./resources.ts";
import type { SearchTables } from "./search-tables.ts";
import type { Transactions } from "./transactions.ts";

/** The parts of the writer that an erasure uses. */
export interface ErasureParts {
  database: DatabaseSync;
  collections: ReadonlyMap<number, NumberedCollection>;
  heads: Heads;
  entries: EntryTables;
  search: SearchTables;
  isLogged: boolean;
  receipts: ReceiptPlans;
  plans: PlanRunner;
  resources: Resources;
  commits: Commits;
  transactions: Transactions;
}

/** Erases resources, one at a time. */
export class Erasure {
  readonly #parts: ErasureParts;
  /** The erasures of this run of the program, and those of earlier runs that this one has finished. */
  readonly #own = new Set<string>();
  readonly #finished = new Set<string>();

  constructor(parts: ErasureParts) {
    this.#parts = parts;
  }

  /**
   * Removes a resource, its changes, its receipts and its id. Resources that refer to it change as in a delete (`onDelete`). Afterwards,
   * `finish` must remove the text from the unused parts of the files.
   */
  erase(number: number, id: string): WriterAnswer {
    const {
      database,
      collections,
      entries,
      heads,
      isLogged,
      receipts,
      plans,
      resources,
      commits,
      search,
      transactions,
    } = this.#parts;
    const collection = collectionOf(collections, number);
    const name = erasureName(database, number, id);
    const isResumed = this.#finished.has(name) || unfinishedErasures(database).includes(name);
    transactions.begin();
    const { result } = commits.decide((judging) => judgeErasure(judging, { collection, id }));
    if (result !== undefined && "refusal" in result) {
      transactions.rollBack();
      return { kind: "problem", ...result.refusal };
    }
    const logged = plans.run(logPlans.erase(number, id));
    plans.run(receipts.erase(id));
    if (result !== undefined || logged > 0) {
      entries.removeUnused(number);
      search.rebuild(number);
      const head = heads.of(number);
      if (result === undefined) head.sequence++; // subscribers must notice the erasure
      plans.run(logPlans.noteGaps(number, head.sequence));
    }
    const isKnown = resources.hideDeleted(collection, id);
    if (isKnown) {
      noteErasure(database, name);
      this.#own.add(name);
    }
    transactions.commit();
    const erased = erasedOf(result, { logged, isLogged, isKnown });
    return { kind: "erased", ...erased, ...(isResumed && { isResumed }) };
  }

  /**
   * Rewrites the file and empties its log, because unused parts of both can still contain old texts. Throws the error of SQLite, and
   * InvalidStateError if another program reads the store. The marks of erasures then stay, and a later call does the work.
   */
  finish(): void {
    const { database, transactions } = this.#parts;
    const names = unfinishedErasures(database);
    rewriteFile(database);
    const { busy } = database.prepare("pragma wal_checkpoint(truncate)").get() as { busy: number };
    if (busy !== 0) throw new InvalidStateError("another program reads the store");
    transactions.run(() => forgetErasures(database));
    for (const name of names) if (!this.#own.has(name)) this.#finished.add(name);
  }
}
