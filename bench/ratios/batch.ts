/** Measures a batch of a hundred creates, compared with one create, for a client that waits for each response. */
import type { Effort } from "../harness/effort.ts";
import { type Figure, figureOf, showMs } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { startServer, stopServer } from "../harness/server.ts";
import { load } from "../load/load.ts";
import { requireStatus } from "../load/plan.ts";
import { requestText } from "../load/requests.ts";
import { sampleAttributes } from "./sample.ts";

const operations = 100;

/** Measures batches. */
export async function measureBatches(effort: Effort): Promise<Figure[]> {
  const all = { single: [] as number[], batch: [] as number[] };
  for (let round = 0; round < effort.rounds; round++) {
    all.single.push(await timeOf(effort, "201", singles()));
    all.batch.push(await timeOf(effort, "200", batches()));
  }
  const what = `a batch of ${operations} creates against one create`;
  return [figureOf(what, { ours: all.batch, theirs: all.single }, { aim: { atMost: 30 }, show: showMs })];
}

function singles(): string[] {
  return Array.from({ length: 1_000 }, (_, n) =>
    requestText("POST", "/api/v1/articles", JSON.stringify(sampleAttributes(n))),
  );
}

function batches(): string[] {
  return Array.from({ length: 100 }, (_, batch) => {
    const list = Array.from({ length: operations }, (_, n) => ({
      method: "POST",
      path: "/articles",
      body: sampleAttributes(batch * operations + n),
    }));
    return requestText("POST", "/api/v1/_batch", JSON.stringify({ operations: list }));
  });
}

/** Milliseconds from sending one of the requests to its answer: the median. */
function timeOf({ warmUpMs, durationMs }: Effort, status: string, requests: string[]): Promise<number> {
  return inFolder(async (folder) => {
    const server = await startServer("holdfast", { store: `${folder}/batch.db`, declared: true });
    const plan = { port: server.port, connections: 1, warmUpMs, durationMs, requests };
    const result = await load(plan);
    await stopServer(server);
    requireStatus(result, status);
    return result.p50;
  });
}
