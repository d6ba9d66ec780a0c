/** Lists in formats other than a JSON array: for programs that read line by line, and for tables. */
import type { CastReturnObject } from "csv-stringify";
import { stringify } from "csv-stringify/sync";

/** Formats that a list may be asked for in, by the media type in Accept, and the Content-Type that each is sent with. */
export const formats = {
  "application/x-ndjson": { contentType: "application/x-ndjson; charset=utf-8" },
  "text/csv": { contentType: "text/csv; charset=utf-8; header=present" },
} as const satisfies Record<string, { contentType: string }>;

/** The media type of a format. */
export type ListFormat = keyof typeof formats;

/**
 * A list in a format, from the JSON texts of its resources. The columns of CSV are `id` and then `fields`, or
 * without fields every attribute that one of the resources has, in the order in which they appear.
 */
export function formatList(
  format: ListFormat,
  texts: readonly string[],
  fields: readonly string[] | undefined,
): string {
  return [...listPieces(format, texts, fields)].join("");
}

/** What `formatList` gives, in pieces that are soon made, so that others can have their turn in between. */
export function* listPieces(
  format: ListFormat,
  texts: readonly string[],
  fields: readonly string[] | undefined,
): Generator<string> {
  if (format === "application/x-ndjson") {
    yield texts.map((text) => `${text}\n`).join("");
    return;
  }
  const resources = texts.map(parseResource);
  const columns = new Columns(fields);
  if (fields === undefined) for (const resource of resources) columns.add(resource);
  const { names } = columns;
  yield csvHeader(names);
  for (let from = 0; from < resources.length; from += rowsPerPiece) {
    yield csvRows(names, resources.slice(from, from + rowsPerPiece));
  }
}

const rowsPerPiece = 50;

/** A resource as a table takes it. */
type Resource = Readonly<Record<string, unknown>>;

/** The resource that a JSON text of the store is. */
export function parseResource(text: string): Resource {
  return JSON.parse(text) as Resource; // only objects are stored
}

/** The columns of a table: `id` first, the others in the order in which they were added. */
export class Columns {
  readonly #names: Set<string>;

  constructor(names: readonly string[] = []) {
    this.#names = new Set(["id", ...names]);
  }

  get names(): readonly string[] {
    return [...this.#names];
  }

  /** Adds the attributes of a resource. */
  add(resource: Resource): void {
    for (const name of Object.keys(resource)) this.#names.add(name);
  }
}

/** The first line of a table. */
export function csvHeader(columns: readonly string[]): string {
  return toCsv([columns]);
}

/** A line for each resource; attributes that no column names are left out. */
export function csvRows(columns: readonly string[], resources: readonly Resource[]): string {
  return toCsv(
    resources.map((resource) =>
      columns.map((name) => (Object.hasOwn(resource, name) ? resource[name] : undefined)),
    ),
  );
}

/**
 * Spreadsheets run a cell that begins so as a formula, also a quoted one, and what is in it came from whoever may
 * write here. An apostrophe before it makes it text (https://owasp.org/www-community/attacks/CSV_Injection). Texts
 * that begin with apostrophes before such a character get one more, so that `withoutGuard` always finds the original.
 */
const formula = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

/** The text that a cell stands for: without the apostrophe that keeps it from being a formula. */
export function withoutGuard(cell: string): string {
  return cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell;
}

/** Texts that would read as another value of JSON. */
const ambiguous = /^(?:null|true|false|-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)$/;

/** A text, in quotes where it would otherwise read as another value or as none at all. */
function textCell(text: string): string | CastReturnObject {
  if (text === "") return { value: text, quoted_empty: true };
  if (formula.test(text)) return `'${text}`;
  return ambiguous.test(text) ? { value: text, quoted: true } : text;
}

function toCsv(rows: readonly (readonly unknown[])[]): string {
  return stringify([...rows], {
    record_delimiter: "\r\n", // RFC 4180 section 2
    quote_record_delimiter: true,
    cast: {
      string: textCell,
      boolean: String,
      number: (value) => JSON.stringify(value),
      object: (value) => JSON.stringify(value),
      null: () => "null",
    },
  });
}
