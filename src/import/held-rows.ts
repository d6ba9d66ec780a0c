/** Rows of CSV that wait until all rows have been seen. A temporary file contains them, so an input of any size needs little memory. */
import { openTemporaryDatabase, writeTemporarily } from "../store/core/temporary-database.ts";
import type { Cell } from "./cells.ts";

/** The most characters of one batch, with the lengths of its cells. To read so many takes milliseconds. */
const batchLength = 65_536;

/** The cells of a row, or the reason why they cannot be read. */
export type HeldRow = { line: number; cells: readonly Cell[] } | { line: number; reason: string };

/** The rows of one input. `close` removes the file. */
export class HeldRows {
  readonly #database = openTemporaryDatabase(
    "create table held (line integer not null, lengths text, text text not null) strict",
  );
  readonly #insert = this.#database.prepare("insert into held values (?, ?, ?)");

  /** Throws STORAGE_FULL. */
  add(row: HeldRow): void {
    const [lengths, text] = "reason" in row ? [null, row.reason] : packed(row.cells);
    writeTemporarily(() => this.#insert.run(row.line, lengths, text));
  }

  /** The rows in the order of the input, in batches. */
  *batches(): Generator<readonly HeldRow[]> {
    const select = this.#database.prepare("select line, lengths, text from held order by rowid");
    let batch: HeldRow[] = [];
    let length = 0;
    for (const { line, lengths, text } of select.iterate()) {
      const held = String(text);
      batch.push({
        line: Number(line),
        ...(lengths === null ? { reason: held } : { cells: unpacked(String(lengths), held) }),
      });
      length += held.length + String(lengths ?? "").length;
      if (length < batchLength) continue;
      yield batch;
      batch = [];
      length = 0;
    }
    if (batch.length > 0) yield batch;
  }

  close(): void {
    this.#database.close();
  }
}

/** The lengths of the texts, and the texts together. This is hardly longer than the row. The length of a cell in quotes is its complement. */
function packed(cells: readonly Cell[]): [lengths: string, text: string] {
  const lengths = cells.map(({ text, isQuoted }) => (isQuoted ? ~text.length : text.length));
  return [lengths.join(), cells.map(({ text }) => text).join("")];
}

function unpacked(lengths: string, text: string): Cell[] {
  let at = 0;
  return lengths.split(",").map((each) => {
    const length = Number(each);
    const start = at;
    at += length < 0 ? ~length : length;
    return { text: text.slice(start, at), isQuoted: length < 0 };
  });
}
