/** Tells on the terminal what a run found, and keeps it. */
import type { Effort } from "../harness/effort.ts";
import { type Figure, formatFigure, isReached } from "../harness/figure.ts";
import { margin } from "../session.ts";
import { type Results, writeResults } from "./results.ts";
import { toText } from "./table.ts";
import { tables } from "./tables.ts";

/** Prints the tables, and gives whether the ratios are as they are to be; only a quick run minds. */
export function report(results: Results, effort: Effort): boolean {
  for (const make of Object.values(tables)) {
    const table = make(results);
    if (table.rows.length > 0) process.stdout.write(toText(table));
  }
  process.stdout.write(`\nload generator ${results.load}, ${results.machine.processors} processors`);
  process.stdout.write(` (load average at the start: ${results.machine.busy} per processor)\n`);
  for (const figure of results.ratios)
    process.stdout.write(`${figure.name.padEnd(10)} ${formatFigure(figure)}\n`);
  if (effort.name !== "quick") {
    process.stdout.write(`\nresults written to ${writeResults(results)}\n`);
    return true;
  }
  return judge(results.ratios);
}

function judge(figures: readonly Figure[]): boolean {
  const short = figures.filter((figure) => !isReached(figure, margin));
  for (const { what } of short)
    process.stdout.write(`misses its aim by more than ${margin * 100}%: ${what}\n`);
  return short.length === 0;
}
