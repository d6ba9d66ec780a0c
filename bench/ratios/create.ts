/**
 * Durable POST through the whole path, with one connection and with many, on disks whose flushes take longer. It is compared
 * with a server that has the same writer and checks nothing, with Express + better-sqlite3, and with the same service without
 * group commit.
 */

import { has, type RunOptions } from "../harness/commands.ts";
import type { Effort } from "../harness/effort.ts";
import { type Aim, type Figure, figureOf, showMicroseconds, showRate } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { type Server, startServer, stopServer } from "../harness/server.ts";
import { measureInTurn, type Side, type Turns } from "../harness/turns.ts";
import { requestText } from "../load/requests.ts";
import { expressSqlite } from "../opponents/express-sqlite.ts";
import { sampleAttributes } from "./sample.ts";

/** What is added to each flush, in milliseconds. */
const flushDelays = { quick: [0, 2], usual: [0, 2, 10], thorough: [0, 2, 10] };

/** How many connections send creates. */
const connectionCounts = [1, 64] as const;

type Name = "grouped" | "bare" | "express" | "single";

/** The service as it is, compared with another server. */
interface Comparison {
  beside: Exclude<Name, "grouped">;
  title: string;
  /** The aim of the rate. */
  aim(connections: number, delay: number): Aim | undefined;
}

const comparisons: readonly Comparison[] = [
  {
    beside: "bare",
    title: "a bare server with the same writer",
    aim: (connections) => (connections === 64 ? { atLeast: 0.75 } : undefined),
  },
  {
    beside: "express",
    title: "Express + better-sqlite3",
    aim: (connections) => (connections === 1 ? { atLeast: 0.95 } : undefined),
  },
  {
    beside: "single",
    title: "the same service without group commit",
    aim: (_, delay) => ({ atLeast: delay === 0 ? 3 : 10 }),
  },
];

/** Measures creates with each number of connections, on each disk. */
export async function measureCreates(effort: Effort): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const delay of flushDelays[effort.name]) {
    if (delay > 0 && !has("strace"))
      figures.push({ what: `creates, ${describeDelay(delay)}`, value: "skipped, needs strace" });
    else figures.push(...(await inFolder((folder) => measureOn(folder, delay, effort))));
  }
  return figures;
}

async function measureOn(folder: string, delay: number, effort: Effort): Promise<Figure[]> {
  const missing = expressSqlite.missing();
  const servers = await startAll(folder, delay, missing === undefined);
  const figures: Figure[] = [];
  for (const connections of connectionCounts) {
    // One connection gives the writer nothing to group.
    const isAsked = (name: string) => name !== "single" || connections > 1;
    const sides = Object.fromEntries(
      Object.entries(servers)
        .filter(([name]) => isAsked(name))
        .map(([name, server]) => [name, sideOf(name, server)]),
    );
    const turns = await measureInTurn(sides, effort, { connections, loadCpu: 1 });
    figures.push(...comparisons.flatMap((each) => figuresOf(each, turns, { connections, delay })));
  }
  for (const server of Object.values(servers)) await stopServer(server);
  return missing === undefined
    ? figures
    : [...figures, { what: "creates against Express + better-sqlite3", value: `skipped: ${missing}` }];
}

async function startAll(
  folder: string,
  delay: number,
  hasExpress: boolean,
): Promise<Partial<Record<Name, Server>>> {
  const options: RunOptions = { cpu: 0, ...(delay > 0 && { flushDelayUs: delay * 1_000 }) };
  const store = (name: Name) => ({ store: `${folder}/${name}.db`, declared: true });
  return {
    grouped: await startServer("holdfast", store("grouped"), options),
    single: await startServer("holdfast", { ...store("single"), groupCommit: false }, options),
    bare: await startServer("bare", store("bare"), options),
    ...(hasExpress && { express: await expressSqlite.start(folder, options) }),
  };
}

const bodies = Array.from({ length: 1_000 }, (_, n) => JSON.stringify(sampleAttributes(n)));

function sideOf(name: string, server: Server): Side {
  const path = name === "express" ? expressSqlite.says.collection : "/api/v1/articles";
  return { server, requests: bodies.map((body) => requestText("POST", path, body)), status: "201" };
}

function figuresOf(
  { beside, title, aim }: Comparison,
  turns: Readonly<Record<string, Turns>>,
  { connections, delay }: { connections: number; delay: number },
): Figure[] {
  const [ours, theirs] = [turns.grouped, turns[beside]];
  if (ours === undefined || theirs === undefined) return [];
  const noun = connections === 1 ? "connection" : "connections";
  const what = `creates against ${title}, ${connections} ${noun}, one processor, ${describeDelay(delay)}`;
  return [
    figureOf(
      what,
      { ours: ours.rates, theirs: theirs.rates },
      { aim: aim(connections, delay), show: showRate },
    ),
    figureOf(
      `processor time of ${what}`,
      { ours: ours.costs, theirs: theirs.costs },
      { show: showMicroseconds },
    ),
  ];
}

function describeDelay(delay: number): string {
  return delay === 0 ? "no delay of flushes" : `each flush ${delay} ms slower`;
}
