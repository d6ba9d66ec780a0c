/** Random numbers that a seed repeats: the generator "mulberry32", which has a state of 32 bits. */

/** A random number of at least 0 and less than 1. */
export type Random = () => number;

/** The numbers of a seed. */
export function randomOf(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
