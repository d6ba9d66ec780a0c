/**
 * GET by id through the whole path, against Fastify with a constant response of the same bytes. Hot ids fit into the memory of
 * the service. Cold ids are drawn from the whole collection, so the service reads nearly all of them from the file.
 */

import { type Effort, shareOf } from "../harness/effort.ts";
import { type Figure, type Spread, spreadOf } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { startServer, stopServer } from "../harness/server.ts";
import { load } from "../load/load.ts";
import type { LoadPlan } from "../load/plan.ts";
import { requestText } from "../load/requests.ts";
import { fillStore } from "./fill.ts";
import { sampleAttributes } from "./sample.ts";

const resources = 1_000_000;
const hot = 5_000;
const cold = 300_000;

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
    const drawn = Array.from({ length: Math.min(cold, ids.length) }, (_, n) => ids[(n * 7919) % ids.length]);
    const requests = drawn.map((id) => requestText("GET", `/api/v1/articles/${id}`));
    const plan = (port: number, count: number): LoadPlan => ({
      port,
      connections: 64,
      warmUpMs,
      durationMs,
      requests: requests.slice(0, count),
    });
    const rates: Record<"hot" | "cold" | "constant", number[]> = { hot: [], cold: [], constant: [] };
    for (let round = 0; round < rounds; round++) {
      rates.hot.push((await load(plan(service.port, hot), { cpu: 1 })).perSecond);
      rates.constant.push((await load(plan(constant.port, hot), { cpu: 1 })).perSecond);
      rates.cold.push((await load(plan(service.port, cold), { cpu: 1 })).perSecond);
    }
    await stopServer(service);
    await stopServer(constant);
    return [
      figureOf("hot ids", spreadOf(rates.hot, rates.constant) as Spread, 0.8),
      figureOf(
        `ids drawn from ${ids.length.toLocaleString("en")}`,
        spreadOf(rates.cold, rates.constant) as Spread,
        0.7,
      ),
    ];
  });
}

function figureOf(what: string, { median, smallest, largest }: Spread, atLeast: number): Figure {
  return {
    what: `GET by id against a Fastify constant, one core, ${what}`,
    ratio: median,
    aim: { atLeast },
    value: `${smallest.toFixed(2)} to ${largest.toFixed(2)}`,
  };
}
