/** A task that changes all resources of a large collection: what 32 writers of other resources feel of it. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Effort, shareOf } from "../harness/effort.ts";
import { type Figure, figureOf, median, showMs } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { originOf, startServer, stopServer } from "../harness/server.ts";
import { untilIdle } from "../harness/usage.ts";
import { load } from "../load/load.ts";
import { requestText } from "../load/requests.ts";
import { fillStore } from "./fill.ts";
import { sampleAttributes } from "./sample.ts";

const writers = 32;

/** Measures the p99 of creates, idle and beside a task that works. */
export async function measureTasks(effort: Effort): Promise<Figure[]> {
  return inFolder(async (folder) => {
    const store = `${folder}/task.db`;
    const total = shareOf(effort, 1_000_000);
    await fillStore(store, total, sampleAttributes);
    const server = await startServer("holdfast", { store });
    const service = `${originOf(server)}/api/v1`;
    const bodies = Array.from({ length: 1_000 }, (_, n) => JSON.stringify(sampleAttributes(n)));
    const writes = {
      port: server.port,
      connections: writers,
      warmUpMs: Math.max(1_000, effort.warmUpMs), // requests during compilation would be the slowest hundredth
      durationMs: 2 * effort.durationMs, // enough requests for a slowest hundredth
      requests: bodies.map((body) => requestText("POST", "/api/v1/others", body)),
    };
    const rounds = { ours: [] as number[], theirs: [] as number[], changed: [] as number[] };
    for (let round = 0; round < effort.rounds; round++) {
      await untilIdle(server); // the round before leaves work behind
      rounds.theirs.push((await load(writes)).p99);
      const { id } = await call("POST", `${service}/articles/_bulk`, {
        all: true,
        update: { [`round${round}`]: { $set: round } },
        max: total,
      });
      let before = await look(service, id);
      while (before.state === "checking") {
        await sleep(50);
        before = await look(service, id);
      }
      rounds.ours.push((await load(writes)).p99);
      const after = await look(service, id);
      rounds.changed.push(after.changed - before.changed);
      await call("DELETE", `${service}/_tasks/${id}`);
    }
    await stopServer(server);
    const what = `POST p99 of ${writers} writers beside a task against idle`;
    const figure = figureOf(what, rounds, { aim: { atMost: 3 }, show: showMs });
    const during = `while the task changed ${median(rounds.changed)} of ${total} resources`;
    return [{ ...figure, value: `${figure.value}, ${during}` }];
  });
}

interface Task {
  id: string;
  state: string;
  changed: number;
}

function look(service: string, id: string): Promise<Task> {
  return call("GET", `${service}/_tasks/${id}`);
}

async function call(method: string, url: string, content?: unknown): Promise<Task> {
  const headers = { "content-type": "application/json", prefer: "respond-async" };
  const body = content === undefined ? null : JSON.stringify(content);
  const answer = await fetch(url, { method, headers, body });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Task;
}
