/** Several threads against one: reads and creates on SQLite. By rate, and by the processor time of a request. */
import { type Effort, shareOf } from "../harness/effort.ts";
import { type Aim, type Figure, figureOf, showMicroseconds, showRate } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { type Server, startServer, stopServer } from "../harness/server.ts";
import { cpuSeconds, untilIdle } from "../harness/usage.ts";
import { load } from "../load/load.ts";
import { requestText } from "../load/requests.ts";
import { fillStore } from "./fill.ts";
import { sampleAttributes } from "./sample.ts";

const resources = 50_000;

/** Each side has this many threads. */
const sides = [1, 2] as const;

/** What one side did in each round. */
interface Measured {
  rates: number[];
  /** Processor seconds of a request. */
  costs: number[];
}

/** Measures one and two threads in turn. The load runs on the same machine. */
export function measureThreads(effort: Effort): Promise<Figure[]> {
  return inFolder(async (folder) => {
    const servers: Server[] = [];
    const reads = new Map<Server, string[]>();
    for (const threads of sides) {
      const store = `${folder}/${threads}.db`;
      const ids = await fillStore(store, shareOf(effort, resources), sampleAttributes);
      const server = await startServer("holdfast", { store, threads });
      servers.push(server);
      reads.set(
        server,
        ids.slice(0, 10_000).map((id) => requestText("GET", `/api/v1/articles/${id}`)),
      );
    }
    const creates = Array.from({ length: 1_000 }, (_, n) =>
      requestText("POST", "/api/v1/articles", JSON.stringify(sampleAttributes(n))),
    );
    const ofReads = await inTurn(effort, servers, (server) => reads.get(server) ?? []);
    const ofCreates = await inTurn(effort, servers, () => creates);
    await Promise.all(servers.map((server) => stopServer(server)));
    return [...figuresOf("GET by id", ofReads, { atLeast: 1.3 }), ...figuresOf("creates", ofCreates)];
  });
}

async function inTurn(
  effort: Effort,
  servers: readonly Server[],
  requestsOf: (server: Server) => string[],
): Promise<Measured[]> {
  const measured: Measured[] = servers.map(() => ({ rates: [], costs: [] }));
  for (let round = -1; round < effort.rounds; round++) {
    const order = [...servers.entries()];
    for (const [n, server] of round % 2 === 0 ? order : order.toReversed()) {
      await untilIdle(server);
      const before = cpuSeconds(server);
      const { answers, perSecond } = await load({
        port: server.port,
        connections: 64,
        warmUpMs: 0,
        durationMs: effort.durationMs,
        requests: requestsOf(server),
        counts: true,
      });
      if (round < 0) continue; // this round warms both sides up
      measured[n]?.rates.push(perSecond);
      measured[n]?.costs.push((cpuSeconds(server) - before) / answers);
    }
  }
  return measured;
}

function figuresOf(what: string, [one, two]: readonly Measured[], aim?: Aim): Figure[] {
  if (one === undefined || two === undefined) return [];
  const threads = `${what} with 2 threads against 1, all processors`;
  return [
    figureOf(threads, { ours: two.rates, theirs: one.rates }, { aim, show: showRate }),
    figureOf(
      `processor time of ${threads}`,
      { ours: two.costs, theirs: one.costs },
      { aim: aim && { atMost: 1.1 }, show: showMicroseconds },
    ),
  ];
}
