/** Measures durable creates on a slow disk, where writing several together saves time. */
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

/** The delay that is added to each flush of a slow disk. */
const slowFlushUs = 2_000;

const names = ["holdfast", "express-sqlite"];

/** How many rounds `compareOnSlowDisk` takes. */
export function countSlowRounds({ rounds }: Effort): number {
  return has("strace") ? 2 * names.length * rounds : 0;
}

/** Adds durable creates on a disk whose every flush takes 2 ms more; nothing where strace is not installed. */
export async function compareOnSlowDisk(
  { effort, opponents, progress }: Comparison,
  results: Results,
): Promise<void> {
  if (!has("strace")) return;
  const options: RunOptions = { cpu: cpus.server, flushDelayUs: slowFlushUs };
  await inFolder(async (folder) => {
    const data = await makeData(`${folder}/articles.ndjson`, 1_000, 300);
    const subjects: Subject[] = [];
    for (const opponent of opponents.filter(({ name }) => names.includes(name)))
      subjects.push(await startSubject(opponent, folder, data, options));
    for (const connections of [1, 64]) {
      const witness = witnessOf(progress, results, `create, flushes 2 ms slower, ${connections} connections`);
      const task = { scenario: scenarioOf("create"), data, connections, effort, loadCpu: cpus.load, witness };
      const cells = await measure(subjects, task);
      results.cells.push(...cells.map((cell) => ({ ...cell, flushDelayUs: slowFlushUs })));
    }
    for (const { server } of subjects) await stopServer(server);
  });
}
