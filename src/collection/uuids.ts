/** Creates UUIDs for new resources. It is separate from `ids.ts`, because the threads of a store do not need it. */
import { randomFillSync } from "node:crypto";
import { v7 } from "uuid";

const randomBytesPerId = 16;
const idsPerDraw = 256;
const maxSequence = 2 ** 32 - 1;

/**
 * Returns a function that creates UUIDs of version 7 in lower case. Each sorts after the previous one, even within one
 * millisecond and after the clock has gone back.
 */
export function createUuidSource(now: () => number = Date.now): () => string {
  // `v7()` alone reads random bytes from the system for every id. That is five times slower than this pool.
  const pool = new Uint8Array(randomBytesPerId * idsPerDraw);
  let used = pool.length;
  let msecs = -1;
  let seq = 0;
  return () => {
    if (used === pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    const random = pool.subarray(used, used + randomBytesPerId);
    used += randomBytesPerId;
    const time = now();
    if (time > msecs) {
      msecs = time;
      seq = firstSequence(random);
    } else if (seq < maxSequence) {
      seq += 1;
    } else {
      msecs += 1;
      seq = firstSequence(random);
    }
    return v7({ msecs, seq, random });
  };
}

/** A random number in the lower half of the range, so at least 2^31 more ids fit into the same millisecond. */
function firstSequence(random: Uint8Array): number {
  const [a = 0, b = 0, c = 0, d = 0] = random;
  return ((a & 0x7f) << 24) | (b << 16) | (c << 8) | d;
}
