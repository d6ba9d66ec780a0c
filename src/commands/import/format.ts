import { extname } from "node:path";
import type { Collection } from "../../collection/collection.ts";
import { StartError } from "../../errors.ts";
import { readCsv } from "./csv.ts";
import { readHeader } from "./header.ts";
import { readPieces } from "./input.ts";
import type { Pieces } from "./pieces.ts";

/** How an input is taken apart. */
export type ImportFormat = { kind: "json" } | { kind: "csv"; delimiter: string };

const delimiters: Readonly<Record<string, string>> = { ".csv": ",", ".tsv": "\t" };

/** The format that the options ask for, or that the file's name tells. Throws StartError. */
export function formatOf(
  file: string,
  { format, delimiter }: Readonly<Record<string, unknown>>,
): ImportFormat {
  const byName = delimiters[extname(file).toLowerCase()];
  const isCsv = format === undefined ? byName !== undefined : format === "csv";
  if (isCsv) {
    return { kind: "csv", delimiter: delimiter === undefined ? (byName ?? ",") : readDelimiter(delimiter) };
  }
  if (delimiter !== undefined) throw new StartError("--delimiter is for CSV: add --format csv.");
  return { kind: "json" };
}

function readDelimiter(delimiter: unknown): string {
  if (delimiter === "tab" || delimiter === "\\t") return "\t";
  if (typeof delimiter === "string" && /^[^"\r\n\p{L}\p{N}]$/u.test(delimiter)) return delimiter;
  throw new StartError(
    `--delimiter must be one character such as "," or ";", or tab, not ${JSON.stringify(delimiter)}.`,
  );
}

/** The pieces of an input in a format. `maxBytes` is of one resource's text. */
export function piecesOf(
  input: AsyncIterable<Buffer>,
  format: ImportFormat,
  { collection, maxBytes }: { collection: Collection; maxBytes: number },
): AsyncIterable<Pieces> {
  if (format.kind === "json") return readPieces(input, maxBytes);
  const { delimiter } = format;
  const columnsOf = (header: readonly string[]) => readHeader(collection, header, delimiter);
  return readCsv(input, { maxBytes, delimiter, columnsOf });
}
