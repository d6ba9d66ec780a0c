/**
 * The secret of a store: random bytes, drawn when the store is made. Whatever a service hides from its callers under a
 * key, it hides under this one, so that all services on the store agree, also after a restart. It never leaves the store,
 * but for a copy of it.
 *
 * Stores keep it as integers among their other facts.
 */
import { randomInt } from "node:crypto";

/** The names of the facts that hold it. */
export const secretNames = ["secret_1", "secret_2", "secret_3"] as const;

const bitsOfPart = 48;

/** A new secret, as many random integers as it has names. */
export function newSecret(): readonly number[] {
  return secretNames.map(() => randomInt(2 ** bitsOfPart - 1));
}

/** The secret as bytes, to be used as a key. */
export function secretBytes(parts: readonly number[]): Buffer {
  const bytes = Buffer.alloc((bitsOfPart / 8) * parts.length);
  for (const [n, part] of parts.entries()) bytes.writeUIntBE(part, (bitsOfPart / 8) * n, bitsOfPart / 8);
  return bytes;
}
