import { readFileSync, writeFileSync } from "node:fs";
import { fillIn, pages, requireRounds } from "./documentation.ts";
import { latestResults, readResults } from "./results.ts";

/** Makes the pages from a results file, or from the last one, and returns their paths. Throws if the file has too few rounds. */
export function writeDocumentation(asked: string | true): string {
  const file = asked === true ? latestResults() : asked;
  if (file === undefined)
    throw new Error("There are no results to make the page from. Run: npm run bench -- comparison scale");
  const results = readResults(file);
  requireRounds(results);
  for (const page of pages) writeFileSync(page, fillIn(readFileSync(page, "utf8"), results, file));
  return pages.join("\n");
}
