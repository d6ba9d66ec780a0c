/**
 * A text as a difference from another text: runs of equal bytes, each an offset and a length in the other text, with new
 * bytes between them. If a write changes a few places of a large resource, this takes a fifth of the time of a compression.
 */
import { crc32 } from "node:zlib";

/** A text that needs more runs is compressed instead. */
const maxRuns = 32;

/** How many bytes must be equal at the beginning of a run. */
const anchorBytes = 32;

/** How many bytes of the text to skip before the search for the next run. Each attempt skips more. */
const skips = [16, 256, 4_096];

/** The text as runs of `other`. `undefined` if it needs too many runs. */
export function toRuns(text: Buffer, other: Buffer): string | undefined {
  const pieces: string[] = [];
  let at = 0;
  let from = 0;
  while (at < text.length) {
    if (pieces.length >= 2 * maxRuns) return undefined;
    const length = commonLength(text, at, { other, from });
    pieces.push(`${from}+${length}`);
    at += length;
    from += length;
    const next = nextRun(text, at, { other, from });
    if (next === undefined) return undefined;
    pieces.push(text.toString("base64", at, next.at));
    ({ at, from } = next);
  }
  return [text.length, crc32(text), ...pieces].join(",");
}

/** Rebuilds the text. Throws an Error if the runs are damaged, or if `other` is not the text that `toRuns` compared with. */
export function fromRuns(runs: string, other: Buffer): Buffer {
  const [length, checksum, ...pieces] = runs.split(",");
  const parts = pieces.map((piece, n) => {
    if (n % 2 === 1) return Buffer.from(piece, "base64");
    const [from = 0, size = 0] = piece.split("+").map(Number);
    return other.subarray(from, from + size);
  });
  const text = Buffer.concat(parts);
  if (text.length !== Number(length) || crc32(text) !== Number(checksum))
    throw new Error("Its checksum does not match.");
  return text;
}

/** An offset in the other text. */
interface OtherOffset {
  other: Buffer;
  from: number;
}

/** The beginning of the next run, as early as possible. Near the end of the text, it is the end. */
function nextRun(
  text: Buffer,
  at: number,
  { other, from }: OtherOffset,
): { at: number; from: number } | undefined {
  for (const skip of skips) {
    const begin = at + skip;
    if (begin + anchorBytes > text.length) return { at: text.length, from };
    const found = other.indexOf(text.subarray(begin, begin + anchorBytes), from);
    if (found < 0) continue;
    let back = 0;
    while (back < skip && found - back > from && text[begin - back - 1] === other[found - back - 1]) back++;
    return { at: begin - back, from: found - back };
  }
  return undefined;
}

/** The number of equal bytes from these offsets on. */
function commonLength(text: Buffer, at: number, { other, from }: OtherOffset): number {
  const most = Math.min(text.length - at, other.length - from);
  let length = 0;
  for (let step = 1_024; length < most; ) {
    const size = Math.min(step, most - length);
    const [a, b] = [at + length, from + length];
    if (text.compare(other, b, b + size, a, a + size) === 0) {
      length += size;
      step *= 2;
    } else if (size === 1) break;
    else step = size >> 1;
  }
  return length;
}
