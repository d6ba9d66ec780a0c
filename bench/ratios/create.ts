/** Durable POST through the whole path, against the same service without group commit and a server that checks nothing. */

import { has, type RunOptions } from "../harness/commands.ts";
import type { Effort } from "../harness/effort.ts";
import { type Figure, median } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { startServer, stopServer } from "../harness/server.ts";
import { load } from "../load/load.ts";
import { requireStatus } from "../load/plan.ts";
import { requestText } from "../load/requests.ts";
import { sampleAttributes } from "./sample.ts";

/** Measures creates on the normal disk, and with 2 ms added to each flush. */
export async function measureCreates(effort: Effort): Promise<Figure[]> {
  const bareDisk = await rates(effort, {});
  const figures: Figure[] = [
    compare("durable POST with group commit against without", bareDisk.grouped, bareDisk.single, 3),
    compare("durable POST against a bare server with the same writer", bareDisk.grouped, bareDisk.bare, 0.5),
  ];
  if (!has("strace"))
    return [...figures, { what: "with 2 ms added to each flush", value: "skipped, needs strace" }];
  const slowDisk = await rates(effort, { flushDelayUs: 2_000 }, ["grouped", "single"]);
  figures.push(compare("the same with 2 ms added to each flush", slowDisk.grouped, slowDisk.single, 10));
  return figures;
}

type Kind = "grouped" | "single" | "bare";

const servers: Record<Kind, (store: string) => [string, unknown]> = {
  grouped: (store) => ["holdfast", { store, declared: true }],
  single: (store) => ["holdfast", { store, declared: true, groupCommit: false }],
  bare: (store) => ["bare", { store }],
};

/** Requests per second of each kind, taken in turn. */
async function rates(
  effort: Effort,
  options: RunOptions,
  kinds: Kind[] = ["grouped", "single", "bare"],
): Promise<Record<Kind, number>> {
  const all: Record<Kind, number[]> = { grouped: [], single: [], bare: [] };
  for (let round = 0; round < effort.rounds; round++) {
    for (const kind of kinds) all[kind].push(await rateOf(effort, kind, options));
  }
  return { grouped: median(all.grouped), single: median(all.single), bare: median(all.bare) };
}

function rateOf({ warmUpMs, durationMs }: Effort, kind: Kind, options: RunOptions): Promise<number> {
  return inFolder(async (folder) => {
    const [name, argument] = servers[kind](`${folder}/create.db`);
    const server = await startServer(name, argument, options);
    const bodies = Array.from({ length: 1_000 }, (_, n) => JSON.stringify(sampleAttributes(n)));
    const result = await load({
      port: server.port,
      connections: 64,
      warmUpMs,
      durationMs,
      requests: bodies.map((body) => requestText("POST", "/api/v1/articles", body)),
    });
    await stopServer(server);
    requireStatus(result, "201");
    return result.perSecond;
  });
}

function compare(what: string, ours: number, theirs: number, atLeast: number): Figure {
  return {
    what,
    ratio: ours / theirs,
    aim: { atLeast },
    value: `${Math.round(ours)}/s against ${Math.round(theirs)}/s`,
  };
}
