/** What subscribers cost the writers, and how soon an event arrives. */
import type { Effort } from "../harness/effort.ts";
import { type Figure, figureOf, type Sides, showMs, showRate } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { type Server, startServer, stopServer } from "../harness/server.ts";
import { residentMb, untilIdle } from "../harness/usage.ts";
import { follow } from "../load/follow.ts";
import { load } from "../load/load.ts";
import { requireStatus } from "../load/plan.ts";
import { requestText } from "../load/requests.ts";
import { fillStore } from "./fill.ts";
import { sampleAttributes } from "./sample.ts";
import { measureWebhooks } from "./webhooks.ts";

const idleStreams = 1_000;
const loggedEvents = 20_000;

/** Measures the feed. */
export async function measureFeed(effort: Effort): Promise<Figure[]> {
  return [
    await latencyOfCreates(effort),
    await rateOfCreates(effort),
    await latencyOfEvents(effort),
    await catchingUp(effort),
    await idleMemory(),
    ...(await measureWebhooks(effort)),
  ];
}

/** Creates at a fixed rate, with subscribers and without, in turn. */
async function latencyOfCreates(effort: Effort): Promise<Figure> {
  const plan = { writesPerSecond: 1_000, warmUpMs: 3_000, durationMs: 3 * effort.durationMs };
  const rounds = await inTurn(effort.rounds, async (subscribers) => {
    const { createP99 } = await onServer(async ({ port }) => {
      const following = follow({
        port,
        subscribers,
        writesPerSecond: 0,
        durationMs: plan.warmUpMs + plan.durationMs + 2_000,
      });
      const result = await follow({ port, subscribers: 0, ...plan });
      await following;
      return result;
    });
    return createP99;
  });
  const what = "p99 of creates at 1,000/s with 100 subscribers, against without";
  return figureOf(what, rounds, { aim: { atMost: 1.5 }, show: showMs });
}

async function rateOfCreates(effort: Effort): Promise<Figure> {
  const rounds = await inTurn(effort.rounds, (subscribers) =>
    onServer(async (server) => {
      const durationMs = 2_000 + effort.warmUpMs + 2 * effort.durationMs;
      const following = follow({ port: server.port, subscribers, writesPerSecond: 0, durationMs });
      const bodies = Array.from({ length: 1_000 }, (_, n) => JSON.stringify(sampleAttributes(n)));
      const result = await load({
        port: server.port,
        connections: 64,
        warmUpMs: effort.warmUpMs,
        durationMs: 2 * effort.durationMs,
        requests: bodies.map((body) => requestText("POST", "/api/v1/articles", body)),
      });
      requireStatus(result, "201");
      await following;
      return result.perSecond;
    }),
  );
  const what = "saturated creates with 100 subscribers, against without";
  return figureOf(what, rounds, { aim: { atLeast: 0.5 }, show: showRate });
}

async function latencyOfEvents(effort: Effort): Promise<Figure> {
  const plan = { subscribers: 1_000, writesPerSecond: 200, durationMs: 3 * effort.durationMs };
  const { eventP50, eventP99, events } = await onServer((server) => follow({ ...plan, port: server.port }));
  return {
    what: "from the response of a create to its event, 1,000 subscribers, 200 creates/s",
    value: `p50 ${eventP50.toFixed(1)} ms, p99 ${eventP99.toFixed(1)} ms, ${events.toLocaleString("en")} events timed`,
  };
}

/** Reads the whole log by pages of 1,000 events, one after the other. */
async function catchingUp({ share }: Effort): Promise<Figure> {
  const count = Math.max(2_000, loggedEvents * share);
  return inFolder(async (folder) => {
    const store = `${folder}/feed.db`;
    await fillStore(store, count, sampleAttributes);
    const server = await startServer("holdfast", { store });
    const origin = `http://127.0.0.1:${server.port}`;
    const start = performance.now();
    let events = 0;
    for (let next = "/api/v1/articles/_events?since=start&limit=1000"; events < count; ) {
      const answer = await fetch(origin + next);
      events += ((await answer.json()) as unknown[]).length;
      next = /<([^>]+)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1] ?? "";
    }
    const seconds = (performance.now() - start) / 1_000;
    await stopServer(server);
    return { what: "catching up by pages of 1,000", value: `${Math.round(events / seconds)} events/s` };
  });
}

async function idleMemory(): Promise<Figure> {
  const kilobytes = await onServer(async (server) => {
    await follow({ port: server.port, subscribers: 100, writesPerSecond: 10, durationMs: 500 }); // compiles the path
    await untilIdle(server);
    const before = residentMb(server);
    const following = follow({
      port: server.port,
      subscribers: idleStreams,
      writesPerSecond: 0,
      durationMs: 8_000,
    });
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    const after = residentMb(server);
    await following;
    return ((after - before) * 1_000) / idleStreams;
  });
  return {
    what: "memory of an idle stream, kB",
    ratio: kilobytes,
    aim: { atMost: 30 },
    value: `${idleStreams} streams`,
  };
}

/** Rounds with 100 subscribers and without, taken in turn. */
async function inTurn(rounds: number, measure: (subscribers: number) => Promise<number>): Promise<Sides> {
  const all = { ours: [] as number[], theirs: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    all.theirs.push(await measure(0));
    all.ours.push(await measure(100));
  }
  return all;
}

function onServer<T>(work: (server: Server) => Promise<T>): Promise<T> {
  return inFolder(async (folder) => {
    const server = await startServer("holdfast", {
      store: `${folder}/feed.db`,
      declared: true,
      streams: 2_000,
    });
    try {
      return await work(server);
    } finally {
      await stopServer(server);
    }
  });
}
