/** The comparison: every scenario on every service, and some of them with larger articles, and with few and many connections. */
import { availableParallelism } from "node:os";
import type { RunOptions } from "../harness/commands.ts";
import type { Effort } from "../harness/effort.ts";
import { inFolder } from "../harness/folder.ts";
import { stopServer } from "../harness/server.ts";
import type { Opponent } from "../opponents/opponent.ts";
import { main } from "../report/cells.ts";
import type { Progress } from "../report/progress.ts";
import type { Cell, Results } from "../report/results.ts";
import { type Data, makeData } from "./data.ts";
import { type Grid, groupsOf, usualResources } from "./grids.ts";
import { constantCount, limitFacts, measureLoop, startConstants } from "./limits.ts";
import { measure, type Task } from "./measure.ts";
import { scenarioOf } from "./scenarios.ts";
import { type Subject, startWithFacts, withPeak } from "./subject.ts";
import { witnessOf } from "./witness.ts";

/** Servers have one processor to themselves, and the load another, unless a grid uses all. */
export const cpus = { server: 0, load: 1 };

/** The subjects of a comparison, and its options. */
export interface Comparison {
  effort: Effort;
  opponents: readonly Opponent[];
  grids: readonly Grid[];
  progress: Progress;
}

/** How many rounds a comparison takes, for the progress bar. */
export function countRounds({ effort, opponents, grids }: Omit<Comparison, "progress">): number {
  return grids.reduce((sum, grid) => {
    const constants = hasLimits(grid, effort) ? constantCount : 0;
    const services = opponents.filter(({ name }) => grid.only?.includes(name) ?? true).length;
    return sum + grid.scenarios.length * (services + constants) * effort.rounds;
  }, 0);
}

/** Compares the subjects, and adds the results. */
export async function compare(comparison: Comparison, results: Results): Promise<void> {
  if (comparison.effort.name !== "quick") results.subjects.push(...limitFacts());
  for (const group of groupsOf(comparison.grids))
    await inFolder((folder) => compareGroup(folder, group, comparison, results));
}

/** How many articles each round of a scenario that deletes them gets. */
const doomedEach = 3_000;

/** Grids that use the same filled services. */
async function compareGroup(
  folder: string,
  group: readonly Grid[],
  comparison: Comparison,
  results: Results,
): Promise<void> {
  const [{ bytes = 0, resources = usualResources, processors = "one" } = {}] = group;
  const { effort } = comparison;
  const deletes = group.filter(({ scenarios }) => scenarios.includes("delete")).length;
  const doomed = doomedEach * effort.rounds * deletes;
  const data = await makeData(`${folder}/articles.ndjson`, resources + doomed + 1, bytes);
  const subjects = await startAll(folder, data, { ...comparison, grids: group }, results);
  let next = resources;
  for (const grid of group) {
    for (const name of grid.scenarios) {
      const each = name === "delete" ? doomedEach * effort.rounds : 0;
      const own = { data, ids: data.ids.slice(0, resources), doomed: data.ids.slice(next, next + each) };
      next += each;
      results.cells.push(...(await measureScenario(name, grid, { subjects, own, comparison, results })));
    }
  }
  if (effort.name !== "quick" && processors === "one" && resources === usualResources)
    results.cells.push(...measureLoop(folder, { ...effort, bytes, cpu: cpus.server }));
  await stopAll(subjects, results);
}

/** The services of a group, and the articles of one scenario. */
interface Parts {
  subjects: readonly Subject[];
  own: Pick<Task, "data" | "ids"> & { doomed: readonly string[] };
  comparison: Comparison;
  results: Results;
}

async function measureScenario(
  name: string,
  grid: Grid,
  { subjects, own, comparison, results }: Parts,
): Promise<Cell[]> {
  const { effort, progress } = comparison;
  const isWide = grid.processors === "all";
  const what = `${name}, ${grid.bytes} bytes, ${grid.connections} connections${isWide ? ", all processors" : ""}`;
  const task: Task = {
    ...own,
    scenario: scenarioOf(name),
    connections: grid.connections,
    effort,
    ...(isWide ? {} : { loadCpu: cpus.load }),
    witness: witnessOf(progress, results, what),
  };
  const cells = await measureAll(subjects, grid, task);
  return isWide ? cells.map((cell) => ({ ...cell, processors: availableParallelism() })) : cells;
}

/** Reports and leaves out a subject that cannot be filled or started. */
async function startAll(
  folder: string,
  data: Data,
  { opponents, grids, progress }: Comparison,
  results: Results,
): Promise<Subject[]> {
  const isWanted = ({ name }: Opponent) => grids.some(({ only }) => only?.includes(name) ?? true);
  const options: RunOptions = grids[0]?.processors === "all" ? {} : { cpu: cpus.server };
  const subjects: Subject[] = [];
  for (const opponent of opponents.filter(isWanted)) {
    progress.say(`${opponent.title} is filled`);
    try {
      const started = await startWithFacts(opponent, folder, data, options);
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

async function measureAll(subjects: readonly Subject[], grid: Grid, task: Task): Promise<Cell[]> {
  const able = subjects.filter(
    ({ name, opponent }) =>
      (grid.only?.includes(name) ?? true) && opponent.cannot?.[task.scenario.name] === undefined,
  );
  const [first] = subjects;
  const isLimited = hasLimits(grid, task.effort) && first?.name === "holdfast";
  const constants = isLimited ? await startConstants(first, task, cpus.server) : [];
  const cells = await measure([...able, ...constants], task);
  for (const { server } of constants) await stopServer(server);
  return cells;
}

/** Whether constants are measured too: only for the main tables, because no other table shows them. */
function hasLimits({ bytes, connections, processors = "one" }: Grid, { name }: Effort): boolean {
  return name !== "quick" && processors === "one" && bytes === main.bytes && connections === main.connections;
}

async function stopAll(subjects: readonly Subject[], results: Results): Promise<void> {
  for (const subject of subjects) {
    const at = results.subjects.findIndex(({ name }) => name === subject.name);
    const facts = results.subjects[at];
    if (facts !== undefined && facts.peakMb === undefined) results.subjects[at] = withPeak(facts, subject);
    await stopServer(subject.server);
  }
}
