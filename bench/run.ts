/** `npm run bench`: every measurement, or those that are named: `npm run bench -- read create`. */
import { measureAuth } from "./auth.ts";
import { measureBatches } from "./batch.ts";
import { measureCreates } from "./create.ts";
import { type Figure, formatFigure } from "./harness.ts";
import { measureHistory } from "./history.ts";
import { measureImport } from "./import.ts";
import { measureReadLatency } from "./latency.ts";
import { measureLists } from "./lists.ts";
import { measureMemory } from "./memory.ts";
import { measureReads } from "./read.ts";
import { measureStart } from "./start.ts";
import { measureUpdates } from "./update.ts";

const measurements: Record<string, () => Promise<Figure[]>> = {
  start: measureStart,
  read: measureReads,
  auth: measureAuth,
  create: measureCreates,
  update: measureUpdates,
  batch: measureBatches,
  latency: measureReadLatency,
  history: measureHistory,
  import: measureImport,
  memory: measureMemory,
  lists: measureLists,
};

const named = process.argv.slice(2);
const unknown = named.filter((name) => !Object.hasOwn(measurements, name));
if (unknown.length > 0) {
  process.stderr.write(
    `bench: no measurement "${unknown[0]}"; there are ${Object.keys(measurements).join(", ")}\n`,
  );
  process.exit(1);
}
for (const [name, measure] of Object.entries(measurements)) {
  if (named.length > 0 && !named.includes(name)) continue;
  for (const figure of await measure()) process.stdout.write(`${name.padEnd(8)} ${formatFigure(figure)}\n`);
}
