/** The change logs on the writer's connection. `resources.ts` adds the changes. The caller keeps a transaction open. */
import type { DatabaseSync } from "node:sqlite";
import { Gaps } from "../file/gaps.ts";
import { changesTable } from "../file/tables.ts";
import { logPlans, type PlanRunner } from "../sqlite-dialect.ts";

/** The change logs of all collections. */
export class ChangeLog {
  readonly #database: DatabaseSync;
  readonly #plans: PlanRunner;
  /** Whether the store keeps changes. */
  readonly isKept: boolean;
  readonly #gaps: Gaps;

  constructor(database: DatabaseSync, plans: PlanRunner, isKept: boolean) {
    this.#database = database;
    this.#plans = plans;
    this.isKept = isKept;
    this.#gaps = new Gaps(database);
  }

  /** Notes that the log of a collection can lack changes up to a sequence. */
  noteGaps(number: number, sequence: number): void {
    this.#gaps.note(number, sequence);
  }

  /** Notes gaps in the logs that lack their last change: history was off when it was made. */
  noteGapsAtEnd(): void {
    if (!this.isKept) return;
    for (const { number, sequence } of this.#plans.run(logPlans.heads())) {
      const lacksLast = this.#plans.run(logPlans.after(number, sequence - 1, 1)).length === 0;
      if (sequence > 0 && lacksLast) this.noteGaps(number, sequence);
    }
  }

  /** Removes all changes of a resource. Returns their number. */
  erase(number: number, id: string): number {
    return Number(this.#database.prepare(`delete from ${changesTable(number)} where id = ?`).run(id).changes);
  }
}
