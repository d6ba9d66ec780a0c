/** A rewind of 10,000 changed resources: how long it takes, and what reads feel of it. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Effort, shareOf } from "../harness/effort.ts";
import { type Figure, median } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { originOf, startServer, stopServer } from "../harness/server.ts";
import { load } from "../load/load.ts";
import { requestText } from "../load/requests.ts";
import { fillStore } from "./fill.ts";
import { sampleAttributes } from "./sample.ts";

const readers = 16;

/** Measures rewinds back and forth, alone and beside reads. */
export async function measureRewind(effort: Effort): Promise<Figure[]> {
  const resources = shareOf(effort, 10_000);
  const warmUpMs = Math.max(1_000, effort.warmUpMs);
  return inFolder(async (folder) => {
    const ids = await fillStore(`${folder}/rewind.db`, resources, (n) => ({
      ...sampleAttributes(n),
      text: "x".repeat(600), // about a kilobyte together
    }));
    await sleep(5); // the next change has another time
    const then = Date.now();
    await sleep(5);
    const server = await startServer("holdfast", { store: `${folder}/rewind.db` });
    const service = `${originOf(server)}/api/v1`;
    for (let n = 0; n < resources; n += 1_000) {
      const filter = { id: { in: ids.slice(n, n + 1_000) } };
      await post(`${service}/articles/_bulk`, { filter, patch: { title: "Changed" }, max: 1_000 });
    }
    const reads = {
      port: server.port,
      connections: readers,
      warmUpMs,
      durationMs: 3 * effort.durationMs,
      requests: Array.from({ length: 5_000 }, (_, n) =>
        requestText("GET", `/api/v1/articles/${ids[(n * 7919) % ids.length]}`),
      ),
    };
    let to: number | string = then;
    const rewind = async () => {
      const start = performance.now();
      const { replaced, before } = await post(`${service}/_rewind`, { to, max: resources });
      if (replaced !== resources) throw new Error(`${replaced} resources were rewound, not ${resources}.`);
      to = String(before);
      return (performance.now() - start) / 1_000;
    };
    const alone: number[] = [];
    for (let round = 0; round < effort.rounds; round++) alone.push(await rewind());
    const idle = await load(reads);
    const beside: number[] = [];
    let isOver = false;
    const rewinding = (async () => {
      while (!isOver) beside.push(await rewind());
    })();
    const busy = await load(reads);
    isOver = true;
    await rewinding;
    await stopServer(server);
    return [
      {
        what: "rewind of 10,000 changes",
        value: `${median(alone).toFixed(2)} s (${Math.min(...alone).toFixed(2)} to ${Math.max(...alone).toFixed(2)}), beside reads ${median(beside).toFixed(2)} s`,
      },
      {
        what: "GET p99 beside a rewind against idle",
        ratio: busy.p99 / idle.p99,
        value: `${busy.p99.toFixed(2)} ms against ${idle.p99.toFixed(2)} ms, over ${beside.length} rewinds`,
      },
    ];
  });
}

async function post(url: string, content: unknown): Promise<Record<string, unknown>> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(content) });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}
