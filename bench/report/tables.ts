/** The tables of a results file. */
import { scenarios } from "../comparison/scenarios.ts";
import { formatAim, formatRatio, formatSpread, isReached, short } from "../harness/figure.ts";
import { describeCell, isMain, loop, main, scaleTitle, titleOf } from "./cells.ts";
import { ratioTables } from "./ratio-tables.ts";
import type { Cell, Results } from "./results.ts";
import type { Table } from "./table.ts";

/** Each table by the name that the documentation calls it by. */
export const tables = {
  throughput: (results: Results) => ofScenarios(results, "Requests per second", showRates),
  latency: (results: Results) =>
    ofScenarios(
      results,
      "Milliseconds to the answer, median / 99th percentile",
      ({ p50, p99 }) => `${short(p50)} / ${short(p99)}`,
    ),
  processor: (results: Results) =>
    ofScenarios(results, "Processor seconds for 10,000 requests", ({ cpuPer10k, rounds = [] }) =>
      withRange(
        cpuPer10k,
        rounds.map((round) => round.cpuPer10k),
      ),
    ),
  variations: variationsTable,
  footprint: footprintTable,
  scale: scaleTable,
  ...ratioTables,
  aims: aimsTable,
  subjects: subjectsTable,
  absent: absentTable,
} as const satisfies Record<string, (results: Results) => Table>;

function showRates({ perSecond, rounds = [] }: Pick<Cell, "perSecond" | "rounds">): string {
  return withRange(
    perSecond,
    rounds.map((round) => round.perSecond),
  );
}

/** A median with the smallest and the largest of the rounds, if there are several. */
function withRange(middle: number | undefined, rounds: readonly number[]): string {
  if (middle === undefined || rounds.length < 2) return short(middle);
  return formatSpread({ median: middle, smallest: Math.min(...rounds), largest: Math.max(...rounds) });
}

function ofScenarios({ cells, subjects }: Results, title: string, of: (cell: Cell) => string): Table {
  const all = cells.filter(isMain);
  const shown = scenarios.filter(({ name }) => all.some(({ scenario }) => scenario === name));
  const rows = subjects
    .filter(({ name }) => all.some(({ subject }) => subject === name))
    .map(({ name, title: subjectTitle }) => [
      subjectTitle,
      ...shown.map((scenario) => {
        const cell = all.find((each) => each.subject === name && each.scenario === scenario.name);
        return cell === undefined ? "–" : of(cell);
      }),
    ]);
  return { title: `${title}: ${describeMain()}`, head: ["", ...shown.map((each) => each.title)], rows };
}

function describeMain(): string {
  return `articles of ${main.bytes} bytes, ${main.connections} connections`;
}

/** The measurements with other articles, connections and disks: a row for each variant, a column for each service. */
function variationsTable({ cells, subjects }: Results): Table {
  const others = cells.filter((cell) => !isMain(cell) && cell.subject !== loop);
  const shown = subjects.filter(({ name }) => others.some(({ subject }) => subject === name));
  const rows = new Map<string, string[]>();
  for (const cell of others) {
    const what = describeCell(cell);
    const row = rows.get(what) ?? [what, ...shown.map(() => "–")];
    row[shown.findIndex(({ name }) => name === cell.subject) + 1] = showRates(cell);
    rows.set(what, row);
  }
  return {
    title: "Requests per second with other articles, connections and disks",
    head: ["", ...shown.map(({ title }) => title)],
    rows: [...rows.values()],
  };
}

function footprintTable({ subjects }: Results): Table {
  const rows = subjects
    .filter(({ isLimit }) => !isLimit)
    .map(({ title, peakMb, bytesPerResource }) => [title, short(peakMb), short(bytesPerResource)]);
  return {
    title: "Memory and disk",
    head: ["", "peak memory, MB", "bytes on disk per article"],
    rows,
  };
}

function scaleTable({ scale, subjects }: Results): Table {
  const sizes = [...new Set(scale.map(({ resources }) => resources))].sort((a, b) => a - b);
  const rows = [...new Set(scale.map(({ what, subject }) => `${what} ${subject}`))].sort().map((line) => {
    const [what = "", subject = ""] = line.split(" ");
    const own = scale.filter((point) => point.what === what && point.subject === subject);
    const point = (size: number) => own.find(({ resources }) => resources === size);
    return [
      `${scaleTitle(what)}: ${titleOf(subjects, subject)}`,
      ...sizes.map((size) => withRange(point(size)?.perSecond, point(size)?.rounds ?? [])),
    ];
  });
  return {
    title: "Per second at each size of the collection",
    head: ["", ...sizes.map((size) => size.toLocaleString("en"))],
    rows,
  };
}

/** The aims of the project, with what was measured. */
function aimsTable({ ratios }: Results): Table {
  const rows = ratios.flatMap((figure) =>
    figure.aim === undefined
      ? []
      : [[figure.what, formatRatio(figure), formatAim(figure.aim), isReached(figure) ? "yes" : "no"]],
  );
  return { title: "Aims", head: ["", "ratio", "aim", "reached"], rows };
}

function subjectsTable({ subjects }: Results): Table {
  const rows = subjects
    .filter(({ isLimit }) => !isLimit)
    .map(({ title, versions, keeps, checks }) => [title, versions, keeps, checks]);
  return {
    title: "What is compared",
    head: ["", "versions", "an answered write", "what is checked, and what is unequal"],
    rows,
  };
}

function absentTable({ absent }: Results): Table {
  return {
    title: "What could not be compared with",
    head: ["", "why"],
    rows: absent.map(({ title, reason }) => [title, reason]),
  };
}
