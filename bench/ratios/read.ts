/** GET by id through the whole path, against Fastify answering the same bytes as a constant. */

import { type Effort, shareOf } from "../harness/effort.ts";
import { type Figure, median } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { startServer, stopServer } from "../harness/server.ts";
import { load } from "../load/load.ts";
import type { LoadPlan } from "../load/plan.ts";
import { requestText } from "../load/requests.ts";
import { fillStore } from "./fill.ts";
import { sampleAttributes } from "./sample.ts";

const resources = 100_000;

/** Measures reads. */
export function measureReads(effort: Effort): Promise<Figure[]> {
  const { rounds, warmUpMs, durationMs } = effort;
  return inFolder(async (folder) => {
    const store = `${folder}/read.db`;
    const ids = await fillStore(store, shareOf(effort, resources), sampleAttributes);
    const service = await startServer("holdfast", { store }, { cpu: 0 });
    const answer = await fetch(`http://127.0.0.1:${service.port}/api/v1/articles/${ids[0]}`);
    const body = await answer.text();
    const headers = Object.fromEntries(
      [...answer.headers].filter(([name]) => !/^(date|connection|keep-alive)$/.test(name)),
    );
    const constant = await startServer("constant", { headers, body }, { cpu: 0 });
    const paths = Array.from(
      { length: 10_000 },
      (_, n) => `/api/v1/articles/${ids[(n * 7919) % ids.length]}`,
    );
    const plan = (port: number): LoadPlan => ({
      port,
      connections: 64,
      warmUpMs,
      durationMs,
      requests: paths.map((path) => requestText("GET", path)),
    });
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < rounds; round++) {
      ours.push((await load(plan(service.port), { cpu: 1 })).perSecond);
      theirs.push((await load(plan(constant.port), { cpu: 1 })).perSecond);
    }
    await stopServer(service);
    await stopServer(constant);
    const [ownRate, constantRate] = [median(ours), median(theirs)];
    return [
      {
        what: "GET by id against a Fastify constant, one core",
        ratio: ownRate / constantRate,
        aim: { atLeast: 0.75 },
        value: `${Math.round(ownRate)}/s against ${Math.round(constantRate)}/s`,
      },
    ];
  });
}
