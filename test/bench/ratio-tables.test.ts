/** The tables of ratios: from rounds that were taken in turn, with the smallest and the largest. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { efforts } from "../../bench/harness/effort.ts";
import { type Figure, figureOf, formatFigure, spreadOf, timeFigureOf } from "../../bench/harness/figure.ts";
import { fewestRounds, fillIn, requireRounds } from "../../bench/report/documentation.ts";
import { ratioTables } from "../../bench/report/ratio-tables.ts";
import { type Cell, openResults, type Results } from "../../bench/report/results.ts";
import { tables } from "../../bench/report/tables.ts";

const subjects = [
  { name: "fastify-constant", title: "A constant", isLimit: true },
  { name: "holdfast", title: "Holdfast", isLimit: false },
  { name: "express-sqlite", title: "Express", isLimit: false },
  { name: "holdfast-postgres", title: "Holdfast on PostgreSQL", isLimit: false },
].map((each) => ({ ...each, versions: "", keeps: "", checks: "" }));

/** A cell whose rounds have these requests per second; the processor time is the inverse. */
function cell(subject: string, rounds: readonly number[], other: Partial<Cell> = {}): Cell {
  return {
    scenario: "read",
    bytes: 300,
    connections: 64,
    subject,
    perSecond: rounds[0] ?? 0,
    p50: 1,
    p99: 1,
    rounds: rounds.map((perSecond) => ({ perSecond, cpuPer10k: 10_000 / perSecond })),
    ...other,
  };
}

function resultsOf(other: Partial<Results>): Results {
  return { ...openResults(efforts.usual), subjects, ...other };
}

// Other work halves the third round of both.
const ours = [300, 330, 150, 270, 360];
const theirs = [100, 100, 50, 100, 100];

test("a spread takes each round beside its own, and not the medians of both sides", () => {
  assert.deepEqual(spreadOf(ours, theirs), { median: 3, smallest: 2.7, largest: 3.6 });
  assert.equal(spreadOf([], []), undefined);
  assert.equal(spreadOf(ours, []), undefined);
});

test("the first table has what people would use instead, with the spread of the rounds", () => {
  const cells = [cell("holdfast", ours), cell("express-sqlite", theirs), cell("fastify-constant", ours)];
  const { head, rows } = ratioTables.single(resultsOf({ cells }));
  assert.deepEqual(head, ["", "Express"]);
  assert.deepEqual(rows, [["read by id, hot ids", "3.00 (2.70–3.60)"]]);
  assert.deepEqual(ratioTables.cheaper(resultsOf({ cells })).rows, rows);
});

test("limits and the other store are in a table beside", () => {
  const cells = [
    cell("holdfast", ours),
    cell("express-sqlite", theirs),
    cell("fastify-constant", [600, 660, 300, 540, 720]),
    cell("holdfast-postgres", ours),
    cell("holdfast", ours, { scenario: "mixed" }),
  ];
  const { head, rows } = ratioTables.limits(resultsOf({ cells }));
  assert.deepEqual(head, ["", "A constant", "Holdfast on PostgreSQL"]);
  assert.deepEqual(rows, [
    ["read by id, hot ids", "0.50 (0.50–0.50)", "1.00 (1.00–1.00)"],
    ["90 reads, 10 replacements", "–", "–"],
  ]);
});

test("other articles, connections and disks have a row each", () => {
  const slow = { scenario: "create", connections: 1, flushDelayUs: 2_000 };
  const cells = [
    cell("holdfast", ours),
    cell("holdfast", ours, slow),
    cell("express-sqlite", theirs, slow),
    cell("holdfast", ours, { bytes: 5_000 }),
  ];
  const { rows } = ratioTables.elsewhere(resultsOf({ cells }));
  assert.deepEqual(rows, [
    ["create: 300 bytes, 1 connection, each flush 2 ms slower", "3.00 (2.70–3.60)"],
    ["read by id, hot ids: 5,000 bytes, 64 connections", "–"],
  ]);
});

