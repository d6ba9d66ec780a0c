/** Measures several sides in turn, so that other work of the machine affects all of them equally. */
import { load } from "../load/load.ts";
import { requireStatus } from "../load/plan.ts";
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

/**
 * Measures each side once in each round. All sides are warmed up in the same way before the first round, and not later. The
 * order of the sides is reversed in every other round, because the first side has had a longer rest.
 */
export async function measureInTurn<Name extends string>(
  sides: Readonly<Record<Name, Side>>,
  effort: Effort,
  options: TurnOptions,
): Promise<Record<Name, Turns>> {
  const names = Object.keys(sides) as Name[];
  const turns = Object.fromEntries(
    names.map((name) => [name, { rates: [], costs: [] }]),
  ) as unknown as Record<Name, Turns>;
  for (const name of names) await warmUp(sides[name], effort, options);
  for (let round = 0; round < effort.rounds; round++) {
    for (const name of orderOf(names, round)) {
      await untilIdle(sides[name].server);
      const { rate, cost } = await run(sides[name], effort.durationMs, options, false);
      turns[name].rates.push(rate);
      turns[name].costs.push(cost);
    }
  }
  return turns;
}

/** The order of the sides in a round: forwards and backwards in turn. */
export function orderOf<T>(sides: readonly T[], round: number): T[] {
  return round % 2 === 0 ? [...sides] : sides.toReversed();
}

/** After so many responses, the code of a server is compiled. */
const warmAnswers = 30_000;

/** A server with slow responses is not warmed up longer than this number of runs. A short run takes the smaller number. */
const mostWarmUps = { quick: 2, usual: 4, thorough: 4 };

/**
 * Sends load until the server has sent enough responses, because on a busy machine a time says little. A short run needs this
 * too. The statuses are checked here, because counting them takes time.
 */
async function warmUp(side: Side, { name, warmUpMs }: Effort, options: TurnOptions): Promise<void> {
  let answers = 0;
  for (let runs = 0; runs < mostWarmUps[name] && answers < warmAnswers; runs++)
    answers += (await run(side, Math.max(1_000, warmUpMs), options, true)).answers;
}

async function run(
  { server, requests, status }: Side,
  durationMs: number,
  { connections, loadCpu }: TurnOptions,
  counts: boolean,
): Promise<{ answers: number; rate: number; cost: number }> {
  const before = cpuSeconds(server);
  const plan = { port: server.port, connections, warmUpMs: 0, durationMs, requests, counts };
  const result = await load(plan, loadCpu === undefined ? {} : { cpu: loadCpu });
  if (counts) requireStatus(result, status);
  else requireNoFailure(result.statuses);
  const { answers, perSecond } = result;
  return { answers, rate: perSecond, cost: (cpuSeconds(server) - before) / answers };
}

/** wrk counts only failures in a measurement: no response, or a status of 400 or more. */
function requireNoFailure({ failed = 0 }: Readonly<Record<string, number>>): void {
  if (failed > 0) throw new Error(`${failed} requests failed`);
}
