/** A run of the bench: its parts one after the other, into one results object. */
import { type Comparison, compare, countRounds } from "./comparison/compare.ts";
import { judgeGoals } from "./comparison/goals.ts";
import { grids } from "./comparison/grids.ts";
import { countSteps, measureScale, type Scale, scaleOf } from "./comparison/scale.ts";
import { compareOnSlowDisks, countSlowRounds } from "./comparison/slow-disk.ts";
import type { Effort } from "./harness/effort.ts";
import { formatRatio, isReached } from "./harness/figure.ts";
import { removePostgres } from "./harness/postgres.ts";
import { stopServers } from "./harness/server.ts";
import type { Opponent } from "./opponents/opponent.ts";
import { opponents } from "./opponents/table.ts";
import type { BenchOptions } from "./options.ts";
import { ratios } from "./ratios/table.ts";
import { type Progress, startProgress } from "./report/progress.ts";
import { openResults, type Results } from "./report/results.ts";

/** What lets a ratio of a short run pass: two rounds of a second differ by so much on a quiet machine. */
export const margin = 0.25;

/** One part of a run. */
interface Part {
  name: string;
  steps: number;
  run(results: Results, progress: Progress): Promise<void>;
}

/** Runs the requested measurements. */
export async function measureAll(options: BenchOptions, effort: Effort): Promise<Results> {
  const results = openResults(effort);
  const parts = partsOf(options, effort, results);
  const progress = startProgress(parts.reduce((sum, { steps }) => sum + steps, 0));
  try {
    for (const part of parts) await runPart(part, results, progress);
  } finally {
    progress.stop();
    await removePostgres();
  }
  return results;
}

/** A part that fails is reported, and the run continues: its other results have taken an hour. */
async function runPart(part: Part, results: Results, progress: Progress): Promise<void> {
  const begin = performance.now();
  try {
    await part.run(results, progress);
  } catch (error) {
    const { message, stack = message } = error as Error;
    const [reason = ""] = message.split("\n", 1);
    process.stderr.write(`\nbench: ${part.name}: ${stack}\n`);
    results.failures.push({ part: part.name, reason });
    await stopServers();
  }
  results.seconds[part.name] = Math.round((performance.now() - begin) / 1_000);
}

function partsOf(options: BenchOptions, effort: Effort, results: Results): Part[] {
  const isAsked = (name: string) => options.parts.length === 0 || options.parts.includes(name);
  const parts = Object.keys(ratios)
    .filter(isAsked)
    .map((name) => ratioPart(name, effort));
  if (isAsked("comparison"))
    parts.push(
      comparisonPart({
        effort,
        opponents: opponentsHere(options, effort, results),
        grids: grids[effort.name],
      }),
    );
  if (isAsked("scale") && effort.name !== "quick")
    parts.push(
      scalePart(scaleOf(effort, opponentsHere(options, effort, results), options.tenMillion === true)),
    );
  return parts;
}

/** A ratio that a short run finds wanting is measured once more, which costs less than to be told of noise. */
function ratioPart(name: string, effort: Effort): Part {
  return {
    name,
    steps: 1,
    async run(results, progress) {
      progress.say(name);
      const measure = ratios[name] as (effort: Effort) => Promise<Results["ratios"]>;
      let figures = await measure(effort);
      if (effort.name === "quick" && !figures.every((figure) => isReached(figure, margin)))
        figures = await measure(effort);
      results.ratios.push(...figures.map((figure) => ({ ...figure, name })));
      progress.step(`${name}: ${figures.map(formatRatio).join(", ")}`);
    },
  };
}

function comparisonPart(comparison: Omit<Comparison, "progress">): Part {
  return {
    name: "comparison",
    steps: countRounds(comparison) + countSlowRounds(comparison),
    async run(results, progress) {
      await compare({ ...comparison, progress }, results);
      await compareOnSlowDisks({ ...comparison, progress }, results);
      results.ratios.push(...judgeGoals(results.cells).map((figure) => ({ ...figure, name: "comparison" })));
    },
  };
}

function scalePart(scale: Omit<Scale, "progress">): Part {
  return {
    name: "scale",
    steps: countSteps(scale),
    run: (results, progress) => measureScale({ ...scale, progress }, results),
  };
}

/** The subjects that can run on this machine. Reports the others. Holdfast is always included, because the limits respond with its bytes. */
function opponentsHere({ only }: BenchOptions, { name: effort }: Effort, results: Results): Opponent[] {
  const quick = ["holdfast", "express-sqlite"];
  const wanted = effort === "quick" ? quick : only;
  return opponents.filter(({ name, title, missing }) => {
    if (name !== "holdfast" && wanted !== undefined && !wanted.includes(name)) return false;
    const reason = missing();
    if (reason !== undefined && !results.absent.some((each) => each.title === title))
      results.absent.push({ title, reason });
    return reason === undefined;
  });
}
