import { readFileSync, writeFileSync } from "node:fs";
import { fillIn, page, requireRounds } from "./documentation.ts";
import { latestResults, readResults } from "./results.ts";

/** Makes the page from a results file, or from the last one, and returns its path. Throws if the file has too few rounds. */
export function writeDocumentation(asked: string | true): string {
  const file = asked === true ? latestResults() : asked;
  if (file === undefined)
    throw new Error("There are no results to make the page from. Run: npm run bench -- comparison scale");
  const results = readResults(file);
  requireRounds(results);
  writeFileSync(page, fillIn(readFileSync(page, "utf8"), results, file));
  return page;
}
