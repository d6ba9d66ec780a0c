/** What Holdfast is to be beside what its users would write themselves, and beside what nothing can be faster than. */
import { type Aim, type Figure, figureOf, showRate } from "../harness/figure.ts";
import type { Cell } from "../report/results.ts";

interface Goal {
  what: string;
  scenario: string;
  connections: number;
  flushDelayUs?: number;
  beside: string;
  aim: Aim;
}

const express = "express-sqlite";

const goals: readonly Goal[] = [
  {
    what: "read by id, hot ids, against Express + better-sqlite3",
    scenario: "read",
    connections: 64,
    beside: express,
    aim: { atLeast: 3 },
  },
  {
    what: "read by id, hot ids, against a Fastify constant",
    scenario: "read",
    connections: 64,
    beside: "fastify-constant",
    aim: { atLeast: 0.8 },
  },
  {
    what: "read by id, cold ids, against a Fastify constant",
    scenario: "cold",
    connections: 64,
    beside: "fastify-constant",
    aim: { atLeast: 0.7 },
  },
  {
    what: "indexed page of 20 against Express + better-sqlite3",
    scenario: "filtered",
    connections: 64,
    beside: express,
    aim: { atLeast: 3 },
  },
  {
    what: "durable create on 64 connections against Express + better-sqlite3",
    scenario: "create",
    connections: 64,
    beside: express,
    aim: { atLeast: 5 },
  },
  {
    what: "durable create on 1 connection against Express + better-sqlite3",
    scenario: "create",
    connections: 1,
    beside: express,
    aim: { atLeast: 0.95 },
  },
  {
    what: "durable create on 64 connections, flushes 2 ms slower, against Express + better-sqlite3",
    scenario: "create",
    connections: 64,
    flushDelayUs: 2_000,
    beside: express,
    aim: { atLeast: 20 },
  },
  {
    what: "durable create on 1 connection, flushes 2 ms slower, against Express + better-sqlite3",
    scenario: "create",
    connections: 1,
    flushDelayUs: 2_000,
    beside: express,
    aim: { atLeast: 0.95 },
  },
];

/** The goals as figures, where both sides were measured. */
export function judgeGoals(cells: readonly Cell[]): Figure[] {
  return goals.flatMap((goal) => {
    const own = cellOf(cells, goal, "holdfast");
    const theirs = cellOf(cells, goal, goal.beside);
    if (own === undefined || theirs === undefined) return [];
    const sides = { ours: ratesOf(own), theirs: ratesOf(theirs) };
    return [figureOf(goal.what, sides, { aim: goal.aim, show: showRate })];
  });
}

function ratesOf({ rounds = [] }: Cell): number[] {
  return rounds.map(({ perSecond }) => perSecond);
}

function cellOf(
  cells: readonly Cell[],
  { scenario, connections, flushDelayUs }: Goal,
  subject: string,
): Cell | undefined {
  return cells.find(
    (cell) =>
      cell.subject === subject &&
      cell.scenario === scenario &&
      cell.bytes === 300 &&
      cell.connections === connections &&
      cell.flushDelayUs === flushDelayUs &&
      cell.processors === undefined,
  );
}
