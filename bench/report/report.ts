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
  process.stdout.write(`\nload by ${results.load}, ${results.machine.processors} processors`);
  process.stdout.write(` (load average ${results.machine.busy} for each at the beginning)\n`);
  for (const figure of results.ratios)
    process.stdout.write(`${figure.name.padEnd(10)} ${formatFigure(figure)}\n`);
  if (effort.name !== "quick") {
    process.stdout.write(`\nkept in ${writeResults(results)}\n`);
    return true;
  }
  return judge(results.ratios);
}

function judge(figures: readonly Figure[]): boolean {
  const short = figures.filter((figure) => !isReached(figure, margin));
  for (const { what } of short) process.stdout.write(`falls short by more than ${margin * 100} %: ${what}\n`);
  return short.length === 0;
}
