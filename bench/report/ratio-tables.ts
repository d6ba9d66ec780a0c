/** The tables of ratios: Holdfast beside others that were measured in turn with it. Other work on the machine slows both. */
import { scenarios } from "../comparison/scenarios.ts";
import { formatSpread, short, spreadOf } from "../harness/figure.ts";
import { describeCell, describeConnections, isMain, isOnAll, loop, main, scaleTitle } from "./cells.ts";
import type { Cell, CellRound, Results, ScalePoint, SubjectFacts } from "./results.ts";
import type { Table } from "./table.ts";

const own = "holdfast";

/** Each table by the name that the documentation calls it by. */
export const ratioTables = {
  faster: fasterTable,
  /** How many times as many requests per second Holdfast answers if each service has one processor. */
  single: (results: Results) =>
    ofScenarios(results, isAlternative, "Requests per second of Holdfast, divided by those of", perSecond),
  /** How many times as much processor time the others take. */
  cheaper: (results: Results) =>
    ofScenarios(
      results,
      isAlternative,
      "Processor time for each request, divided by that of Holdfast",
      perSecondOfCpu,
    ),
  elsewhere: elsewhereTable,
  limits: (results: Results) =>
    ofScenarios(results, isLimitOrStore, "Requests per second of Holdfast, divided by those of", perSecond),
  growth: growthTable,
} as const satisfies Record<string, (results: Results) => Table>;

type Rate = (round: CellRound) => number;

const perSecond: Rate = (round) => round.perSecond;

/** Requests for each second of processor time. */
const perSecondOfCpu: Rate = ({ cpuPer10k }) => 10_000 / cpuPer10k;

/** What people would use instead. */
function isAlternative({ name, isLimit }: SubjectFacts): boolean {
  return !isLimit && !name.startsWith(own);
}

/** What no service on Node can exceed, and Holdfast on its other store. The loop is not measured in turn. */
function isLimitOrStore({ name, isLimit }: SubjectFacts): boolean {
  return name !== own && name !== loop && (isLimit || name.startsWith(own));
}

/**
 * What a user gets: all processors of the machine for each service and for the load. The rows have the requests per second of
 * Holdfast, and for each other service the ratio with its own requests per second.
 */
function fasterTable({ cells, subjects }: Results): Table {
  const shared = cells.filter(isOnAll);
  const rows = scenarios.flatMap(({ name, title }) =>
    [
      ...Map.groupBy(
        shared.filter(({ scenario }) => scenario === name),
        ({ connections }) => connections,
      ),
    ].map(([connections, row]): [string, Cell[]] => [
      connections === main.connections ? title : `${title}, ${describeConnections(connections)}`,
      row,
    ]),
  );
  const others = subjects.filter(({ name, isLimit }) => name !== own && !isLimit);
  const { head, ...table } = ratioTable(
    "Requests per second, and how many times those of",
    others,
    rows,
    (ours, theirs) => `${ratioOf(ours, theirs, perSecond)} × ${short(theirs.perSecond)}`,
    ({ perSecond: rate }) => [short(rate)],
  );
  return { ...table, head: ["", "Holdfast", ...head.slice(1)] };
}

function ofScenarios(
  { cells, subjects }: Results,
  isShown: (subject: SubjectFacts) => boolean,
  title: string,
  rate: Rate,
): Table {
  const all = cells.filter(isMain);
  const rows = scenarios.map((scenario): [string, Cell[]] => [
    scenario.title,
    all.filter((cell) => cell.scenario === scenario.name),
  ]);
  return ratioTable(title, subjects.filter(isShown), rows, (ours, theirs) => ratioOf(ours, theirs, rate));
}

/** Other articles, connections and disks: a row for each. */
function elsewhereTable({ cells, subjects }: Results): Table {
  const rows = new Map<string, Cell[]>();
  for (const cell of cells.filter((each) => !isMain(each) && !isOnAll(each))) {
    const what = describeCell(cell);
    rows.set(what, [...(rows.get(what) ?? []), cell]);
  }
  const title = "Requests per second of Holdfast, divided by those of";
  return ratioTable(title, subjects.filter(isAlternative), [...rows], (ours, theirs) =>
    ratioOf(ours, theirs, perSecond),
  );
}

/** Results of earlier releases have no rounds, and so no spread. */
function ratioOf(ours: Cell, theirs: Cell, rate: Rate): string {
  const plain = (cell: Cell) => rate({ ...cell, cpuPer10k: cell.cpuPer10k ?? Number.NaN });
  const spread = spreadOf((ours.rounds ?? []).map(rate), (theirs.rounds ?? []).map(rate));
  return spread === undefined ? short(plain(ours) / plain(theirs)) : formatSpread(spread);
}

/** The same requests while the collection grows: a column for each size. */
function growthTable({ scale }: Results): Table {
  const sizes = [...new Set(scale.map(({ resources }) => resources))].sort((a, b) => a - b);
  const beside = "express-sqlite";
  const point = (subject: string, what: string, size: number) =>
    scale.find((each) => each.subject === subject && each.what === what && each.resources === size);
  const rows = [...new Set(scale.map(({ what }) => what))].map((what) => [
    scaleTitle(what),
    ...sizes.map((size) => ratioOfPoints(point(own, what, size), point(beside, what, size))),
  ]);
  return {
    title: "Requests per second of Holdfast, divided by those of Express + better-sqlite3, at each size",
    head: ["", ...sizes.map((size) => size.toLocaleString("en"))],
    rows,
  };
}

function ratioOfPoints(ours: ScalePoint | undefined, theirs: ScalePoint | undefined): string {
  if (ours === undefined || theirs === undefined) return short(undefined);
  const spread = spreadOf(ours.rounds ?? [], theirs.rounds ?? []);
  return spread === undefined ? short(ours.perSecond / theirs.perSecond) : formatSpread(spread);
}

/** A row for each thing that was measured on Holdfast, and a column for each of the others that was measured at all. */
function ratioTable(
  title: string,
  others: readonly SubjectFacts[],
  rows: readonly (readonly [what: string, cells: readonly Cell[]])[],
  text: (ours: Cell, theirs: Cell) => string,
  ownText: (ours: Cell) => string[] = () => [],
): Table {
  const isMeasured = ({ name }: SubjectFacts) =>
    rows.some(([, cells]) => cells.some(({ subject }) => subject === name));
  const shown = others.filter(isMeasured);
  const filled = rows.flatMap(([what, cells]) => {
    const ours = cells.find(({ subject }) => subject === own);
    if (ours === undefined) return [];
    return [
      [
        what,
        ...ownText(ours),
        ...shown.map(({ name }) => {
          const theirs = cells.find(({ subject }) => subject === name);
          return theirs === undefined ? short(undefined) : text(ours, theirs);
        }),
      ],
    ];
  });
  return { title, head: ["", ...shown.map((each) => each.title)], rows: filled };
}
