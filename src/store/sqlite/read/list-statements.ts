/** The prepared statements of lists. Clients send the same few lists again and again. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { GenerationalCache } from "./generational-cache.ts";

/**
 * The limits of one of the two generations. SQLite needs 4 to 60 bytes for each character of a statement, so both
 * generations together take about 5 MB.
 */
const limits = {
  weight: 64 * 1024,
  count: 250,
  weigh: ({ sourceSQL }: StatementSync) => sourceSQL.length,
};

/** Prepares the statements of lists, and keeps recently used ones. */
export class ListStatements {
  readonly #database: DatabaseSync;
  #recent = new GenerationalCache<StatementSync>(limits);

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** The statement with this text. Its rows are arrays. */
  get(sql: string): StatementSync {
    const known = this.#recent.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    statement.setReturnArrays(true);
    if (sql.length <= limits.weight) this.#recent.set(sql, statement);
    return statement;
  }

  /** Drops all statements. A statement that failed reports the same error at its next use. */
  clear(): void {
    this.#recent = new GenerationalCache(limits);
  }
}
