/**
 * What one client feels of another one that asks for much: the times of a small read and of a small create, alone and beside bulk changes,
 * imports and large pages, on both stores.
 */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { type Effort, shareOf } from "../harness/effort.ts";
import { type Figure, median, showMs } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { databaseFor } from "../harness/postgres.ts";
import { originOf, startServer, stopServer } from "../harness/server.ts";
import { untilIdle } from "../harness/usage.ts";
import type { CrowdKind } from "./crowd.ts";
import { fillStore } from "./fill.ts";
import { sampleAttributes } from "./sample.ts";

/** The 99th percentile beside another client may be this much above the one alone, in milliseconds. */
const aimMs = 100;

/** The pause after each request of the client that is measured, in milliseconds. */
const pauseMs = 5;

const crowds: readonly { what: string; kind: CrowdKind; together: number }[] = [
  { what: "8 bulk changes of 1,000", kind: "bulk", together: 8 },
  { what: "imports in one commit", kind: "import", together: 1 },
  { what: "16 pages of 1,000", kind: "pages", together: 16 },
];

/** Measures on both stores. */
export async function measureFairness(effort: Effort): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const kind of ["SQLite", "PostgreSQL"] as const)
    figures.push(
      ...(await inFolder(async (folder) => {
        const store = kind === "SQLite" ? `${folder}/fairness.db` : await databaseFor(folder);
        return measureOn(effort, { kind, store });
      })),
    );
  return figures;
}

async function measureOn(
  effort: Effort,
  { kind, store }: { kind: string; store: string },
): Promise<Figure[]> {
  const ids = await fillStore(store, shareOf(effort, 25_000), sampleAttributes);
  const server = await startServer("holdfast", { store });
  const api = `${originOf(server)}/api/v1`;
  const sampling = { api, id: ids[0] as string, durationMs: 5 * effort.durationMs };
  await sample({ ...sampling, durationMs: 1_000 }); // requests during compilation are not counted
  const rounds = new Map<string, { alone: Times[]; beside: Times[] }>();
  for (let round = 0; round < effort.rounds; round++)
    for (const crowd of crowds) {
      await untilIdle(server);
      const alone = await sample(sampling);
      const others = new Worker(new URL("crowd.ts", import.meta.url), { workerData: { ...crowd, api } });
      const ended = once(others, "exit");
      await sleep(500);
      const beside = await sample(sampling);
      others.postMessage("end");
      await ended;
      const known = rounds.get(crowd.what) ?? { alone: [], beside: [] };
      rounds.set(crowd.what, { alone: [...known.alone, alone], beside: [...known.beside, beside] });
    }
  await stopServer(server);
  return [...rounds].flatMap(([what, each]) =>
    (["read", "create"] as const).map((name) => figureOf(`${kind}: ${name} beside ${what}`, name, each)),
  );
}

/** The times of the requests of the client that is measured, in milliseconds. */
type Times = Record<"read" | "create", number[]>;

async function sample({
  api,
  id,
  durationMs,
}: {
  api: string;
  id: string;
  durationMs: number;
}): Promise<Times> {
  const times: Times = { read: [], create: [] };
  const end = performance.now() + durationMs;
  const loop = async (into: number[], ask: () => Promise<Response>) => {
    while (performance.now() < end) {
      const since = performance.now();
      await requireDone(await ask());
      into.push(performance.now() - since);
      await sleep(pauseMs);
    }
  };
  await Promise.all([
    loop(times.read, () => fetch(`${api}/articles/${id}`)),
    loop(times.create, () => post(`${api}/small`, { n: 1 })),
  ]);
  return times;
}

async function requireDone(response: Response): Promise<void> {
  const body = await response.text();
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${body.slice(0, 200)}`);
}

function post(url: string, content: unknown): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch(url, { method: "POST", headers, body: JSON.stringify(content) });
}

function figureOf(
  what: string,
  name: keyof Times,
  { alone, beside }: { alone: Times[]; beside: Times[] },
): Figure {
  const [before, after] = [alone, beside].map((rounds) => ({
    p50: median(rounds.map((times) => percentile(times[name], 0.5))),
    p99: median(rounds.map((times) => percentile(times[name], 0.99))),
  }));
  const value = `p50 ${showMs(after?.p50 ?? Number.NaN)}, p99 ${showMs(after?.p99 ?? Number.NaN)}; alone p50 ${showMs(before?.p50 ?? Number.NaN)}, p99 ${showMs(before?.p99 ?? Number.NaN)}`;
  const ratio = Math.max(0, (after?.p99 ?? 0) - (before?.p99 ?? 0)) / aimMs;
  return { what: `${what}: p99 above alone, in ${aimMs} ms`, value, ratio, aim: { atMost: 1 } };
}

function percentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
