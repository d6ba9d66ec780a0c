/**
 * GET by id through the whole path, against Fastify with a constant response of the same bytes. Hot ids fit into the memory of
 * the service. Cold ids are drawn from the whole collection, so the service reads nearly all of them from the file.
 */

import { type Effort, shareOf } from "../harness/effort.ts";
import { type Figure, figureOf, showMicroseconds, showRate } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { originOf, type Server, startServer, stopServer } from "../harness/server.ts";
import { measureInTurn, type Turns } from "../harness/turns.ts";
import { requestText } from "../load/requests.ts";
import { fillStore } from "./fill.ts";
import { sampleAttributes } from "./sample.ts";

const resources = 1_000_000;
const hot = 5_000;
const cold = 300_000;
const status = "200";

/** Measures reads. */
export function measureReads(effort: Effort): Promise<Figure[]> {
  return inFolder(async (folder) => {
    const store = `${folder}/read.db`;
    const ids = await fillStore(store, shareOf(effort, resources), sampleAttributes);
    const service = await startServer("holdfast", { store }, { cpu: 0 });
    const constant = await startConstant(service, `/api/v1/articles/${ids[0]}`);
    const drawn = Array.from({ length: Math.min(cold, ids.length) }, (_, n) => ids[(n * 7919) % ids.length]);
    const requests = drawn.map((id) => requestText("GET", `/api/v1/articles/${id}`));
    const hotRequests = requests.slice(0, hot);
    const turns = await measureInTurn(
      {
        hot: { server: service, requests: hotRequests, status },
        constant: { server: constant, requests: hotRequests, status },
        cold: { server: service, requests, status },
      },
      effort,
      { connections: 64, loadCpu: 1 },
    );
    await stopServer(service);
    await stopServer(constant);
    return [
      ...figuresOf("hot ids", turns.hot, turns.constant, 0.8),
      ...figuresOf(`ids drawn from ${ids.length.toLocaleString("en")}`, turns.cold, turns.constant, 0.7),
    ];
  });
}

/** A constant of the bytes that the service answers. */
async function startConstant(service: Server, path: string): Promise<Server> {
  const answer = await fetch(originOf(service) + path);
  const body = await answer.text();
  const kept = [...answer.headers].filter(([name]) => !/^(date|connection|keep-alive)$/.test(name));
  return startServer("constant", { headers: Object.fromEntries(kept), body }, { cpu: 0 });
}

function figuresOf(which: string, ours: Turns, theirs: Turns, atLeast: number): Figure[] {
  const what = `GET by id against a Fastify constant, one processor, ${which}`;
  return [
    figureOf(what, { ours: ours.rates, theirs: theirs.rates }, { aim: { atLeast }, show: showRate }),
    figureOf(
      `processor time of ${what}`,
      { ours: ours.costs, theirs: theirs.costs },
      { show: showMicroseconds },
    ),
  ];
}
