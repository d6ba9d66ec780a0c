/**
 * The one seed of all random choices in tests. `npm test` and `npm run test:all` always choose the same. `npm run prove` takes another seed
 * each time, prints it, and keeps the seeds that failed in `test/failed-seeds.json`, which `npm test` repeats.
 */

/** HOLDFAST_TEST_SEED, or 1. */
export const seed = Number(process.env.HOLDFAST_TEST_SEED ?? 1);

/** A random number of at least 0 and less than 1. */
export type Random = () => number;

/** The numbers of this run's seed. `more` tells apart what must not choose the same, such as two processes. */
export function generator(more = 0): Random {
  return randomOf(seed + more);
}

/** The numbers of a seed: the generator "mulberry32", which has a state of 32 bits. */
export function randomOf(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
