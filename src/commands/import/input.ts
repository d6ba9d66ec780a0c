/**
 * Takes an input apart into the JSON texts of its resources, each with its line, as the bytes come in.
 *
 * It finds where each text begins and ends, and nothing more: whether the text is sound is for the JSON gate.
 * At most one text and one chunk are held at a time, so an input may be of any size.
 */
import { StartError } from "../../errors.ts";
import { ArraySplitter } from "./array-splitter.ts";
import { LineSplitter } from "./line-splitter.ts";
import type { Pieces, Splitter } from "./pieces.ts";

/**
 * The pieces of a JSON array or of NDJSON, which of them the first byte that is not blank tells. Ends after a
 * broken piece. Throws StartError when the input is neither, or not UTF-8 without a byte order mark.
 */
export async function* readPieces(input: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Pieces> {
  let bytes = 0;
  let splitter: Splitter | undefined;
  let begin: Buffer = Buffer.alloc(0); // until there is something that is not blank
  for await (const chunk of input) {
    let next = chunk;
    bytes += chunk.length;
    if (splitter === undefined) {
      begin = next = Buffer.concat([begin, chunk]);
      if (!canTell(begin)) continue;
      splitter = splitterFor(begin, maxBytes);
    }
    const pieces = splitter.push(next);
    yield { pieces, bytes };
    if (pieces.at(-1)?.kind === "broken") return;
  }
  if (splitter !== undefined) yield { pieces: splitter.end(), bytes };
  else if (begin.length > 0) yield* readShort(splitterFor(begin, maxBytes), begin);
}

function* readShort(splitter: Splitter, begin: Buffer): Generator<Pieces> {
  yield { pieces: splitter.push(begin), bytes: begin.length };
  yield { pieces: splitter.end(), bytes: begin.length };
}

/** Whether there is enough to know a byte order mark, and something that is not blank. */
function canTell(begin: Buffer): boolean {
  return begin.length >= 4 && !begin.every(isBlank);
}

function splitterFor(begin: Buffer, maxBytes: number): Splitter {
  requireUtf8(begin);
  const first = begin.find((byte) => !isBlank(byte));
  if (first === 0x5b) return new ArraySplitter(maxBytes);
  if (first === 0x7b || first === undefined) return new LineSplitter(maxBytes);
  const excerpt = JSON.stringify(begin.toString("utf8").trimStart().slice(0, 20));
  throw new StartError(
    `The input is neither a JSON array nor one JSON object per line: it begins with ${excerpt}.`,
  );
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

const signatures: readonly { bytes: readonly number[]; what: string }[] = [
  { bytes: [0xfe, 0xff], what: "is UTF-16" },
  { bytes: [0xff, 0xfe], what: "is UTF-16" },
  { bytes: [0x00], what: "is UTF-16 or UTF-32" },
  { bytes: [0x1f, 0x8b], what: "is compressed with gzip" },
];

/** Throws StartError for an input that does not begin as UTF-8 without a byte order mark does. */
export function requireUtf8(begin: Buffer): void {
  if (begin[0] === 0xef && begin[1] === 0xbb && begin[2] === 0xbf) {
    throw new StartError(
      "The input begins with a byte order mark. Convert it to UTF-8 without a byte order mark.",
    );
  }
  requireNotUtf16(begin);
}

/** Throws StartError for an input whose first bytes say that it is UTF-16, UTF-32 or compressed. */
export function requireNotUtf16(begin: Buffer): void {
  const found = signatures.find(({ bytes }) => bytes.every((byte, index) => begin[index] === byte));
  const what = found?.what ?? (begin[1] === 0 ? "is UTF-16" : undefined);
  if (what !== undefined)
    throw new StartError(`The input ${what}. Convert it to UTF-8 without a byte order mark.`);
}
