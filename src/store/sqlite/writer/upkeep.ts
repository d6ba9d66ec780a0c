/** Maintenance of the file between writes: building search indexes, removing old data, and tidying up at the end. */
import { Retention } from "../../core/retention.ts";
import type { History } from "../../port/history.ts";
import { InvalidStateError } from "../file/failures.ts";
import { logPlans } from "../sqlite-dialect.ts";
import type { TaskParts } from "./commits.ts";

/** The limits of one step in the change logs. No write happens during a step. */
const stepLimits = { changes: 100, bytes: 256 * 1024 };

/** Maintains the file in small steps. */
export class Upkeep {
  readonly #parts: TaskParts;
  readonly #retention: Retention;

  constructor(parts: TaskParts, history: History) {
    this.#parts = parts;
    this.#retention = new Retention(logPlans, history, stepLimits);
  }

  /** Builds the next part of a search index. Returns whether there is more to build. */
  buildIndex(): boolean {
    const { search, transactions } = this.#parts;
    this.#requireNoImport();
    return transactions.run(() => search.buildNext());
  }

  /** Removes some expired receipts or old changes. Returns whether there can be more. */
  trim(now: number): boolean {
    const { receipts, plans, transactions } = this.#parts;
    this.#requireNoImport();
    if (plans.run(receipts.hasExpired(now))) return transactions.run(() => plans.run(receipts.trim(now)));
    return transactions.run(() => plans.run(this.#retention.step(now)));
  }

  /** Changes a value in the file, to find out whether the disk has space. SQLite would not write an equal value. */
  probe(): void {
    const { database, transactions } = this.#parts;
    transactions.run(() =>
      database.exec(
        "insert into meta values ('probes', 1) on conflict (name) do update set value = value + 1",
      ),
    );
  }

  /** Empties the log before the file is closed. */
  tidyUp(): void {
    this.#parts.database.exec("pragma wal_checkpoint(truncate)");
  }

  #requireNoImport(): void {
    if (this.#parts.transactions.isKeptOpen) throw new InvalidStateError("An import is in progress.");
  }
}
