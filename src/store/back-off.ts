/** Waits between tries: longer each time up to a bound, and never as long as others wait who began at the same moment. */

/** How long is waited, in milliseconds. */
export interface BackOffBounds {
  first: number;
  most: number;
}

/** Creates a row of waits, each between half of its length and all of it. */
export function createBackOff({ first, most }: BackOffBounds): () => number {
  let length = first;
  return () => {
    const ms = length * (0.5 + Math.random() / 2);
    length = Math.min(most, length * 2);
    return ms;
  };
}
