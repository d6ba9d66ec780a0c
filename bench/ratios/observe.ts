/** The cost of metrics and traces: GET by id with each of them, against the same without. By processor time of a request. */
import { type Effort, shareOf } from "../harness/effort.ts";
import { type Figure, figureOf, showMicroseconds } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { type Server, startServer, stopServer } from "../harness/server.ts";
import { cpuSeconds, untilIdle } from "../harness/usage.ts";
import { load } from "../load/load.ts";
import { requestText } from "../load/requests.ts";
import { fillStore } from "./fill.ts";
import { sampleAttributes } from "./sample.ts";

const resources = 50_000;

/** What each side turns on. */
const sides = { plain: {}, metrics: { metrics: true }, traces: { traces: true } } as const;

type Side = keyof typeof sides;

/** Measures all sides, in turn. Traces are made for every request, as no service in production makes them. */
export function measureObservation(effort: Effort): Promise<Figure[]> {
  return inFolder(async (folder) => {
    const servers = {} as Record<Side, Server>;
    const paths = {} as Record<Side, string[]>;
    for (const side of Object.keys(sides) as Side[]) {
      const store = `${folder}/${side}.db`;
      const ids = await fillStore(store, shareOf(effort, resources), sampleAttributes);
      paths[side] = ids.slice(0, 5_000).map((id) => requestText("GET", `/api/v1/articles/${id}`));
      servers[side] = await startServer("holdfast", { store, ...sides[side] });
    }
    const costs: Record<Side, number[]> = { plain: [], metrics: [], traces: [] };
    for (let round = -1; round < effort.rounds; round++) {
      const order = Object.keys(sides) as Side[];
      for (const side of round % 2 === 0 ? order : order.toReversed()) {
        const cost = await costOf(servers[side], paths[side], effort);
        if (round >= 0) costs[side].push(cost);
      }
    }
    await Promise.all(Object.values(servers).map((server) => stopServer(server)));
    const { plain, metrics, traces } = costs;
    const show = showMicroseconds;
    return [
      figureOf(
        "processor time of GET by id with metrics against without",
        { ours: metrics, theirs: plain },
        { aim: { atMost: 1.05 }, show },
      ),
      figureOf(
        "processor time of GET by id with a trace of every request against without",
        { ours: traces, theirs: plain },
        { show },
      ),
    ];
  });
}

async function costOf(server: Server, requests: string[], { durationMs }: Effort): Promise<number> {
  await untilIdle(server);
  const before = cpuSeconds(server);
  const plan = { port: server.port, connections: 32, warmUpMs: 0, durationMs, requests, counts: true };
  const { answers } = await load(plan);
  return (cpuSeconds(server) - before) / answers;
}
