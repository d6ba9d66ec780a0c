/**
 * Finds the items of a CSV input (RFC 4180), whose first row names the attributes. The library `csv-parse` finds the rows
 * and cells, and `columns.ts` makes the text of a resource from a row. One row is in memory at a time.
 */
import { isUtf8 } from "node:buffer";
import { CsvError, type InfoField, type InfoRecord, type Parser, parse } from "csv-parse";
import type { Collection } from "../collection/collection.ts";
import type { JsonLimits } from "../json/values.ts";
import type { Cell, CellOptions } from "./cells.ts";
import { readHeader, refuseQuotedHeader } from "./columns.ts";
import { CsvQuotes } from "./csv-quotes.ts";
import { utf8Bytes } from "./encoding.ts";
import { type HeldRow, HeldRows } from "./held-rows.ts";
import { type Item, type Items, tooLarge } from "./items.ts";
import type { IdMember } from "./options.ts";
import { Table, type TableOptions } from "./table.ts";

/** How to read a CSV input. */
export interface CsvOptions extends CellOptions, TableOptions {
  collection: Collection;
  /** The character between two cells. @default "," if the header does not look like another one */
  delimiter?: string | undefined;
  /** The limit for the text of one resource. */
  maxBytes: number;
  /** The limits of the header: `members` is the number of columns, `depth` that of names in one column. @default none */
  limits?: JsonLimits | undefined;
  /** The column that has the ids. @default "id" */
  id?: IdMember | undefined;
}

/**
 * The items of a CSV input. Rows without content are not items. Ends after a broken item. With `types: "infer"`, the first item comes after
 * the end of the input. Throws StartError if the input is UTF-16 or compressed, if its header does not fit the collection, or if its columns
 * have other types than stored resources. Throws STORAGE_FULL.
 */
export async function* readCsv(input: AsyncIterable<Buffer>, options: CsvOptions): AsyncGenerator<Items> {
  const { separator, rest } = await takeSeparator(utf8Bytes(input));
  const held = options.types === "infer" ? new HeldRows() : undefined;
  const line = separator === undefined ? 1 : 2;
  const rows = new Rows({ ...options, delimiter: options.delimiter ?? separator }, { line, held });
  const check = new Utf8Check(line);
  let bytesRead = 0;
  let last: Items["items"] = [];
  try {
    for await (const chunk of inPieces(rest)) {
      bytesRead += chunk.length;
      const wrong = check.push(chunk);
      last = wrong === undefined ? await rows.push(chunk) : [notUtf8(wrong)];
      if (last.at(-1)?.kind === "broken") break;
      yield { items: last, bytesRead };
    }
    if (last.at(-1)?.kind !== "broken") {
      const wrong = check.end();
      last = wrong === undefined ? await rows.end() : [notUtf8(wrong)];
    }
    if (held !== undefined) {
      if (last.at(-1)?.kind !== "broken") await rows.table?.settle();
      for (const batch of held.batches()) yield { items: batch.map((row) => rows.itemOf(row)), bytesRead };
    }
    yield { items: last, bytesRead };
  } finally {
    held?.close();
    if (rows.table !== undefined) options.onColumns?.(rows.table.summaries());
  }
}

/** The line that spreadsheets write before the header to name the delimiter. */
const separatorLine = /^("?)sep=([^"\r\n\p{L}\p{N}])\1(?:\r\n|\n|\r)/iu;

/** The most bytes of that line. */
const maxSeparator = 12;

/** Takes the line that names the delimiter from the start of an input, if it has one. */
async function takeSeparator(
  input: AsyncIterable<Buffer>,
): Promise<{ separator: string | undefined; rest: AsyncIterable<Buffer> }> {
  const chunks = input[Symbol.asyncIterator]();
  let start: Buffer = Buffer.alloc(0);
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
    start = Buffer.concat([start, next.value]);
    if (start.length >= maxSeparator) break;
  }
  const [line, , separator] = separatorLine.exec(start.toString("utf8", 0, maxSeparator)) ?? [""];
  async function* rest() {
    try {
      yield start.subarray(Buffer.byteLength(line));
      for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
    } finally {
      await chunks.return?.(); // also if the first part ends the reading
    }
  }
  return { separator, rest: rest() };
}

