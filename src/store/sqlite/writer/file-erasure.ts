/** Erases resources with their history, and finishes erasures that were interrupted. */
import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { erase } from "../../core/commits/erasure.ts";
import type { Erased } from "../../port/change-log.ts";
import type { Refused } from "../commit/protocol.ts";
import { InvalidStateError } from "../file/failures.ts";
import { collectionOf, PlanRunner, storePlans } from "../sqlite-dialect.ts";
import type { TaskParts } from "./commits.ts";

const prefix = "erased_";
/**
 * The marks of erasures whose resource is gone, but whose text can still be in unused parts of the file and in its log. The transaction of
 * an erasure adds one, and it stays until the file has been rewritten. It names its resource by a hash.
 */
const rows = `meta where name glob '${prefix}*'`;

/** The name of the row for a resource. */
function erasureName(database: DatabaseSync, collection: number, id: string): string {
  const secret = new PlanRunner(database).run(storePlans.secret.read());
  const hash = createHash("sha256").update(JSON.stringify([secret, collection, id]));
  return `${prefix}${hash.digest("hex")}`;
}

/** Adds a row, within the transaction of the erasure. */
export function noteErasure(database: DatabaseSync, name: string): void {
  database.prepare("insert or ignore into meta values (?, 0)").run(name);
}

/** The names of all rows. */
export function unfinishedErasures(database: DatabaseSync): readonly string[] {
  return database
    .prepare(`select name from ${rows}`)
    .all()
    .map(({ name }) => String(name));
}

/** Removes all rows, after the file has been rewritten. */
export function forgetErasures(database: DatabaseSync): void {
  database.exec(`delete from ${rows}`);
}

/** Rewrites the file without its unused parts. Throws the error of SQLite. */
export function rewriteFile(database: DatabaseSync): void {
  database.limits.attach = 1; // VACUUM attaches a temporary database
  try {
    database.exec("vacuum");
  } finally {
    database.limits.attach = 0;
  }
}

/** Erases resources, one at a time. */
export class Erasure {
  readonly #parts: TaskParts;
  /** The erasures of this run of the program, and those of earlier runs that this one has finished. */
  readonly #own = new Set<string>();
  readonly #finished = new Set<string>();

  constructor(parts: TaskParts) {
    this.#parts = parts;
  }

  /**
   * Removes a resource, its changes, its receipts and its id. Resources that refer to it change as in a delete (`onDelete`). Afterwards,
   * `finish` must remove the text from the unused parts of the files.
   */
  erase(number: number, id: string): Omit<Erased, "unfinished"> | Refused {
    const { database, collections, declarations, commits, transactions } = this.#parts;
    const erasing = { collection: collectionOf(collections, number), id };
    const name = erasureName(database, number, id);
    const isResumed = this.#finished.has(name) || unfinishedErasures(database).includes(name);
    transactions.begin();
    const erased = commits.run(erase({ ...this.#parts, logs: storePlans.logs }, commits.judging(), erasing));
    if ("refusal" in erased) {
      transactions.rollBack();
      return erased;
    }
    if (erased.isKnown || erased.resource || erased.changes > 0) {
      declarations.removeTraces(number);
    }
    if (erased.isKnown) {
      noteErasure(database, name);
      this.#own.add(name);
    }
    transactions.commit();
    return { ...erased, ...(isResumed && { isResumed }) };
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
