/** Several threads against one: reads and creates on SQLite. By rate, and by the processor time of a request. */
import { type Effort, shareOf } from "../harness/effort.ts";
import { type Aim, type Figure, figureOf, showMicroseconds, showRate } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { startServer, stopServer } from "../harness/server.ts";
import { measureInTurn, type Side, type Turns } from "../harness/turns.ts";
import { requestText } from "../load/requests.ts";
import { fillStore } from "./fill.ts";
import { sampleAttributes } from "./sample.ts";

const resources = 50_000;

const creates = Array.from({ length: 1_000 }, (_, n) =>
  requestText("POST", "/api/v1/articles", JSON.stringify(sampleAttributes(n))),
);

/** Measures one and two threads in turn. The load runs on the same machine. */
export function measureThreads(effort: Effort): Promise<Figure[]> {
  return inFolder(async (folder) => {
    const one = await startFilled(folder, 1, effort);
    const two = await startFilled(folder, 2, effort);
    const options = { connections: 64 };
    const ofReads = await measureInTurn({ one, two }, effort, options);
    const writing = ({ server }: Side): Side => ({ server, requests: creates, status: "201" });
    const ofCreates = await measureInTurn({ one: writing(one), two: writing(two) }, effort, options);
    await stopServer(one.server);
    await stopServer(two.server);
    return [...figuresOf("GET by id", ofReads, { atLeast: 1.3 }), ...figuresOf("creates", ofCreates)];
  });
}

/** A service with this number of threads, and reads of it. */
async function startFilled(folder: string, threads: number, effort: Effort): Promise<Side> {
  const store = `${folder}/${threads}.db`;
  const ids = await fillStore(store, shareOf(effort, resources), sampleAttributes);
  const server = await startServer("holdfast", { store, threads });
  const requests = ids.slice(0, 10_000).map((id) => requestText("GET", `/api/v1/articles/${id}`));
  return { server, requests, status: "200" };
}

function figuresOf(what: string, { one, two }: Record<"one" | "two", Turns>, aim?: Aim): Figure[] {
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
