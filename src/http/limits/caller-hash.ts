/** Numbers for callers: shared memory cannot hold their names. */
import { hash, randomBytes } from "node:crypto";

/** Makes the number of a caller: a whole number below 2⁵². */
export type CallerHash = (caller: string) => number;

/** A new key for the numbers: 128 random bits. */
export function createHashKey(): string {
  return randomBytes(16).toString("hex");
}

/**
 * Makes numbers that look random to everyone without the key. So nobody can choose a name that has the number of another caller.
 * SHA-256 is secure with a key before the text, because nobody outside sees the numbers.
 */
export function createCallerHash(key: string): CallerHash {
  // JSON escapes lone surrogates: as UTF-8, all of them would be the same character. The first 13 digits have 52 bits.
  return (caller) => Number.parseInt(hash("sha256", key + JSON.stringify(caller)).slice(0, 13), 16);
}
