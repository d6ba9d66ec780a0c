/** What the writer does beside writes: it gathers words, removes what is no longer kept, and tidies up the file. */
import type { DatabaseSync } from "node:sqlite";
import { decide } from "../../decision.ts";
import type { History } from "../../history.ts";
import { Retention } from "../../retention.ts";
import { Mistake } from "../file/failures.ts";
import type { ChangeLog } from "./change-log.ts";
import type { Heads } from "./heads.ts";
import type { IdBlocks } from "./id-blocks.ts";
import type { Receipts } from "./receipts.ts";
import type { SearchTables } from "./search-tables.ts";
import type { Transactions } from "./transactions.ts";

/** What one step removes from change logs at most: no write happens meanwhile. */
const slice = { changes: 100, bytes: 256 * 1024 };

/** What upkeep works on. */
export interface UpkeepParts {
  database: DatabaseSync;
  heads: Heads;
  ids: IdBlocks;
  search: SearchTables;
  log: ChangeLog;
  receipts: Receipts;
  transactions: Transactions;
}

/** Keeps the file as it should be. */
export class Upkeep {
  readonly #parts: UpkeepParts;
  readonly #retention: Retention;

  constructor(parts: UpkeepParts, history: History) {
    this.#parts = parts;
    this.#retention = new Retention(history, slice);
  }

  /** Gathers a slice of words. Gives whether some are left. */
  gather(): boolean {
    const { search, transactions } = this.#parts;
    this.#requireFree();
    return transactions.run(() => search.gather());
  }

  /** Removes a slice of receipts or changes that are no longer to be kept. Gives whether there may be more. */
  trim(now: number): boolean {
    const { receipts, log, transactions } = this.#parts;
    this.#requireFree();
    if (receipts.isDue(now)) {
      transactions.run(() => receipts.trim(now));
      return true;
    }
    return decide(this.#retention.step(now), {
      heads: () => log.heads(),
      after: (...changes) => log.after(...changes),
      remove: (...changes) => transactions.run(() => log.remove(...changes)),
    });
  }

  /** Writes something, to see whether there is space. A value that stays the same would not be written at all. */
  probe(): void {
    const { database, transactions } = this.#parts;
    transactions.run(() =>
      database.exec(
        "insert into meta values ('probes', 1) on conflict (name) do update set value = value + 1",
      ),
    );
  }

  /** An orderly end leaves no gap in integer ids and no log beside the file. */
  tidyUp(): void {
    const { database, ids, heads, transactions } = this.#parts;
    transactions.run(() => {
      for (const collection of ids.unfinished()) ids.giveBack(collection, heads.of(collection));
    });
    database.exec("pragma wal_checkpoint(truncate)");
  }

  #requireFree(): void {
    if (this.#parts.transactions.isKeptOpen) throw new Mistake("An import is in progress.");
  }
}
