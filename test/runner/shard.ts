/** A part of the runs, so that several machines share them. */
export interface Shard {
  /** 1 is the first one. */
  number: number;
  of: number;
}

/** The runs of a shard. Neighbours are alike, so each shard takes every so many of them. */
export function shardOf<T>(jobs: readonly T[], { number, of }: Shard): T[] {
  return jobs.filter((_, index) => index % of === number - 1);
}
