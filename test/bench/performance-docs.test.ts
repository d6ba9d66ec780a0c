/** Holds the page on performance to the results file that it names: no figure there is typed. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fillIn, page, resultsFileOf } from "../../bench/report/documentation.ts";
import { readResults } from "../../bench/report/results.ts";

const text = readFileSync(page, "utf8");
const file = resultsFileOf(text) ?? "";

test("the page on performance has the figures of its results file (npm run bench -- --document makes it)", () => {
  assert.equal(text, fillIn(text, readResults(file), file));
});

test("the page has no figure outside of the tables, and none in requests per second or milliseconds", () => {
  const typed = text.replace(/<!-- figures: [a-z]+ -->[\s\S]*?<!-- end -->/g, "");
  const shown = [...text.matchAll(/<!-- figures: ([a-z]+) -->/g)].map(([, name]) => name);
  for (const absolute of ["throughput", "latency", "processor", "variations", "scale"])
    assert.ok(!shown.includes(absolute), absolute);
  assert.doesNotMatch(typed, /\d[\d,.]*\s*(requests? per second|requests?\/s|\/s\b|ms\b|MB\b|times\b)/);
});
