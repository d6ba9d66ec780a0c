/** Judges the samples of a soak: does the service use more and more of anything? */
import type { Sample } from "./samples.ts";

/** A figure that must reach a plateau. */
export interface Plateau {
  name: string;
  of(sample: Sample): number;
  /** How much more the last third of a life can have than the first: the larger of both. */
  tolerance: { share: number; amount: number };
  /** The first seconds of the soak do not count: the change log is not full before the service removes old changes. */
  fillSeconds?: number;
}

/** Twice the time between two removals of old changes. */
const fillSeconds = 120;

/** The caches of resources, pages and events have limits, and fill for minutes. Memory varies with garbage collection, files with checkpoints. Descriptors and threads are constant under a constant load. */
export const plateaus: readonly Plateau[] = [
  { name: "anonymous memory (MB)", of: (each) => each.anonymousMb, tolerance: { share: 0.1, amount: 20 } },
  { name: "heap (MB)", of: (each) => each.heapMb, tolerance: { share: 0.1, amount: 12 } },
  { name: "file descriptors", of: (each) => each.descriptors, tolerance: { share: 0, amount: 10 } },
  { name: "threads", of: (each) => each.threads, tolerance: { share: 0, amount: 2 } },
  { name: "store file (MB)", of: (each) => each.storeMb, tolerance: { share: 0.1, amount: 1 }, fillSeconds },
  { name: "WAL (MB)", of: (each) => each.walMb, tolerance: { share: 0.25, amount: 4 }, fillSeconds },
];

/** The judgement on one figure in one life of the service. */
export interface Judgement {
  name: string;
  life: number;
  /** The medians of the three thirds after the warm-up. */
  medians: readonly [number, number, number];
  grows: boolean;
}

/** The share of a life in which caches fill. */
const warmUp = 0.3;

/** The fewest samples of a life that can be judged. */
const fewestSamples = 12;

/** A leak grows by the same amount from third to third. A cache that fills grows by less each time. */
const steady = 0.6;

/**
 * Judges each figure in each life. It grows if the medians of the thirds rise by more than the tolerance, and do not rise by less and
 * less. Throws if a life has too few samples.
 */
export function judge(samples: readonly Sample[]): Judgement[] {
  const lives = [...new Set(samples.map(({ life }) => life))];
  return lives.flatMap((life) => {
    const all = samples.filter((sample) => sample.life === life);
    if (all.length < fewestSamples)
      throw new Error(`Life ${life} of the service has only ${all.length} samples. Let the soak run longer.`);
    const warm = all.slice(Math.floor(all.length * warmUp));
    return plateaus.flatMap((plateau) => {
      const counted = warm.filter(({ seconds }) => seconds >= (plateau.fillSeconds ?? 0));
      return counted.length < fewestSamples / 2 ? [] : [judgeOne(plateau, life, counted)];
    });
  });
}

function judgeOne({ name, of, tolerance }: Plateau, life: number, warm: readonly Sample[]): Judgement {
  const third = warm.length / 3;
  const medianOf = (index: number) =>
    median(warm.slice(Math.floor(index * third), Math.floor((index + 1) * third)).map(of));
  const [first, second, last] = [medianOf(0), medianOf(1), medianOf(2)];
  const isMore = last - first > Math.max(tolerance.amount, first * tolerance.share);
  const isSteady = second > first && last - second >= steady * (second - first);
  return { name, life, medians: [first, second, last], grows: isMore && isSteady };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