test("services that share all processors have their own table, with the rates of both", () => {
  const wide = { processors: 2 };
  const one = { ...wide, scenario: "create", connections: 1 };
  const cells = [
    cell("holdfast", ours, wide),
    cell("express-sqlite", theirs, wide),
    cell("holdfast-postgres", ours, wide),
    cell("holdfast", ours, one),
    cell("express-sqlite", theirs, one),
    cell("holdfast", ours),
    cell("express-sqlite", ours),
  ];
  const results = resultsOf({ cells });
  const { head, rows } = ratioTables.faster(results);
  assert.deepEqual(head, ["", "Holdfast", "Express", "Holdfast on PostgreSQL"]);
  assert.deepEqual(rows, [
    ["read by id, hot ids", "300", "3.00 (2.70–3.60) × 100", "1.00 (1.00–1.00) × 300"],
    ["create, 1 connection", "300", "3.00 (2.70–3.60) × 100", "–"],
  ]);
  assert.deepEqual(ratioTables.single(results).rows, [["read by id, hot ids", "1.00 (1.00–1.00)"]]);
  assert.deepEqual(ratioTables.elsewhere(results).rows, []);
});

test("the aims have the spread of their rounds, and say whether they are reached", () => {
  const show = (value: number) => `${value}/s`;
  const named = (figure: Figure) => ({ ...figure, name: "read" });
  const ratios = [
    named(figureOf("reads", { ours, theirs }, { aim: { atLeast: 2 }, show })),
    named(timeFigureOf("time of reads", { ours, theirs }, { atMost: 0.3 })),
    named({ what: "memory", value: "9 MB" }),
  ];
  assert.deepEqual(tables.aims(resultsOf({ ratios })).rows, [
    ["reads", "3.00 (2.70–3.60)", "at least 2", "yes"],
    ["time of reads", "0.33 (0.28–0.37)", "at most 0.3", "no"],
  ]);
  assert.match(
    formatFigure(ratios[0] as Figure),
    /^reached reads: 3\.00 \(2\.70–3\.60\), aim at least 2; 300\/s/,
  );
});

test("the tables in requests per second have the slowest and the fastest round", () => {
  const { rows } = tables.throughput(resultsOf({ cells: [cell("holdfast", ours)] }));
  assert.deepEqual(rows, [["Holdfast", "300 (150–360)"]]);
});

test("growth compares at each size", () => {
  const point = (subject: string, resources: number, rounds: readonly number[]) => ({
    ...{ subject, resources, what: "walk", perSecond: rounds[0] ?? 0, rounds },
  });
  const scale = [
    point("holdfast", 10_000, ours),
    point("express-sqlite", 10_000, theirs),
    point("holdfast", 100_000, ours),
  ];
  const { head, rows } = ratioTables.growth(resultsOf({ scale }));
  assert.deepEqual(head, ["", "10,000", "100,000"]);
  assert.deepEqual(rows, [["walk by pages of 100, articles", "3.00 (2.70–3.60)", "–"]]);
});

test("results without rounds show the ratio of the medians alone", () => {
  const bare = (subject: string, perSecond: number): Cell => {
    const { rounds: _, ...rest } = cell(subject, [perSecond]);
    return rest;
  };
  const cells = [bare("holdfast", 300), bare("express-sqlite", 100)];
  assert.deepEqual(ratioTables.single(resultsOf({ cells })).rows, [["read by id, hot ids", "3.00"]]);
});

test("a usual run has enough rounds for the page, which takes no results with fewer", () => {
  assert.ok(efforts.usual.rounds >= fewestRounds);
  const cells = [cell("holdfast", ours), cell("express-sqlite", theirs)];
  requireRounds(resultsOf({ cells }));
  const short = [...cells, cell("json-server", theirs.slice(1))];
  assert.throws(() => requireRounds(resultsOf({ cells: short })), /have 4 rounds.* at least 5/);
  assert.throws(() => requireRounds(resultsOf({ cells: [] })), /no rounds/);
});

test("the page says plainly whether the machine did other work", () => {
  const said = (busy: number) => {
    const results = resultsOf({ cells: [cell("holdfast", ours)] });
    const machine = { ...results.machine, busy };
    return fillIn(
      "<!-- figures: conditions -->\n<!-- end -->",
      { ...results, machine },
      "bench/results/x.json",
    );
  };
  assert.match(
    said(0.82),
    /the machine also ran other work \(load average 0\.82 per processor\), so read only the ratios\./,
  );
  assert.match(said(0.05), /the machine ran almost nothing else \(load average 0\.05 per processor\)\./);
  assert.match(said(0.05), /\*\*Rounds:\*\* 5 for each ratio\./);
});
