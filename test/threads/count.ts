/** How many threads answer the requests of the services that tests start. */

/** The number from HOLDFAST_TEST_THREADS; `undefined` without it. */
export const givenThreads =
  process.env.HOLDFAST_TEST_THREADS === undefined ? undefined : Number(process.env.HOLDFAST_TEST_THREADS);

/** The number for a service of a test that does not choose one itself. It does not depend on the machine. */
export const usualThreads = givenThreads ?? 1;

/** The numbers that a test of several threads tries: the given one, or those of its short form. */
export function threadsToTry(...short: readonly number[]): readonly number[] {
  return givenThreads === undefined ? short : [givenThreads];
}
