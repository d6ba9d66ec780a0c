/** The encoding of an input: UTF-8, with or without a byte order mark. */
import { StartError } from "../errors.ts";

const signatures: readonly { bytes: readonly number[]; what: string }[] = [
  { bytes: [0xfe, 0xff], what: "is UTF-16" },
  { bytes: [0xff, 0xfe], what: "is UTF-16" },
  { bytes: [0x00], what: "is UTF-16 or UTF-32" },
  { bytes: [0x1f, 0x8b], what: "is compressed with gzip" },
];

const byteOrderMark = Buffer.from("\ufeff");

/** Enough bytes for every signature. */
const signatureBytes = 4;

/**
 * The bytes of an input without its byte order mark, which many programs write. The first part has at least four bytes, unless the input is shorter.
 * Throws StartError if the first bytes show that it is UTF-16, UTF-32 or compressed.
 */
export async function* utf8Bytes(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let start: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of input) {
    if (start === undefined) {
      yield chunk;
      continue;
    }
    start = Buffer.concat([start, chunk]);
    if (start.length < signatureBytes) continue;
    yield withoutMark(start);
    start = undefined;
  }
  if (start !== undefined && start.length > 0) yield withoutMark(start);
}

/** The bytes without a byte order mark, as in `utf8Bytes`. `start`: the first bytes of the input. */
export function withoutMark(start: Buffer): Buffer {
  const found = signatures.find(({ bytes }) => bytes.every((byte, index) => start[index] === byte));
  const what = found?.what ?? (start[1] === 0 ? "is UTF-16" : undefined);
  if (what !== undefined) throw new StartError(`The input ${what}. Convert it to UTF-8.`);
  const { length } = byteOrderMark;
  return start.subarray(0, length).equals(byteOrderMark) ? start.subarray(length) : start;
}
