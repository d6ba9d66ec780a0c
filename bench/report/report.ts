/** Prints the results of a run, and saves them. */
import type { Effort } from "../harness/effort.ts";
import { type Figure, formatFigure, isReached } from "../harness/figure.ts";
import { margin } from "../session.ts";
import { type Results, writeResults } from "./results.ts";
import { toText } from "./table.ts";
import { tables } from "./tables.ts";

/** Prints the tables. Returns whether all parts ended without an error, and whether the ratios of a quick run reach their aims. */
export function report(results: Results, effort: Effort): boolean {
  const { aims: _, ...shown } = tables; // the lines below contain more
  for (const make of Object.values(shown)) {
    const table = make(results);
    if (table.rows.length > 0) process.stdout.write(toText(table));
  }
  process.stdout.write(`\nload generator ${results.load}, ${results.machine.processors} processors`);
  process.stdout.write(` (load average at the start: ${results.machine.busy} per processor)\n`);
  for (const figure of results.ratios)
    process.stdout.write(`${figure.name.padEnd(10)} ${formatFigure(figure)}\n`);
  const seconds = Object.entries(results.seconds).map(([part, count]) => `${part} ${count} s`);
  process.stdout.write(`\ntime of each part: ${seconds.join(", ")}\n`);
  for (const { part, reason } of results.failures)
    process.stdout.write(`the part ${part} ended with an error: ${reason}\n`);
  const isComplete = results.failures.length === 0;
  if (effort.name === "quick") return judge(results.ratios) && isComplete;
  process.stdout.write(`results written to ${writeResults(results)}\n`);
  return isComplete;
}

function judge(figures: readonly Figure[]): boolean {
  const short = figures.filter((figure) => !isReached(figure, margin));
  for (const { what } of short)
    process.stdout.write(`misses its aim by more than ${margin * 100}%: ${what}\n`);
  return short.length === 0;
}
