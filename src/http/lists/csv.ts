/** Resources as CSV (RFC 4180): a column for each attribute, a line for each resource. Exports use it too. */
import { createRequire } from "node:module";
import type { CastReturnObject } from "csv-stringify";
import type { TypeAt } from "../../collection/attributes.ts";
import { withGuard } from "../../collection/formula-guard.ts";
import { delimiters, type TableForm } from "../../query/table-form.ts";

/** A resource as an object. */
type Resource = Readonly<Record<string, unknown>>;

/** Parses a resource of the store. */
export function parseResource(text: string): Resource {
  return JSON.parse(text) as Resource; // the store has only objects
}

/** The columns of a table: `id` first, then the others in the order in which they are added. */
export class Columns {
  readonly #names: Set<string>;

  constructor(names: readonly string[] = []) {
    this.#names = new Set(["id", ...names]);
  }

  get names(): readonly string[] {
    return [...this.#names];
  }

  get size(): number {
    return this.#names.size;
  }

  /** Adds the attributes of a resource. */
  add(resource: Resource): void {
    for (const name of Object.keys(resource)) this.#names.add(name);
  }
}

/** The most cells, and the most characters of JSON text, in one piece (roughly). Both take milliseconds. */
const pieceSize = { cells: 5_000, characters: 65_536 };

/** How a table is written. */
export interface TableOptions extends Partial<TableForm> {
  /** The types of attributes whose schema declares one. @default none */
  typeAt?: TypeAt;
}

/** The lines of resources, in pieces that each take milliseconds. `texts` are JSON. Leaves out attributes without a column. */
export function* csvPieces(
  columns: readonly string[],
  texts: readonly string[],
  options: TableOptions = {},
): Generator<string> {
  const maxRows = Math.max(1, Math.floor(pieceSize.cells / columns.length));
  let rows: Resource[] = [];
  let characters = 0;
  for (const text of texts) {
    rows.push(parseResource(text));
    characters += text.length;
    if (rows.length < maxRows && characters < pieceSize.characters) continue;
    yield csvRows(columns, rows, options);
    rows = [];
    characters = 0;
  }
  if (rows.length > 0) yield csvRows(columns, rows, options);
}

/** A table with these columns. Its header comes first. */
export function* tablePieces(
  columns: readonly string[],
  texts: readonly string[],
  options: TableOptions = {},
): Generator<string> {
  yield csvHeader(columns, options);
  yield* csvPieces(columns, texts, options);
}

/** A spreadsheet reads a file that begins with this character as UTF-8. */
const byteOrderMark = "\uFEFF";

/** The first line of a table, with the byte order mark before it. */
export function csvHeader(columns: readonly string[], options: TableOptions = {}): string {
  return (options.bom === true ? byteOrderMark : "") + toCsv([columns], options);
}

/** A number that is a text. It is no formula, and a spreadsheet reads it as a number. */
class NumberCell {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

function csvRows(columns: readonly string[], resources: readonly Resource[], options: TableOptions): string {
  const numbers = columns.map((name) => options.typeAt?.([name])?.arithmetic);
  return toCsv(
    resources.map((resource) =>
      columns.map((name, n) => {
        const value = Object.hasOwn(resource, name) ? resource[name] : undefined;
        return typeof value === "string" && numbers[n]?.operandOf(value) !== undefined
          ? new NumberCell(value)
          : value;
      }),
    ),
    options,
  );
}

/** Texts that a reader would take for another JSON value. */
const ambiguous = /^(?:null|true|false|-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)$/;

/** A text as a cell, in quotes if a reader would otherwise take it for another value or for none. */
function textCell(text: string): string | CastReturnObject {
  if (text === "") return { value: text, quoted_empty: true };
  const guarded = withGuard(text);
  if (guarded !== text) return guarded;
  return ambiguous.test(text) ? { value: text, quoted: true } : text;
}

let csvStringify: typeof import("csv-stringify/sync") | undefined;

function toCsv(rows: readonly (readonly unknown[])[], { delimiter = "," }: TableOptions): string {
  csvStringify ??= createRequire(import.meta.url)(
    "csv-stringify/sync",
  ) as typeof import("csv-stringify/sync");
  return csvStringify.stringify([...rows], {
    delimiter: delimiters[delimiter],
    record_delimiter: "\r\n", // RFC 4180 section 2
    quote_record_delimiter: true,
    cast: {
      string: textCell,
      boolean: String,
      number: (value) => JSON.stringify(value),
      object: (value) => (value instanceof NumberCell ? value.text : JSON.stringify(value)),
      null: () => "null",
    },
  });
}
