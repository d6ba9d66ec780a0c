/** The middle one. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** The ratios of two sides that were measured in turn: the median of the rounds, and the smallest and the largest. */
export interface Spread {
  median: number;
  smallest: number;
  largest: number;
}

/** The ratios of rounds that were taken in turn, each with the round beside it; `undefined` without rounds. */
export function spreadOf(ours: readonly number[], theirs: readonly number[]): Spread | undefined {
  const ratios = ours.flatMap((own, n) => (theirs[n] === undefined ? [] : [own / theirs[n]]));
  if (ratios.length === 0) return undefined;
  return { median: median(ratios), smallest: Math.min(...ratios), largest: Math.max(...ratios) };
}

/** The aim of a ratio. */
export type Aim = { atLeast: number } | { atMost: number };

/** A measured figure and its aim. */
export interface Figure {
  what: string;
  value: string;
  /** The ratio and its aim, if it has one. */
  ratio?: number;
  aim?: Aim;
}

/** Whether the aim is reached, or missed by no more than the margin: 0.2 lets a fifth pass as noise. */
export function isReached({ ratio, aim }: Figure, margin = 0): boolean {
  if (ratio === undefined || aim === undefined) return true;
  return "atLeast" in aim ? ratio >= aim.atLeast * (1 - margin) : ratio <= aim.atMost * (1 + margin);
}

/** A line for a figure. */
export function formatFigure(figure: Figure): string {
  const { what, value, ratio, aim } = figure;
  if (ratio === undefined || aim === undefined) return `${what}: ${value}`;
  return `${isReached(figure) ? "reached" : "MISSED "} ${what}: ${ratio.toFixed(2)} (${formatAim(aim)}); ${value}`;
}

/** An aim in words. */
export function formatAim(aim: Aim): string {
  return "atLeast" in aim ? `at least ${aim.atLeast}` : `at most ${aim.atMost}`;
}
