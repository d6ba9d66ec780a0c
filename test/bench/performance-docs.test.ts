/** Holds the page on performance to the results file that it names: no figure there is typed. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fillIn, page, resultsFileOf } from "../../bench/report/documentation.ts";
import { readResults } from "../../bench/report/results.ts";

const text = readFileSync(page, "utf8");
const file = resultsFileOf(text) ?? "";

test("the page on performance has the figures of its results file, and is made anew by npm run bench -- --document", () => {
  assert.equal(text, fillIn(text, readResults(file), file));
});

test("every chart on the page is drawn from the same results file", () => {
  const charts = [...text.matchAll(/!\[[^\]]+\]\(([^)]+\.svg)\)/g)].map(([, path = ""]) =>
    join(dirname(page), path),
  );
  assert.ok(charts.length >= 2);
  for (const chart of charts) assert.ok(readFileSync(chart, "utf8").includes(`<!-- ${file} -->`), chart);
});

test("no figure stands on the page outside of what is made from the results", () => {
  const typed = text.replace(/<!-- figures: [a-z]+ -->[\s\S]*?<!-- end -->/g, "");
  assert.doesNotMatch(typed, /\d[\d,.]*\s*(requests? per second|requests?\/s|\/s\b|ms\b|MB\b|times\b)/);
});
