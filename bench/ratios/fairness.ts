/**
 * What one client feels of another one that asks for much: the times of a small read and of a small create, alone and beside bulk changes,
 * imports and large pages, on both stores.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Effort, shareOf } from "../harness/effort.ts";
import { type Figure, median, showMs } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { databaseFor } from "../harness/postgres.ts";
import { originOf, startServer, stopServer } from "../harness/server.ts";
import { untilIdle } from "../harness/usage.ts";
import { fillStore } from "./fill.ts";
import { sampleAttributes } from "./sample.ts";

/** The 99th percentile beside another client may be this much above the one alone, in milliseconds. */
const aimMs = 100;

/** The pause after each request of the client that is measured, in milliseconds. */
const pauseMs = 5;

/** A client that asks for much: so many requests at the same time, each again when it has its response. */
interface Crowd {
  what: string;
  together: number;
  ask(api: string, n: number): Promise<Response>;
}

const importBody = Array.from({ length: 10_000 }, (_, n) => JSON.stringify({ n, text: `line ${n}` })).join(
  "\n",
);

const crowds: readonly Crowd[] = [
  {
    what: "8 bulk changes of 1,000",
    together: 8,
    ask: (api, n) =>
      post(`${api}/articles/_bulk`, {
        filter: { author: { in: authorsOf(n) } },
        update: { rating: { $set: n % 5 } },
        max: 1_000,
      }),
  },
  {
    what: "an import of 10,000 in one commit",
    together: 1,
    ask: (api) =>
      fetch(`${api}/imported/_import`, {
        method: "POST",
        headers: { "content-type": "application/x-ndjson" },
        body: importBody,
      }),
  },
  {
    what: "16 pages of 1,000",
    together: 16,
    ask: (api, n) => fetch(`${api}/articles?limit=1000&rating:gte=${n % 3}`),
  },
];

/** The authors of about 1,000 articles, if there are 25,000 of them by 1,000 authors. */
function authorsOf(n: number): string[] {
  return Array.from({ length: 40 }, (_, place) => `author-${(n * 40 + place) % 1_000}`);
}

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
      const stop = new AbortController();
      const crowded = Array.from({ length: crowd.together }, (_, n) =>
        keepAsking(crowd, api, n, stop.signal),
      );
      await sleep(200);
      const beside = await sample(sampling);
      stop.abort();
      await Promise.all(crowded);
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

async function keepAsking(crowd: Crowd, api: string, first: number, signal: AbortSignal): Promise<void> {
  for (let n = first; !signal.aborted; n += crowd.together) await requireDone(await crowd.ask(api, n));
}

/** Reads the response. It can be 409 or 429: then the crowd is refused, and the client that is measured waits for nobody. */
async function requireDone(response: Response): Promise<void> {
  const body = await response.text();
  if (response.status >= 500) throw new Error(`${response.url}: ${response.status} ${body.slice(0, 200)}`);
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
