/**
 * How the change log keeps the text that a change superseded: whole, or as a difference from the text that the change made.
 *
 * A write often changes attributes at both ends of a resource (`updatedAt` is the last one), so a shared beginning and end
 * would leave nearly everything. A difference is a few runs of the next text (`runs.ts`). If it takes many, it is a Zstandard
 * frame with the next text as its dictionary. All forms are text, so that every kind of store keeps them in the same column
 * and a copy takes them over as they are.
 */
import { setImmediate as turn } from "node:timers/promises";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { fromRuns, toRuns } from "./runs.ts";

/**
 * Of this many changes in a row of one resource, at least one keeps a whole text. A read of an old version therefore applies
 * fewer differences than that.
 */
export const maxChain = 16;

/** In characters. A shorter text costs less whole: a difference takes tens of microseconds, whatever the length. */
const shortest = 4_096;

/** In characters. A longer text would keep the writer busy for a tenth of a second. */
const longest = 16 * 1024 * 1024;

/** A difference may have at most this part of the length of its text. */
const worthwhile = 0.5;

/** What a difference begins with, and no JSON text. */
export const differenceMark = "~";
const runsMark = `${differenceMark}r`;
const frameMark = `${differenceMark}z`;

/** A change of a resource, as far as it decides what the change log keeps. */
export interface Superseding {
  /** The state before the change; `undefined` for a create. */
  before: { text: string } | undefined;
  /** The state after the change; `undefined` for a delete. */
  next: { text: string } | undefined;
  /** The version that the change makes. */
  version: number;
}

/** What the change log keeps of the superseded text; `null` if there was no resource before. */
export function keptText({ before, next, version }: Superseding): string | null {
  return before === undefined ? null : textOrDifference(before.text, next?.text, version);
}

/** After so many characters, `keptTexts` gives other work a turn: their differences take a few milliseconds. */
const charactersInARow = 524_288;

/** What the change log keeps of the texts that several changes superseded. Other work gets turns if the texts are large. */
export async function keptTexts(changes: readonly Superseding[]): Promise<(string | null)[]> {
  const kept: (string | null)[] = [];
  let length = 0;
  for (const change of changes) {
    kept.push(keptText(change));
    length += change.before?.text.length ?? 0;
    if (length < charactersInARow) continue;
    length = 0;
    await turn();
  }
  return kept;
}

function textOrDifference(text: string, next: string | undefined, version: number): string {
  if (next === undefined || version % maxChain === 0) return text;
  if (text.length < shortest || text.length > longest || next.length > longest) return text;
  const [bytes, dictionary] = [Buffer.from(text), Buffer.from(next)];
  const runs = toRuns(bytes, dictionary);
  const difference = runs === undefined ? compress(bytes, dictionary) : `${runsMark}${runs}`;
  return difference.length <= text.length * worthwhile ? difference : text;
}

/** Whether what is kept is a difference, so that the text cannot be had without the next one. */
export function isDifference(kept: string): boolean {
  return kept.startsWith(differenceMark);
}

/** The superseded text, from what is kept of it and the text that came next. Throws an Error if what is kept is damaged. */
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
  // A frame that was cut off passes without an error in some versions of Node.
  if (bytes.length !== Number(length)) throw new Error("Its length does not match.");
  return bytes;
}

/** The fastest level, whose tables must be large enough for the whole dictionary; with a checksum of the text. */
function paramsFor(length: number): Record<number, number> {
  const bits = Math.ceil(Math.log2(length));
  return {
    [constants.ZSTD_c_compressionLevel]: 1,
    [constants.ZSTD_c_windowLog]: bits,
    [constants.ZSTD_c_hashLog]: bits - 3,
    [constants.ZSTD_c_checksumFlag]: 1,
  };
}