/** The most bytes that the parser takes at once. Each can be an empty cell, which takes about a microsecond. */
const pieceBytes = 8_192;

async function* inPieces(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of input) {
    for (let at = 0; at < chunk.length; at += pieceBytes) yield chunk.subarray(at, at + pieceBytes);
  }
}

function notUtf8(line: number): Item {
  return { kind: "broken", location: { line }, reason: 'is not UTF-8: save the file as "CSV UTF-8"' };
}

const howToQuote = 'quotes must enclose a whole cell, and a quote inside it must be doubled: "say ""hi"""';

/** More bytes than the parser looks ahead. */
const lookAhead = Buffer.alloc(16, " ");

class Rows {
  readonly #options: CsvOptions;
  readonly #parser: Parser;
  readonly #quotes: CsvQuotes;
  readonly #held: HeldRows | undefined;
  /** The columns; `undefined` before the header. */
  table: Table | undefined;
  #items: Item[] = [];
  /** The line after the last row. Empty lines can follow before the next row. */
  #line: number;
  #emptyLines = 0;
  /** Line breaks inside the cells of the current row. */
  #breaks = 0;
  #cells = 0;
  /** The length of the texts of the current row. Each cell beyond the header adds one. */
  #rowLength = 0;

  /** `line`: the line of the first byte. `held` takes the rows, if all of them must be seen before the first is an item. */
  constructor(options: CsvOptions, { line, held }: { line: number; held: HeldRows | undefined }) {
    this.#options = options;
    this.#held = held;
    this.#line = line;
    this.#quotes = new CsvQuotes(options.delimiter ?? ",");
    this.#parser = parse({
      delimiter: options.delimiter ?? ",",
      record_delimiter: ["\r\n", "\n", "\r"],
      skip_empty_lines: true,
      relax_column_count: true,
      relax_quotes: true, // `#quotes` refuses those that are unclear
      max_record_size: options.maxBytes,
      cast: (text, { quoting }: InfoField): Cell => this.#takeCell(text, quoting),
      on_record: (cells: unknown, info: InfoRecord) => this.#takeRow(cells as readonly Cell[], info),
    });
    this.#parser.on("error", () => {}); // `#run` gets the error too
    this.#parser.resume(); // `on_record` takes every row, so there is nothing to read
  }

  async push(chunk: Buffer): Promise<Item[]> {
    let bytes = this.#quotes.push(chunk);
    // The parser looks a few bytes ahead before it ends a row.
    if (this.#quotes.isUnclear) bytes = Buffer.concat([bytes, lookAhead]);
    const items = await this.#run((done) => this.#parser.write(bytes, done));
    if (!this.#quotes.isUnclear || items.at(-1)?.kind === "broken") return items;
    if (this.table === undefined) refuseQuotedHeader(this.#quotes.unclear, this.#options.advice);
    return [...items, { kind: "broken", location: { line: this.#nextLine }, reason: howToQuote }];
  }

  /** The line of the row that has not ended. */
  get #nextLine(): number {
    return this.#line + (this.#parser.info.empty_lines - this.#emptyLines);
  }

  end(): Promise<Item[]> {
    return this.#run((done) => {
      this.#parser.once("error", done);
      this.#parser.once("end", () => done());
      this.#parser.end(this.#quotes.end());
    });
  }

  /** Returns the items that the work completes. After an error, the ends of cells and rows are unknown. */
  async #run(work: (done: (error?: Error | null) => void) => void): Promise<Item[]> {
    const error = await new Promise<Error | null | undefined>((resolve) => work(resolve));
    const items = this.#items.splice(0);
    if (error === undefined || error === null) return items;
    if (!(error instanceof CsvError)) throw error;
    const location = { line: this.#nextLine };
    return [...items, { kind: "broken", location, reason: this.#reasonOf(error) }];
  }

  #reasonOf({ code }: CsvError): string {
    if (code === "CSV_QUOTE_NOT_CLOSED") return "a quote is opened but never closed";
    if (code === "CSV_MAX_RECORD_SIZE") {
      return `is larger than the limit of ${this.#options.maxBytes} bytes (perhaps a quote is not closed)`;
    }
    return howToQuote;
  }

  #takeCell(text: string, isQuoted: boolean): Cell {
    if (isQuoted) this.#breaks += text.match(/\r\n|\n|\r/g)?.length ?? 0;
    this.#requireShort(text);
    return { text, isQuoted };
  }

  /** The parser itself limits only the text of one cell, because it does not know the length of a `Cell`. */
  #requireShort(text: string): void {
    this.#cells++;
    this.#rowLength += text.length + (this.#cells > (this.table?.size ?? 0) ? 1 : 0);
    if (this.#rowLength > this.#options.maxBytes)
      throw new CsvError("CSV_MAX_RECORD_SIZE", "The row is too large.");
  }

  #takeRow(cells: readonly Cell[], info: InfoRecord): undefined {
    const line = this.#line + (info.empty_lines - this.#emptyLines);
    this.#line = line + 1 + this.#breaks;
    this.#emptyLines = info.empty_lines;
    this.#breaks = 0;
    this.#cells = 0;
    this.#rowLength = 0;
    if (this.table === undefined) this.table = new Table(readHeader(cells, this.#options), this.#options);
    else if (cells.some(({ text }) => text !== "")) this.#takeResource(this.table, cells, line);
  }

  #takeResource(table: Table, cells: readonly Cell[], line: number): void {
    let row: HeldRow = { line, cells };
    if (cells.length === table.size) table.see(cells, line);
    else {
      const count = `${cells.length} ${cells.length === 1 ? "cell" : "cells"}`;
      row = { line, reason: `has ${count}, but the header has ${table.size}` };
    }
    if (this.#held === undefined) this.#items.push(this.itemOf(row));
    else this.#held.add(row);
  }

  itemOf(row: HeldRow): Item {
    const { line } = row;
    if ("reason" in row) return { kind: "invalid", location: { line }, reason: row.reason };
    const read = (this.table as Table).read(row.cells, line);
    if (typeof read !== "string") return { kind: "refused", location: { line }, violations: read };
    const bytes = Buffer.from(read);
    return bytes.length > this.#options.maxBytes
      ? tooLarge({ line }, this.#options.maxBytes)
      : { kind: "text", location: { line }, bytes, isGenerated: true };
  }
}

/** Checks that bytes in chunks are UTF-8. Each call returns the line of the first faulty byte, or `undefined`. */
class Utf8Check {
  /** The start of a character that continues in the next chunk. */
  #rest: Buffer = Buffer.alloc(0);
  #line: number;

  /** `line`: the line of the first byte. */
  constructor(line: number) {
    this.#line = line;
  }

  push(chunk: Buffer): number | undefined {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const end = endOfLastCharacter(bytes);
    this.#rest = bytes.subarray(end);
    const whole = bytes.subarray(0, end);
    const isValid = isUtf8(whole);
    for (let start = 0; ; this.#line++) {
      const lineEnd = whole.indexOf(0x0a, start);
      if (!isValid && (lineEnd === -1 || !isUtf8(whole.subarray(start, lineEnd)))) return this.#line;
      if (lineEnd === -1) return undefined;
      start = lineEnd + 1;
    }
  }

  end(): number | undefined {
    return this.#rest.length === 0 ? undefined : this.#line;
  }
}

/** The end of the bytes, or the start of the last character if it can continue in the next chunk. */
function endOfLastCharacter(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue; // not the first byte of a character
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
