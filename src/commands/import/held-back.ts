/** Resources that wait until all others of an input are in. They wait on the disk, so memory stays flat. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { openScratch } from "../../store/scratch.ts";
import type { Place } from "./pieces.ts";

/** A text, and where in the input it was. */
export interface Held {
  place: Place;
  text: string;
}

/** Texts in the order in which they came. Close it, and nothing of it is left. */
export class HeldBack {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;

  constructor() {
    this.#database = openScratch(
      "create table held (text text not null, line integer not null, element integer) strict",
    );
    this.#insert = this.#database.prepare("insert into held values (?, ?, ?)");
  }

  add({ text, place }: Held): void {
    this.#insert.run(text, place.line, place.element ?? null);
  }

  /** All texts, so many at a time. */
  *batches(size: number): Generator<readonly Held[]> {
    const select = this.#database.prepare(
      "select rowid, text, line, element from held where rowid > ? order by rowid limit ?",
    );
    for (let last = 0; ; ) {
      const rows = select.all(last, size);
      if (rows.length === 0) return;
      yield rows.map(({ text, line, element }) => ({
        text: String(text),
        place: { line: Number(line), ...(element === null ? {} : { element: Number(element) }) },
      }));
      last = Number(rows.at(-1)?.rowid);
    }
  }

  close(): void {
    this.#database.close();
  }
}
