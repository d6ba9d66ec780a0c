/** The cost of metrics and traces: GET by id with each of them, against the same without. By processor time of a request. */
import { type Effort, shareOf } from "../harness/effort.ts";
import { type Figure, figureOf, showMicroseconds } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { startServer, stopServer } from "../harness/server.ts";
import { measureInTurn, type Side } from "../harness/turns.ts";
import { requestText } from "../load/requests.ts";
import { fillStore } from "./fill.ts";
import { sampleAttributes } from "./sample.ts";

const resources = 50_000;

/** What each side turns on. */
const optionsOf = { plain: {}, metrics: { metrics: true }, traces: { traces: true } } as const;

type Name = keyof typeof optionsOf;

/** Measures all sides, in turn. Traces are made for every request, as no service in production makes them. */
export function measureObservation(effort: Effort): Promise<Figure[]> {
  return inFolder(async (folder) => {
    const sides = {} as Record<Name, Side>;
    for (const name of Object.keys(optionsOf) as Name[]) {
      const store = `${folder}/${name}.db`;
      const ids = await fillStore(store, shareOf(effort, resources), sampleAttributes);
      const requests = ids.slice(0, 5_000).map((id) => requestText("GET", `/api/v1/articles/${id}`));
      const server = await startServer("holdfast", { store, ...optionsOf[name] });
      sides[name] = { server, requests, status: "200" };
    }
    const turns = await measureInTurn(sides, effort, { connections: 32 });
    for (const { server } of Object.values(sides)) await stopServer(server);
    const { plain, metrics, traces } = turns;
    const show = showMicroseconds;
    return [
      figureOf(
        "processor time of GET by id with metrics against without",
        { ours: metrics.costs, theirs: plain.costs },
        { aim: { atMost: 1.05 }, show },
      ),
      figureOf(
        "processor time of GET by id with a trace of every request against without",
        { ours: traces.costs, theirs: plain.costs },
        { show },
      ),
    ];
  });
}
