/** Keeps the change log as long as it is wanted, on the connection that writes. Whoever calls holds a transaction open to write. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { History } from "../../history.ts";
import { changesIndex, changesTable } from "../tables.ts";

/** What one call of `trim` removes at most: nobody else writes meanwhile. */
const slice = { changes: 100, textLength: 256 * 1024 };

const dayMs = 86_400_000;

/** The prepared statements of one collection. */
interface Statements {
  oldest: StatementSync;
  remove: StatementSync;
  last: StatementSync;
  erase: StatementSync;
}

/** The logs of all collections. */
export class ChangeLog {
  readonly #database: DatabaseSync;
  readonly #history: History;
  readonly #sequence: StatementSync;
  readonly #collections = new Map<number, Statements>();

  constructor(database: DatabaseSync, history: History) {
    this.#database = database;
    this.#history = history;
    this.#sequence = database.prepare("select sequence from heads where number = ?");
  }

  /** Whether changes are kept at all. */
  get isKept(): boolean {
    return this.#history !== "none";
  }

  /** Gives a log from before there was a history what it is found by. */
  fit(number: number): void {
    this.#database.exec(changesIndex(number));
  }

  /** Whether the oldest change of the collection is no longer to be kept. */
  isDue(number: number, now: number): boolean {
    return this.#outdated(number, now, 1) !== undefined;
  }

  /** Removes some of the changes that are no longer to be kept, the oldest first. */
  trim(number: number, now: number): void {
    const upTo = this.#outdated(number, now, slice.changes);
    if (upTo !== undefined) this.#of(number).remove.run(upTo);
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

  /** The sequence up to which a slice of changes is no longer to be kept. */
  #outdated(number: number, now: number, limit: number): number | undefined {
    const history = this.#history;
    if (history === "forever") return undefined;
    const young = history === "none" ? Number.POSITIVE_INFINITY : now - history.keepDays * dayMs;
    const kept = history === "none" ? 0 : history.keepChanges;
    const upTo = Number(this.#sequence.get(number)?.sequence ?? 0) - kept;
    let last: number | undefined;
    let length = 0;
    for (const row of this.#of(number).oldest.iterate(upTo, limit)) {
      if (Number(row.at) >= young || length > slice.textLength) break;
      last = Number(row.sequence);
      length += Number(row.length);
    }
    return last;
  }

  #of(number: number): Statements {
    const known = this.#collections.get(number);
    if (known !== undefined) return known;
    const table = changesTable(number);
    const statements = {
      oldest: this.#database.prepare(
        `select sequence, at, octet_length(superseded) as length from ${table}
         where sequence <= ? order by sequence limit ?`,
      ),
      remove: this.#database.prepare(`delete from ${table} where sequence <= ?`),
      last: this.#database.prepare(`select version from ${table} where id = ? order by version desc limit 1`),
      erase: this.#database.prepare(`delete from ${table} where id = ?`),
    };
    this.#collections.set(number, statements);
    return statements;
  }
}
