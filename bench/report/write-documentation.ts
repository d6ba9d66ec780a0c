import { readFileSync, writeFileSync } from "node:fs";
import { drawCharts } from "./charts.ts";
import { fillIn, page } from "./documentation.ts";
import { latestResults, readResults } from "./results.ts";

/** Makes the page and its charts from a results file, or from the last one, and gives their paths. */
export function writeDocumentation(asked: string | true): string[] {
  const file = asked === true ? latestResults() : asked;
  if (file === undefined) throw new Error("there are no results to make the documentation from");
  const results = readResults(file);
  writeFileSync(page, fillIn(readFileSync(page, "utf8"), results, file));
  return [page, ...drawCharts(results, file)];
}
