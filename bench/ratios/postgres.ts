/**
 * What it gains on PostgreSQL that requests travel together: the service against itself with one statement a request, the
 * database beside it on the same processor.
 */
import { has } from "../harness/commands.ts";
import type { Effort } from "../harness/effort.ts";
import { type Figure, figureOf, showRate } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { databaseFor } from "../harness/postgres.ts";
import { type Server, startServer, stopServer } from "../harness/server.ts";
import { load } from "../load/load.ts";
import { requireStatus } from "../load/plan.ts";
import { requestText } from "../load/requests.ts";
import { fillStore } from "./fill.ts";
import { sampleAttributes } from "./sample.ts";

const resources = 10_000;

/** Measures reads and creates, a round of each kind in turn. */
export async function measureTravelling(effort: Effort): Promise<Figure[]> {
  if (!has("taskset"))
    return [{ what: "PostgreSQL, requests together against one by one", value: "skipped, needs taskset" }];
  return inFolder(async (folder) => {
    const together = await kindIn(`${folder}/together`, true);
    const apart = await kindIn(`${folder}/apart`, false);
    const rates = { reads: [[], []], creates: [[], []] } as Record<"reads" | "creates", [number[], number[]]>;
    for (let round = 0; round < effort.rounds; round++) {
      for (const [index, { server, reads }] of [together, apart].entries()) {
        rates.reads[index]?.push(await rateOf(effort, server, { requests: reads, status: "200" }));
        rates.creates[index]?.push(await rateOf(effort, server, { requests: creates, status: "201" }));
      }
    }
    await stopServer(together.server);
    await stopServer(apart.server);
    return [figure("GET by id", rates.reads, 2), figure("POST", rates.creates, 3)];
  });
}

interface Kind {
  server: Server;
  reads: readonly string[];
}

/** The service on its own database. */
async function kindIn(folder: string, groupCommit: boolean): Promise<Kind> {
  const store = await databaseFor(folder);
  const ids = await fillStore(store, resources, sampleAttributes);
  const server = await startServer("holdfast", { store, groupCommit }, { cpu: 0 });
  return { server, reads: ids.map((id) => requestText("GET", `/api/v1/articles/${id}`)) };
}

const creates = Array.from({ length: 1_000 }, (_, n) =>
  requestText("POST", "/api/v1/articles", JSON.stringify(sampleAttributes(n))),
);

async function rateOf(
  { warmUpMs, durationMs }: Effort,
  { port }: Server,
  { requests, status }: { requests: readonly string[]; status: string },
): Promise<number> {
  const result = await load({ port, connections: 64, warmUpMs, durationMs, requests }, { cpu: 1 });
  requireStatus(result, status);
  return result.perSecond;
}

function figure(what: string, [ours, theirs]: [number[], number[]], atLeast: number): Figure {
  const sentence = `${what} on PostgreSQL, requests together against one statement each`;
  return figureOf(sentence, { ours, theirs }, { aim: { atLeast }, show: showRate });
}
