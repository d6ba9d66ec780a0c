/** The change log on the connection that writes. The caller of what changes it holds a transaction open. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Logs } from "../../retention.ts";
import { Gaps } from "../file/gaps.ts";
import { changesIndex, changesTable } from "../file/tables.ts";

/** The prepared statements of one collection. */
interface Statements {
  after: StatementSync;
  remove: StatementSync;
  last: StatementSync;
  erase: StatementSync;
}

/** The logs of all collections. */
export class ChangeLog implements Logs {
  readonly #database: DatabaseSync;
  /** Whether changes are kept at all. */
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

  /** Gives a log from before there was a history what it is found by. */
  fit(number: number): void {
    this.#database.exec(changesIndex(number));
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
    const rows = this.#of(number).after.all(sequence, limit);
    return rows.map(({ sequence, at, bytes }) => ({
      sequence: Number(sequence),
      at: Number(at),
      bytes: Number(bytes),
    }));
  }

  remove(number: number, upTo: number): void {
    this.#of(number).remove.run(upTo);
  }

  /** The version that a resource's last change made; `undefined` where none is kept. */
  lastVersion(number: number, id: string): number | undefined {
    const version = this.#of(number).last.get(id)?.version;
    return version === undefined ? undefined : Number(version);
  }

  /** Removes all changes of a resource and gives their number. */
  erase(number: number, id: string): number {
    return Number(this.#of(number).erase.run(id).changes);
  }

  #of(number: number): Statements {
    const known = this.#collections.get(number);
    if (known !== undefined) return known;
    const table = changesTable(number);
    const statements = {
      after: this.#database.prepare(
        `select sequence, at, coalesce(octet_length(superseded), 0) as bytes from ${table}
         where sequence > ? order by sequence limit ?`,
      ),
      remove: this.#database.prepare(`delete from ${table} where sequence <= ?`),
      last: this.#database.prepare(`select version from ${table} where id = ? order by version desc limit 1`),
      erase: this.#database.prepare(`delete from ${table} where id = ?`),
    };
    this.#collections.set(number, statements);
    return statements;
  }
}
