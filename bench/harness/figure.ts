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
  /** The ratio, and its aim if it has one. */
  ratio?: number;
  aim?: Aim;
  /** The spread of the ratio, if both sides were measured in turn. */
  spread?: Spread;
}

/** The values of two sides, a value for each round. */
export interface Sides {
  ours: readonly number[];
  theirs: readonly number[];
}

/** The figure of two sides that were measured in turn: the median of the ratios of the rounds, with their spread. */
export function figureOf(
  what: string,
  { ours, theirs }: Sides,
  { aim, show }: { aim?: Aim | undefined; show(value: number): string },
): Figure {
  const value = `${show(median(ours))} against ${show(median(theirs))}`;
  const spread = spreadOf(ours, theirs);
  if (spread === undefined) return { what, value: "not measured" };
  return { what, value, ratio: spread.median, spread, ...(aim && { aim }) };
}

/** The figure of the time of a request, from the rates of two sides that were measured in turn. */
export function timeFigureOf(what: string, { ours, theirs }: Sides, aim?: Aim): Figure {
  const inverse = (rates: readonly number[]) => rates.map((rate) => 1 / rate);
  const show = (seconds: number) => showRate(1 / seconds);
  return figureOf(what, { ours: inverse(ours), theirs: inverse(theirs) }, { aim, show });
}

/** A rate, for `figureOf`. */
export function showRate(perSecond: number): string {
  return `${Math.round(perSecond)}/s`;
}

/** A time in milliseconds, for `figureOf`. */
export function showMs(ms: number): string {
  return `${short(ms)} ms`;
}

/** Seconds of processor time, for `figureOf`. */
export function showMicroseconds(seconds: number): string {
  return `${(seconds * 1e6).toFixed(1)} µs`;
}

/** Whether the aim is reached, or missed by no more than the margin: 0.2 lets a fifth pass as noise. */
export function isReached({ ratio, aim }: Figure, margin = 0): boolean {
  if (ratio === undefined || aim === undefined) return true;
  return "atLeast" in aim ? ratio >= aim.atLeast * (1 - margin) : ratio <= aim.atMost * (1 + margin);
}

/** A line for a figure. */
export function formatFigure(figure: Figure): string {
  const { what, value, ratio, aim } = figure;
  if (ratio === undefined) return `${what}: ${value}`;
  const shown = formatRatio(figure);
  if (aim === undefined) return `        ${what}: ${shown}; ${value}`;
  return `${isReached(figure) ? "reached" : "MISSED "} ${what}: ${shown}, aim ${formatAim(aim)}; ${value}`;
}

/** The ratio of a figure with the smallest and the largest of the rounds, as far as they are known. */
export function formatRatio({ ratio, spread }: Figure): string {
  if (spread !== undefined) return formatSpread(spread);
  return ratio === undefined ? "–" : short(ratio);
}

/** A ratio with the smallest and the largest of the rounds. */
export function formatSpread({ median: middle, smallest, largest }: Spread): string {
  return `${short(middle)} (${short(smallest)}–${short(largest)})`;
}

/** An aim in words. */
export function formatAim(aim: Aim): string {
  return "atLeast" in aim ? `at least ${aim.atLeast}` : `at most ${aim.atMost}`;
}

/** A number with three digits. */
export function short(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return "–";
  if (value >= 100) return Math.round(value).toLocaleString("en");
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
