/** Measures durable creates on slow disks, where writing several together saves time. */
import { has, type RunOptions } from "../harness/commands.ts";
import type { Effort } from "../harness/effort.ts";
import { inFolder } from "../harness/folder.ts";
import { stopServer } from "../harness/server.ts";
import type { Results } from "../report/results.ts";
import { type Comparison, cpus } from "./compare.ts";
import { makeData } from "./data.ts";
import { measure } from "./measure.ts";
import { scenarioOf } from "./scenarios.ts";
import { type Subject, startSubject } from "./subject.ts";
import { witnessOf } from "./witness.ts";

/** The delays that are added to each flush, in microseconds. The grids measure creates without one. */
const delaysUs: Record<Effort["name"], readonly number[]> = {
  quick: [2_000],
  usual: [2_000, 10_000],
  thorough: [2_000, 10_000],
};

const connectionCounts = [1, 64];

/** Services that flush every answered write. */
const names = ["holdfast", "express-sqlite", "pocketbase-durable"];

/** How many rounds `compareOnSlowDisks` takes. */
export function countSlowRounds({ effort, opponents }: Pick<Comparison, "effort" | "opponents">): number {
  const subjects = opponents.filter(({ name }) => names.includes(name)).length;
  return has("strace")
    ? delaysUs[effort.name].length * connectionCounts.length * subjects * effort.rounds
    : 0;
}

/** Adds durable creates on disks whose every flush takes longer; nothing where strace is not installed. */
export async function compareOnSlowDisks(comparison: Comparison, results: Results): Promise<void> {
  if (!has("strace")) return;
  for (const delayUs of delaysUs[comparison.effort.name]) await compareOn(delayUs, comparison, results);
}

function compareOn(
  flushDelayUs: number,
  { effort, opponents, progress }: Comparison,
  results: Results,
): Promise<void> {
  const options: RunOptions = { cpu: cpus.server, flushDelayUs };
  return inFolder(async (folder) => {
    const data = await makeData(`${folder}/articles.ndjson`, 1_000, 300);
    const subjects: Subject[] = [];
    for (const opponent of opponents.filter(({ name }) => names.includes(name)))
      subjects.push(await startSubject(opponent, folder, data, options));
    for (const connections of connectionCounts) {
      const what = `create, flushes ${flushDelayUs / 1_000} ms slower, ${connections} connections`;
      const witness = witnessOf(progress, results, what);
      const task = { scenario: scenarioOf("create"), data, ids: data.ids, connections, effort };
      const cells = await measure(subjects, { ...task, loadCpu: cpus.load, witness });
      results.cells.push(...cells.map((cell) => ({ ...cell, flushDelayUs })));
    }
    for (const { server } of subjects) await stopServer(server);
  });
}
