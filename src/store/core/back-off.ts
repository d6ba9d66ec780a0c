/**
 * Exponential back-off: each wait between two attempts is longer than the one before, up to a limit. The waits are random,
 * so that callers that failed at the same time do not repeat their attempts at the same time.
 */

/** Limits of the waits, in milliseconds. */
export interface BackOffLimits {
  /** The longest first wait. It doubles with each attempt. */
  first: number;
  /** The longest wait of all. */
  most: number;
}

/** Returns a function that gives the next wait in milliseconds: a random part of its limit, at least half of it. */
export function createBackOff({ first, most }: BackOffLimits): () => number {
  let length = first;
  return () => {
    const ms = length * (0.5 + Math.random() / 2);
    length = Math.min(most, length * 2);
    return ms;
  };
}
