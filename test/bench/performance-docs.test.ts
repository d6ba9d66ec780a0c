/** Holds the pages with figures to the results file that they name. No figure on the page for users is typed. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fillIn, page, pages, resultsFileOf } from "../../bench/report/documentation.ts";
import { readResults } from "../../bench/report/results.ts";

const file = resultsFileOf(readFileSync(page, "utf8")) ?? "";

for (const each of pages)
  test(`${each} has the figures of the results file (npm run bench -- --document makes it)`, () => {
    const text = readFileSync(each, "utf8");
    assert.equal(text, fillIn(text, readResults(file), file));
  });

test("the page for users has no figure outside of the tables", () => {
  const typed = readFileSync(page, "utf8").replace(/<!-- figures: [a-z]+ -->[\s\S]*?<!-- end -->/g, "");
  assert.doesNotMatch(typed, /\d[\d,.]*\s*(requests? per second|requests?\/s|\/s\b|ms\b|MB\b|times\b)/);
});
