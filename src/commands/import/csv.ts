/**
 * Takes a CSV input (RFC 4180) apart into the JSON texts of its resources, each with the line that it begins in.
 *
 * A library finds the rows and cells. `header.ts` says what the columns are and `cells.ts` what a cell stands for;
 * whether the resource is sound is judged as everywhere. A row is held at a time, so an input may be of any size.
 */
import { CsvError, type InfoField, type InfoRecord, type Parser, parse } from "csv-parse";
import { type Cell, type Column, rowText } from "./cells.ts";
import { requireNotUtf16 } from "./input.ts";
import { tooLarge } from "./line-splitter.ts";
import type { Piece, Pieces } from "./pieces.ts";
import { Utf8Check } from "./utf8-check.ts";

/** How a CSV input is read. */
export interface CsvOptions {
  /** Of one resource's text. */
  maxBytes: number;
  /** What stands between two cells. */
  delimiter: string;
  /** The columns that the cells of the first row name; throws when it does not understand them. */
  columnsOf(header: readonly string[]): readonly Column[];
}

/**
 * The pieces of a CSV input, whose first row names the attributes. Rows without any content are nothing. Ends after a
 * broken piece. Throws StartError when the input is UTF-16 or compressed, and what `columnsOf` throws.
 */
export async function* readCsv(input: AsyncIterable<Buffer>, options: CsvOptions): AsyncGenerator<Pieces> {
  const rows = new Rows(options);
  const check = new Utf8Check();
  let bytes = 0;
  for await (const chunk of input) {
    if (bytes === 0) requireNotUtf16(chunk);
    bytes += chunk.length;
    const badLine = check.push(chunk);
    const pieces = badLine === undefined ? await rows.push(chunk) : [notUtf8(badLine)];
    yield { pieces, bytes };
    if (pieces.at(-1)?.kind === "broken") return;
  }
  const badLine = check.end();
  yield { pieces: badLine === undefined ? await rows.end() : [notUtf8(badLine)], bytes };
}

function notUtf8(line: number): Piece {
  return { kind: "broken", place: { line }, reason: 'is not UTF-8: save the file as "CSV UTF-8"' };
}

class Rows {
  readonly #options: CsvOptions;
  readonly #parser: Parser;
  #columns: readonly Column[] | undefined;
  #pieces: Piece[] = [];
  /** The line in which the next row begins, unless lines without content come first. */
  #line = 1;
  #emptyLines = 0;
  /** Line breaks inside the cells of the row that is being read. */
  #breaks = 0;

  constructor(options: CsvOptions) {
    this.#options = options;
    this.#parser = parse({
      bom: true,
      delimiter: options.delimiter,
      record_delimiter: ["\r\n", "\n", "\r"],
      skip_empty_lines: true,
      relax_column_count: true,
      max_record_size: options.maxBytes,
      cast: (text, { quoting }: InfoField): Cell => this.#takeCell(text, quoting),
      on_record: (cells: unknown, info: InfoRecord) => this.#takeRow(cells as readonly Cell[], info),
    });
    this.#parser.on("error", () => {}); // whoever writes is told
    this.#parser.resume(); // every row has been taken before it would be read
  }

  push(chunk: Buffer): Promise<Piece[]> {
    return this.#run((done) => this.#parser.write(chunk, done));
  }

  end(): Promise<Piece[]> {
    return this.#run((done) => {
      this.#parser.once("error", done);
      this.#parser.once("end", () => done());
      this.#parser.end();
    });
  }

  /** Where cells and rows end would be a guess after an error. */
  async #run(work: (done: (error?: Error | null) => void) => void): Promise<Piece[]> {
    const error = await new Promise<Error | null | undefined>((resolve) => work(resolve));
    const pieces = this.#pieces.splice(0);
    if (error === undefined || error === null) return pieces;
    if (!(error instanceof CsvError)) throw error;
    const place = { line: this.#line + (this.#parser.info.empty_lines - this.#emptyLines) };
    return [...pieces, { kind: "broken", place, reason: this.#reasonOf(error) }];
  }

  #reasonOf({ code }: CsvError): string {
    if (code === "CSV_QUOTE_NOT_CLOSED") return "a quote is opened but never closed";
    if (code === "CSV_MAX_RECORD_SIZE") {
      return `is larger than the limit of ${this.#options.maxBytes} bytes (perhaps a quote is not closed)`;
    }
    return 'quotes must enclose a whole cell, and a quote inside it must be doubled: "say ""hi"""';
  }

  #takeCell(text: string, isQuoted: boolean): Cell {
    if (isQuoted) this.#breaks += text.match(/\r\n|\n|\r/g)?.length ?? 0;
    return { text, isQuoted };
  }

  #takeRow(cells: readonly Cell[], info: InfoRecord): undefined {
    const line = this.#line + (info.empty_lines - this.#emptyLines);
    this.#line = line + 1 + this.#breaks;
    this.#emptyLines = info.empty_lines;
    this.#breaks = 0;
    if (this.#columns === undefined) this.#columns = this.#options.columnsOf(cells.map(({ text }) => text));
    else if (cells.some(({ text }) => text !== "")) this.#pieces.push(this.#toPiece(cells, line));
  }

  #toPiece(cells: readonly Cell[], line: number): Piece {
    const columns = this.#columns ?? [];
    if (cells.length !== columns.length) {
      const reason = `has ${cells.length} ${cells.length === 1 ? "cell" : "cells"}, but the header has ${columns.length}`;
      return { kind: "bad", place: { line }, reason };
    }
    const bytes = Buffer.from(rowText(columns, cells));
    return bytes.length > this.#options.maxBytes
      ? tooLarge({ line }, this.#options.maxBytes)
      : { kind: "text", place: { line }, bytes, isMade: true };
  }
}
