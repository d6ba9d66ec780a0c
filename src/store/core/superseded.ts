/**
 * The superseded texts in the change log: each is a whole text, or a difference from the next text of the resource.
 *
 * A difference consists of a few runs of the next text (`runs.ts`). If it would need many runs, it is a Zstandard frame with
 * the next text as its dictionary. It is not enough to leave out the common beginning and end of the two texts, because a
 * write often changes attributes at both ends (`updatedAt` is the last one). All forms are text. Every kind of store can
 * therefore keep them in one column, and a copy does not change them.
 */
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { Plan } from "../sql/plans.ts";
import { fromRuns, toRuns } from "./runs.ts";

/**
 * Of this many consecutive changes of a resource, at least one contains a whole text. A read of an old version therefore
 * applies fewer differences than this.
 */
export const maxChain = 16;

/** The shortest text for a difference, in characters. Every difference takes tens of microseconds, even for a short text. */
const minLength = 4_096;

/** The longest text for a difference, in characters. A longer one would keep the writer busy for a tenth of a second. */
const maxLength = 16 * 1024 * 1024;

/** The longest difference, as a part of the length of its text. */
const maxRatio = 0.5;

/** The first character of every difference. No JSON text begins with it. */
export const differenceMark = "~";
const runsMark = `${differenceMark}r`;
const frameMark = `${differenceMark}z`;

/** The part of a change that decides on the form of the superseded text. */
export interface SupersedingChange {
  /** The state before the change; `undefined` for a create. */
  before: { text: string } | undefined;
  /** The state after the change; `undefined` for a delete. */
  next: { text: string } | undefined;
  /** The version that the change makes. */
  version: number;
}

/** The superseded text in the form that the change log keeps. `null` for a create. */
export function keptText({ before, next, version }: SupersedingChange): string | null {
  return before === undefined ? null : textOrDifference(before.text, next?.text, version);
}

/** The characters after which `keptTexts` gives other work a turn. Their differences take a few milliseconds. */
const maxCharactersInARow = 524_288;

/** Like `keptText`, for several changes. If the texts are large, other work gets turns in between. */
export function* keptTexts(changes: readonly SupersedingChange[]): Plan<readonly (string | null)[]> {
  const kept: (string | null)[] = [];
  let length = 0;
  for (const change of changes) {
    kept.push(keptText(change));
    length += change.before?.text.length ?? 0;
    if (length < maxCharactersInARow) continue;
    length = 0;
    yield [];
  }
  return kept;
}

function textOrDifference(text: string, next: string | undefined, version: number): string {
  if (next === undefined || version % maxChain === 0) return text;
  if (text.length < minLength || text.length > maxLength || next.length > maxLength) return text;
  const [bytes, dictionary] = [Buffer.from(text), Buffer.from(next)];
  const runs = toRuns(bytes, dictionary);
  const difference = runs === undefined ? compress(bytes, dictionary) : `${runsMark}${runs}`;
  return difference.length <= text.length * maxRatio ? difference : text;
}

/** Whether the kept form is a difference. Its text can be rebuilt only from the next text. */
export function isDifference(kept: string): boolean {
  return kept.startsWith(differenceMark);
}

/** The superseded text, rebuilt from its kept form and the next text. Throws an Error if the kept form is damaged. */
export function textFrom(kept: string, next: string): string {
  if (!isDifference(kept)) return kept;
  const content = kept.slice(frameMark.length);
  const dictionary = Buffer.from(next);
  const isFrame = kept.startsWith(frameMark);
  return (isFrame ? decompress(content, dictionary) : fromRuns(content, dictionary)).toString();
}

function compress(bytes: Buffer, dictionary: Buffer): string {
  const params = paramsFor(bytes.length + dictionary.length);
  const frame = zstdCompressSync(bytes, { dictionary, params });
  return `${frameMark}${bytes.length}:${frame.toString("base64")}`;
}

function decompress(content: string, dictionary: Buffer): Buffer {
  const [length, base64 = ""] = content.split(":");
  const bytes = zstdDecompressSync(Buffer.from(base64, "base64"), { dictionary });
  // Some versions of Node accept a truncated frame.
  if (bytes.length !== Number(length)) throw new Error("Its length does not match.");
  return bytes;
}

/** The fastest level, with tables that are large enough for the whole dictionary, and a checksum. `length` is in bytes. */
function paramsFor(length: number): Record<number, number> {
  const bits = Math.ceil(Math.log2(length));
  return {
    [constants.ZSTD_c_compressionLevel]: 1,
    [constants.ZSTD_c_windowLog]: bits,
    [constants.ZSTD_c_hashLog]: bits - 3,
    [constants.ZSTD_c_checksumFlag]: 1,
  };
}
