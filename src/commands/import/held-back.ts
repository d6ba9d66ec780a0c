/** Resources that wait until all others of an input are in. They wait on the disk, so memory stays flat. */
import { DatabaseSync, type StatementSync } from "node:sqlite";

/** Texts in the order in which they came. Close it, and nothing of it is left. */
export class HeldBack {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;

  constructor() {
    this.#database = new DatabaseSync(""); // a file without a name, which only this connection can open
    this.#database.exec(`
      pragma journal_mode = off;
      create table held (text text not null) strict;
      begin;
    `);
    this.#insert = this.#database.prepare("insert into held values (?)");
  }

  add(text: string): void {
    this.#insert.run(text);
  }

  /** All texts, so many at a time. */
  *batches(size: number): Generator<readonly string[]> {
    const select = this.#database.prepare(
      "select rowid, text from held where rowid > ? order by rowid limit ?",
    );
    for (let last = 0; ; ) {
      const rows = select.all(last, size);
      if (rows.length === 0) return;
      yield rows.map(({ text }) => String(text));
      last = Number(rows.at(-1)?.rowid);
    }
  }

  close(): void {
    this.#database.close();
  }
}
