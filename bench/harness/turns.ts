/** Measures several sides in turn, so that other work of the machine affects all of them equally. */
import { load } from "../load/load.ts";
import { type LoadResult, requireStatus } from "../load/plan.ts";
import type { Effort } from "./effort.ts";
import type { Server } from "./server.ts";
import { cpuSeconds, untilIdle } from "./usage.ts";

/** One side of a comparison. */
export interface Side {
  server: Server;
  requests: readonly string[];
  /** The status of every response. */
  status: string;
}

/** What a side did: a value for each round. */
export interface Turns {
  /** Requests per second. */
  rates: number[];
  /** Seconds of processor time for a request, of the whole server. */
  costs: number[];
}

/** How the sides are measured. */
export interface TurnOptions {
  connections: number;
  /** The processor of the load. @default all */
  loadCpu?: number;
}

/** What one run of a load did. */
export interface Run {
  answers: number;
  rate: number;
  cost: number;
}

/**
 * Measures each side once in each round. The statuses are checked in the warm-up, because counting them takes time: the rounds
 * only require that no request failed.
 */
export function measureInTurn<Name extends string>(
  sides: Readonly<Record<Name, Side>>,
  effort: Effort,
  options: TurnOptions,
): Promise<Record<Name, Turns>> {
  return takeTurns(Object.keys(sides) as Name[], effort, async (name, isWarmUp) => {
    if (isWarmUp) return run(sides[name], Math.max(1_000, effort.warmUpMs), options, true);
    await untilIdle(sides[name].server);
    return run(sides[name], effort.durationMs, options, false);
  });
}

/** After so many responses, the code of a server is compiled. */
const warmAnswers = 30_000;

/** A load without a response is repeated for twice the time, up to this time in milliseconds. */
const longestMs = 60_000;

/** A server with slow responses is not warmed up longer than this number of runs. A short run takes the smaller number. */
const mostWarmUps = { quick: 2, usual: 4, thorough: 4 };

/**
 * Runs a load on each side once in each round. Before the first round, each side is warmed up until it has sent enough
 * responses, because on a busy machine a time says little. The order of the sides is reversed in every other round, because
 * the first side has had a longer rest. Throws if a run had no response.
 */
export async function takeTurns<Name extends string>(
  names: readonly Name[],
  effort: Effort,
  runOf: (name: Name, isWarmUp: boolean) => Promise<Run>,
): Promise<Record<Name, Turns>> {
  const answered = async (name: Name, isWarmUp: boolean) => {
    const result = await runOf(name, isWarmUp);
    if (result.answers === 0) throw new Error(`${name} sent no response`);
    return result;
  };
  const entries = names.map((name): [Name, Turns] => [name, { rates: [], costs: [] }]);
  for (const name of names) {
    let answers = 0;
    for (let runs = 0; runs < mostWarmUps[effort.name] && answers < warmAnswers; runs++)
      answers += (await answered(name, true)).answers;
  }
  for (let round = 0; round < effort.rounds; round++) {
    for (const [name, { rates, costs }] of round % 2 === 0 ? entries : entries.toReversed()) {
      const { rate, cost } = await answered(name, false);
      rates.push(rate);
      costs.push(cost);
    }
  }
  return Object.fromEntries(entries) as Record<Name, Turns>;
}

async function run(
  { server, requests, status }: Side,
  durationMs: number,
  { connections, loadCpu }: TurnOptions,
  counts: boolean,
): Promise<Run> {
  const before = cpuSeconds(server);
  const plan = { port: server.port, connections, warmUpMs: 0, requests, counts };
  const loadFor = (ms: number) =>
    load({ ...plan, durationMs: ms }, loadCpu === undefined ? {} : { cpu: loadCpu });
  let result = await loadFor(durationMs);
  // On a busy machine with slow flushes, a short time can end before the first response.
  for (let ms = 2 * durationMs; hasNoResponse(result) && ms <= longestMs; ms *= 2) result = await loadFor(ms);
  if (counts) requireStatus(result, status);
  else requireNoFailure(result.statuses);
  const { answers, perSecond } = result;
  return { answers, rate: perSecond, cost: (cpuSeconds(server) - before) / answers };
}

function hasNoResponse({ answers, statuses }: LoadResult): boolean {
  return answers === 0 && Object.keys(statuses).length === 0;
}

/** wrk counts only failures in a measurement: no response, or a status of 400 or more. */
function requireNoFailure({ failed = 0 }: Readonly<Record<string, number>>): void {
  if (failed > 0) throw new Error(`${failed} requests failed`);
}
