/**
 * Reads and shortens the change logs on the writer's connection. `resources.ts` adds the changes. The caller of a method that
 * writes keeps a transaction open.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { owedIn, statesOfWebhooks } from "../../core/owed.ts";
import type { ChangeLogs } from "../../core/retention.ts";
import { readCatalogue } from "../file/catalogue.ts";
import { Gaps } from "../file/gaps.ts";
import { changesTable, resourcesTable } from "../file/tables.ts";

/** The prepared statements of one collection. */
interface Statements {
  after: StatementSync;
  remove: StatementSync;
  erase: StatementSync;
}

/** The change logs of all collections. */
export class ChangeLog implements ChangeLogs {
  readonly #database: DatabaseSync;
  /** Whether the store keeps changes. */
  readonly isKept: boolean;
  readonly #heads: StatementSync;
  readonly #collections = new Map<number, Statements>();
  readonly #gaps: Gaps;

  constructor(database: DatabaseSync, isKept: boolean) {
    this.#database = database;
    this.isKept = isKept;
    this.#heads = database.prepare("select number, sequence from heads order by number");
    this.#gaps = new Gaps(database);
  }

  /** Notes that the log of a collection can lack changes up to a sequence. */
  noteGaps(number: number, sequence: number): void {
    this.#gaps.note(number, sequence);
  }

  /** Notes gaps in the logs that lack their last change: history was off when it was made. */
  noteGapsAtEnd(): void {
    if (!this.isKept) return;
    for (const { number, sequence } of this.heads()) {
      if (sequence > 0 && this.after(number, sequence - 1, 1).length === 0) this.noteGaps(number, sequence);
    }
  }

  heads() {
    return this.#heads
      .all()
      .map(({ number, sequence }) => ({ number: Number(number), sequence: Number(sequence) }));
  }

  after(number: number, sequence: number, limit: number) {
    const rows = this.#statementsOf(number).after.all(sequence, limit);
    return rows.map(({ sequence, at, bytes }) => ({
      sequence: Number(sequence),
      at: Number(at),
      bytes: Number(bytes),
    }));
  }

  owed() {
    const collections = readCatalogue(this.#database);
    const states = collections.get(statesOfWebhooks);
    if (states === undefined) return new Map<number, number>();
    const rows = this.#database.prepare(`select doc from ${resourcesTable(states.number)}`).all();
    return owedIn(
      rows.map(({ doc }) => String(doc)),
      [...collections.values()],
    );
  }

  remove(number: number, upTo: number): void {
    this.#statementsOf(number).remove.run(upTo);
  }

  /** Removes all changes of a resource. Returns their number. */
  erase(number: number, id: string): number {
    return Number(this.#statementsOf(number).erase.run(id).changes);
  }

  #statementsOf(number: number): Statements {
    const known = this.#collections.get(number);
    if (known !== undefined) return known;
    const table = changesTable(number);
    const statements = {
      after: this.#database.prepare(
        `select sequence, at, coalesce(octet_length(superseded), 0) as bytes from ${table}
         where sequence > ? order by sequence limit ?`,
      ),
      remove: this.#database.prepare(`delete from ${table} where sequence <= ?`),
      erase: this.#database.prepare(`delete from ${table} where id = ?`),
    };
    this.#collections.set(number, statements);
    return statements;
  }
}
