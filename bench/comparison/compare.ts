/** The comparison: every scenario on every service, and some of them with larger articles, and with few and many connections. */
import type { Effort } from "../harness/effort.ts";
import { inFolder } from "../harness/folder.ts";
import { stopServer } from "../harness/server.ts";
import type { Opponent } from "../opponents/opponent.ts";
import type { Progress } from "../report/progress.ts";
import type { Cell, Results } from "../report/results.ts";
import { type Data, makeData } from "./data.ts";
import { constantCount, limitFacts, measureLoop, startConstants } from "./limits.ts";
import { measure, staying, type Task } from "./measure.ts";
import { scenarioOf, scenarios } from "./scenarios.ts";
import { type Subject, startWithFacts, withPeak } from "./subject.ts";
import { witnessOf } from "./witness.ts";

/** Servers have one processor to themselves, and the load another. */
export const cpus = { server: 0, load: 1 };

/** Scenarios that are measured alike. */
export interface Grid {
  bytes: number;
  connections: number;
  scenarios: readonly string[];
  /** Names of services. @default all */
  only?: readonly string[];
}

const all = scenarios.map(({ name }) => name);
const written = ["holdfast", "express-sqlite", "fastify-sqlite"];

/** The measurements of a run. */
export const grids: Record<Effort["name"], readonly Grid[]> = {
  quick: [
    {
      bytes: 300,
      connections: 64,
      scenarios: ["read", "filtered", "create"],
      only: ["holdfast", "express-sqlite"],
    },
    { bytes: 300, connections: 1, scenarios: ["create"], only: ["holdfast", "express-sqlite"] },
  ],
  usual: [
    { bytes: 300, connections: 64, scenarios: all },
    { bytes: 300, connections: 1, scenarios: ["read", "filtered", "create"], only: written },
    { bytes: 300, connections: 256, scenarios: ["read", "create"], only: written },
    { bytes: 5_000, connections: 64, scenarios: ["read", "list", "create"], only: written },
  ],
  thorough: [300, 5_000].flatMap((bytes) =>
    [64, 1, 256].map((connections) => ({ bytes, connections, scenarios: all })),
  ),
};

/** The subjects of a comparison, and its options. */
export interface Comparison {
  effort: Effort;
  opponents: readonly Opponent[];
  grids: readonly Grid[];
  progress: Progress;
}

/** How many rounds a comparison takes, for the progress bar. */
export function countRounds({ effort, opponents, grids: asked }: Omit<Comparison, "progress">): number {
  return asked.reduce((sum, grid) => {
    const constants = effort.name === "quick" ? 0 : constantCount;
    const services = opponents.filter(({ name }) => grid.only?.includes(name) ?? true).length;
    return sum + grid.scenarios.length * (services + constants) * effort.rounds;
  }, 0);
}

/** Compares the subjects, and adds the results. */
export async function compare(comparison: Comparison, results: Results): Promise<void> {
  if (comparison.effort.name !== "quick") results.subjects.push(...limitFacts());
  for (const bytes of new Set(comparison.grids.map((grid) => grid.bytes)))
    await inFolder((folder) => compareOn(folder, bytes, comparison, results));
}

/** All grids of one size of articles. */
async function compareOn(
  folder: string,
  bytes: number,
  comparison: Comparison,
  results: Results,
): Promise<void> {
  const { effort, progress } = comparison;
  const own = comparison.grids.filter((grid) => grid.bytes === bytes);
  const doomed = 3_000 * effort.rounds * own.filter((grid) => grid.scenarios.includes("delete")).length;
  const data = await makeData(`${folder}/articles.ndjson`, staying + doomed + 1, bytes);
  const subjects = await startAll(folder, data, comparison, results);
  let next = staying;
  for (const grid of own) {
    for (const name of grid.scenarios) {
      const each = name === "delete" ? 3_000 * effort.rounds : 0;
      const task: Task = {
        scenario: scenarioOf(name),
        data,
        connections: grid.connections,
        effort,
        doomed: data.ids.slice(next, next + each),
        loadCpu: cpus.load,
        witness: witnessOf(progress, results, `${name}, ${bytes} bytes, ${grid.connections} connections`),
      };
      next += each;
      results.cells.push(...(await measureAll(subjects, grid, task)));
    }
  }
  if (effort.name !== "quick")
    results.cells.push(...measureLoop(folder, { ...effort, bytes, cpu: cpus.server }));
  await stopAll(subjects, results);
}

/** Reports and leaves out a subject that cannot be filled or started. */
async function startAll(
  folder: string,
  data: Data,
  comparison: Comparison,
  results: Results,
): Promise<Subject[]> {
  const { opponents, grids: asked, progress } = comparison;
  const isWanted = ({ name }: Opponent) =>
    asked.some(({ bytes, only }) => bytes === data.bytes && (only?.includes(name) ?? true));
  const subjects: Subject[] = [];
  for (const opponent of opponents.filter(isWanted)) {
    progress.say(`${opponent.title} is filled`);
    try {
      const started = await startWithFacts(opponent, folder, data, { cpu: cpus.server });
      subjects.push(started.subject);
      if (!results.subjects.some(({ name }) => name === opponent.name)) results.subjects.push(started.facts);
    } catch (error) {
      results.absent.push({ title: opponent.title, reason: "it could not be filled or started here" });
      process.stderr.write(`bench: ${opponent.title}: ${firstLine(error)}\n`);
    }
  }
  return subjects;
}

function firstLine(error: unknown): string {
  return (error as Error).message.split("\n", 1)[0] ?? "";
}

async function measureAll(
  subjects: readonly Subject[],
  { scenarios: _, only }: Grid,
  task: Task,
): Promise<Cell[]> {
  const able = subjects.filter(
    ({ name, opponent }) =>
      (only?.includes(name) ?? true) && opponent.cannot?.[task.scenario.name] === undefined,
  );
  const [first] = subjects;
  const hasLimits = task.effort.name !== "quick" && first?.name === "holdfast";
  const constants = hasLimits ? await startConstants(first, task, cpus.server) : [];
  const cells = await measure([...able, ...constants], task);
  for (const { server } of constants) await stopServer(server);
  return cells;
}

async function stopAll(subjects: readonly Subject[], results: Results): Promise<void> {
  for (const subject of subjects) {
    const at = results.subjects.findIndex(({ name }) => name === subject.name);
    const facts = results.subjects[at];
    if (facts !== undefined && facts.peakMb === undefined) results.subjects[at] = withPeak(facts, subject);
    await stopServer(subject.server);
  }
}
