/** The seeds with which a proof has failed. They are kept in the repository, and `npm test` repeats them. */
import { readFileSync, writeFileSync } from "node:fs";
import { type Job, testFileOf } from "./names.ts";
import { patternOf } from "./results.ts";

const path = "test/failed-seeds.json";

/** One test that failed. */
export interface FailedSeed {
  /** The subject of its file. */
  file: string;
  /** Its title. */
  test: string;
  seed: number;
  store?: "sqlite" | "postgres";
}

/** All that are kept. */
export function failedSeeds(): FailedSeed[] {
  return JSON.parse(readFileSync(path, "utf8")) as FailedSeed[];
}

/** Keeps the seed of a test, unless it is kept already. */
export function keepFailedSeed(failed: FailedSeed): void {
  const all = failedSeeds();
  const same = all.some((each) => JSON.stringify(each) === JSON.stringify(failed));
  if (!same) writeFileSync(path, `${JSON.stringify([...all, failed], null, 2)}\n`);
}

/** A run of each of them. */
export function jobsOfFailedSeeds(seeds: readonly FailedSeed[] = failedSeeds()): Job[] {
  return seeds.map(({ file, test, seed, store = "sqlite" }) => ({
    file: testFileOf(file),
    store,
    isAlone: true,
    env: { HOLDFAST_TEST_SEED: String(seed) },
    options: [`--test-name-pattern=${patternOf(test)}`],
  }));
}
