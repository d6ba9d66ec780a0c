/** How long a run may take: the same measurements, with more or fewer rounds. */
export interface Effort {
  name: "quick" | "usual" | "thorough";
  /** How often each side of a comparison is measured, in turn. */
  rounds: number;
  /** Not counted, before each round. A short run has none, except where compilation would favour one side. */
  warmUpMs: number;
  /** The time that a round measures. */
  durationMs: number;
  /** The share of the resources, or requests, of those measurements that take many. */
  share: number;
}

/** As many resources as an effort takes of those that it would take at best; never so few that all are kept in memory. */
export function shareOf({ share }: Effort, resources: number): number {
  return Math.min(resources, Math.max(25_000, resources * share));
}

/** The efforts that can be asked for. */
export const efforts = {
  quick: { name: "quick", rounds: 1, warmUpMs: 0, durationMs: 1_000, share: 0.05 },
  usual: { name: "usual", rounds: 5, warmUpMs: 1_000, durationMs: 1_000, share: 1 },
  thorough: { name: "thorough", rounds: 5, warmUpMs: 2_000, durationMs: 3_000, share: 1 },
} as const satisfies Record<Effort["name"], Effort>;
