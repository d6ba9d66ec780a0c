/** What reads feel of writes that saturate the writer, also on a disk whose every flush takes 10 ms. */

import { has, type RunOptions } from "../harness/commands.ts";
import { type Effort, shareOf } from "../harness/effort.ts";
import { type Figure, figureOf, median, showMs, showRate } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { startServer, stopServer } from "../harness/server.ts";
import { untilIdle } from "../harness/usage.ts";
import { load } from "../load/load.ts";
import { requestText } from "../load/requests.ts";
import { fillStore } from "./fill.ts";
import { sampleAttributes } from "./sample.ts";

const readers = 16;
const writers = 64;

/** Measures the p99 of GET by id, idle and under writes. */
export async function measureReadLatency(effort: Effort): Promise<Figure[]> {
  const figures = [await measure(effort, "GET p99 under writes against idle", {})];
  if (!has("strace"))
    return [...figures, { what: "the same with 10 ms flushes", value: "skipped, needs strace" }];
  return [
    ...figures,
    await measure(effort, "the same with 10 ms added to each flush", { flushDelayUs: 10_000 }),
  ];
}

function measure(effort: Effort, what: string, options: RunOptions): Promise<Figure> {
  const warmUpMs = Math.max(1_000, effort.warmUpMs); // requests during compilation would be the slowest hundredth
  const durationMs = 2 * effort.durationMs; // enough requests for a slowest hundredth
  return inFolder(async (folder) => {
    const store = `${folder}/latency.db`;
    const ids = await fillStore(store, shareOf(effort, 100_000), sampleAttributes);
    const server = await startServer("holdfast", { store }, options);
    const reads = {
      port: server.port,
      connections: readers,
      warmUpMs,
      durationMs,
      requests: Array.from({ length: 5_000 }, (_, n) =>
        requestText("GET", `/api/v1/articles/${ids[(n * 7919) % ids.length]}`),
      ),
    };
    const bodies = Array.from({ length: 1_000 }, (_, n) => JSON.stringify(sampleAttributes(n)));
    const writes = {
      port: server.port,
      connections: writers,
      warmUpMs: 500,
      durationMs: warmUpMs + durationMs,
      requests: bodies.map((body) => requestText("POST", "/api/v1/articles", body)),
    };
    const rounds = { ours: [] as number[], theirs: [] as number[], written: [] as number[] };
    for (let round = 0; round < effort.rounds; round++) {
      await untilIdle(server); // the writes of the round before leave work behind
      rounds.theirs.push((await load(reads)).p99);
      const [written, busy] = await Promise.all([load(writes), load(reads)]);
      rounds.ours.push(busy.p99);
      rounds.written.push(written.perSecond);
    }
    await stopServer(server);
    const figure = figureOf(what, rounds, { aim: { atMost: 3 }, show: showMs });
    return { ...figure, value: `${figure.value}, under ${showRate(median(rounds.written))} of writes` };
  });
}
