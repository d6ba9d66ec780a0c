/** A service under comparison: filled, started, and with what is known of it so far. */
import { mkdirSync } from "node:fs";
import type { RunOptions } from "../harness/commands.ts";
import { median } from "../harness/figure.ts";
import { bytesIn } from "../harness/folder.ts";
import { originOf, type Server, stopServer } from "../harness/server.ts";
import { peakMb, untilIdle } from "../harness/usage.ts";
import type { Opponent, Says } from "../opponents/opponent.ts";
import type { SubjectFacts } from "../report/results.ts";
import type { Data } from "./data.ts";

/** What a scenario is measured on. */
export interface Subject {
  name: string;
  server: Server;
  says: Says;
  opponent: Opponent;
}

/** Fills a service and starts it. */
export async function startSubject(
  opponent: Opponent,
  folder: string,
  data: Data,
  options: RunOptions,
): Promise<Subject> {
  const own = `${folder}/${opponent.name}`;
  mkdirSync(own, { recursive: true });
  await opponent.fill(own, data);
  const server = await opponent.start(own, options);
  await untilIdle(server, 10_000);
  return { name: opponent.name, server, says: opponent.says, opponent };
}

/** Fills a service and starts it a few times, to see what it takes; the last start is the one that is measured on. */
export async function startWithFacts(
  opponent: Opponent,
  folder: string,
  data: Data,
  { rounds, cpu }: { rounds: number; cpu: number },
): Promise<{ subject: Subject; facts: SubjectFacts }> {
  const own = `${folder}/${opponent.name}`;
  mkdirSync(own, { recursive: true });
  await opponent.fill(own, data);
  const starts: number[] = [];
  for (let round = 1; round < rounds; round++) {
    const { server, ms } = await timedStart(opponent, own, data, cpu);
    starts.push(ms);
    await stopServer(server, "SIGTERM");
  }
  const bytes = await (opponent.bytes?.(own) ?? bytesIn(own));
  const { server, ms } = await timedStart(opponent, own, data, cpu);
  await untilIdle(server, 10_000);
  const facts = {
    ...describe(opponent),
    isLimit: false,
    startMs: median([...starts, ms]),
    bytesPerResource: bytes / data.ids.length,
  };
  return { subject: { name: opponent.name, server, says: opponent.says, opponent }, facts };
}

/** The memory that a subject has needed at most. */
export function withPeak(facts: SubjectFacts, { server }: Subject): SubjectFacts {
  return { ...facts, peakMb: peakMb(server) };
}

function describe({ name, title, keeps, checks, versions }: Opponent) {
  return { name, title, keeps, checks, versions: versions() };
}

/** Until the first article is read. */
async function timedStart(
  opponent: Opponent,
  folder: string,
  { ids }: Data,
  cpu: number,
): Promise<{ server: Server; ms: number }> {
  const begin = performance.now();
  const server = await opponent.start(folder, { cpu });
  const answer = await fetch(originOf(server) + opponent.says.item(ids[0] ?? ""));
  await answer.arrayBuffer();
  if (answer.status !== 200)
    throw new Error(`${opponent.title} answered the first read with ${answer.status}`);
  return { server, ms: performance.now() - begin };
}
