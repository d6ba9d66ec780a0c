/**
 * The secret of a store: random bytes that are created with the store. Services use it as the key of every tag that hides a
 * value from callers. All services on the store therefore make the same tags, even after a restart. The secret never leaves
 * the store, except into a copy of the store.
 *
 * Stores keep the secret as integers, in the table `meta`.
 */
import { randomInt } from "node:crypto";

/** The names of the rows that contain the secret. */
export const secretNames = ["secret_1", "secret_2", "secret_3"] as const;

const bitsOfPart = 48;

/** Makes a new secret: a random integer for each name. */
export function newSecret(): readonly number[] {
  return secretNames.map(() => randomInt(2 ** bitsOfPart - 1));
}

/** The secret as the bytes of a key. */
export function secretBytes(parts: readonly number[]): Buffer {
  const bytes = Buffer.alloc((bitsOfPart / 8) * parts.length);
  for (const [n, part] of parts.entries()) bytes.writeUIntBE(part, (bitsOfPart / 8) * n, bitsOfPart / 8);
  return bytes;
}
