/** What API keys look like: `hf_`, eight characters that name the key, and a secret of 256 random bits. */
import { hash, randomBytes } from "node:crypto";

/** How every API key begins, so that scanners for secrets know one. */
export const keyMark = "hf_";

const nameBytes = 5;
const nameLength = 8;
const secretBytes = 32;
const secretLength = 50;

/** The length of the public part. */
const prefixLength = keyMark.length + nameLength;

/** The length of every key. */
export const keyLength = prefixLength + 1 + secretLength;

/** A new key. It is nowhere else: who loses it needs another. */
export function createKeyText(): string {
  return `${keyMark}${randomText(nameBytes, nameLength)}_${randomText(secretBytes, secretLength)}`;
}

/** The part of a key that is no secret. */
export function prefixOf(key: string): string {
  return key.slice(0, prefixLength);
}

/**
 * What is kept of a key. One round is enough: nobody guesses 256 bits, and a hash that is slow on purpose would be so at
 * every request.
 */
export function hashKey(key: string): Buffer {
  return hash("sha256", key, "buffer");
}

/** Digits and small letters: a double click takes all of it. */
function randomText(bytes: number, length: number): string {
  return BigInt(`0x${randomBytes(bytes).toString("hex")}`)
    .toString(36)
    .padStart(length, "0");
}
