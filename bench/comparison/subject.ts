/** A filled and started service under comparison, with its facts. */
import { mkdirSync } from "node:fs";
import type { RunOptions } from "../harness/commands.ts";
import { bytesIn } from "../harness/folder.ts";
import { originOf, type Server, stopServer } from "../harness/server.ts";
import { peakMb, untilIdle } from "../harness/usage.ts";
import type { Opponent, Says } from "../opponents/opponent.ts";
import type { SubjectFacts } from "../report/results.ts";
import type { Data } from "./data.ts";

/** The object of a measurement. */
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

/** As `startSubject`, with what is known of the service then. Its bytes are counted after it was started and stopped once. */
export async function startWithFacts(
  opponent: Opponent,
  folder: string,
  data: Data,
  options: RunOptions,
): Promise<{ subject: Subject; facts: SubjectFacts }> {
  const first = await startSubject(opponent, folder, data, options);
  await requireFirstArticle(first, data);
  await stopServer(first.server, "SIGTERM");
  const own = `${folder}/${opponent.name}`;
  const bytes = await (opponent.bytes?.(own) ?? bytesIn(own));
  const server = await opponent.start(own, options);
  await untilIdle(server, 10_000);
  const facts = { ...describe(opponent), isLimit: false, bytesPerResource: bytes / data.ids.length };
  return { subject: { ...first, server }, facts };
}

/** The memory that a subject has needed at most. */
export function withPeak(facts: SubjectFacts, { server }: Subject): SubjectFacts {
  return { ...facts, peakMb: peakMb(server) };
}

function describe({ name, title, keeps, checks, versions }: Opponent) {
  return { name, title, keeps, checks, versions: versions() };
}

async function requireFirstArticle({ opponent, server, says }: Subject, { ids }: Data): Promise<void> {
  const answer = await fetch(originOf(server) + says.item(ids[0] ?? ""));
  await answer.arrayBuffer();
  if (answer.status !== 200)
    throw new Error(`${opponent.title} answered the first read with ${answer.status}`);
}
