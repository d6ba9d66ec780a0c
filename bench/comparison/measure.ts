/** Measures one scenario on several subjects, with rounds in turn, so that other work of the machine affects all equally. */
import type { RunOptions } from "../harness/commands.ts";
import type { Effort } from "../harness/effort.ts";
import { median, type Spread, spreadOf } from "../harness/figure.ts";
import { originOf, type Server } from "../harness/server.ts";
import { cpuSeconds } from "../harness/usage.ts";
import { load } from "../load/load.ts";
import type { LoadPlan, LoadResult } from "../load/plan.ts";
import type { Cell } from "../report/results.ts";
import type { Data } from "./data.ts";
import type { Scenario } from "./scenarios.ts";
import type { Subject } from "./subject.ts";
import type { Witness } from "./witness.ts";

/** A measurement. */
export interface Task {
  scenario: Scenario;
  data: Data;
  /** The articles that the scenario uses and that stay. */
  ids: readonly string[];
  connections: number;
  effort: Effort;
  /** Separate articles for a scenario that deletes them. */
  doomed?: readonly string[];
  /** The processor of the load. @default all, which it shares with the services */
  loadCpu?: number;
  witness: Witness;
}

/** Measures a scenario on each of the subjects. */
export async function measure(subjects: readonly Subject[], task: Task): Promise<Cell[]> {
  const rounds = subjects.map((): Round[] => []);
  for (let round = 0; round < task.effort.rounds; round++) {
    for (const [n, subject] of subjects.entries()) {
      if (rounds[n]?.length === round) await addRound(rounds[n], subject, task);
      task.witness.onRound(subject, ratioSoFar(subjects, rounds, n));
    }
  }
  return subjects
    .map((subject, n) => toCell(subject, task, rounds[n] ?? []))
    .filter(({ perSecond }) => Number.isFinite(perSecond));
}

/** The ratio of the first subject, which is Holdfast, to another one in the rounds so far. */
function ratioSoFar(subjects: readonly Subject[], rounds: readonly Round[][], n: number): Spread | undefined {
  if (n === 0 || subjects[0]?.name !== "holdfast") return undefined;
  const ratesOf = (at: number) => (rounds[at] ?? []).map(({ perSecond }) => perSecond);
  return spreadOf(ratesOf(0), ratesOf(n));
}

/** A subject that has failed takes part no more. */
async function addRound(rounds: Round[], subject: Subject, task: Task): Promise<void> {
  try {
    rounds.push(await runRound(subject, task, rounds.length));
  } catch (error) {
    rounds.length = 0;
    task.witness.onFailure(subject, (error as Error).message);
  }
}

/** A round's result with the processor time that the server took. */
type Round = LoadResult & { cpu: number };

async function runRound(subject: Subject, task: Task, round: number): Promise<Round> {
  const { server } = subject;
  const { effort, scenario } = task;
  const loadOptions: RunOptions = task.loadCpu === undefined ? {} : { cpu: task.loadCpu };
  const requests = await requestsOf(subject, task, round);
  const plan = { port: server.port, connections: task.connections, requests, once: scenario.once === true };
  const runs = { server, plan, loadOptions };
  if (plan.once) return counted(await timed({ ...runs, counts: true }, effort.durationMs), subject, scenario);
  // A short run needs a warm-up too, because the code of some services is compiled sooner than that of others.
  const warmUpMs = Math.max(1_000, effort.warmUpMs);
  if (round === 0) counted(await timed({ ...runs, counts: true }, warmUpMs), subject, scenario);
  return counted(await timed({ ...runs, counts: false }, effort.durationMs), subject, scenario);
}

function requestsOf(
  { says, server }: Subject,
  { scenario, data, ids, effort, doomed = [] }: Task,
  round: number,
) {
  const each = Math.floor(doomed.length / effort.rounds);
  return scenario.requests({
    says,
    origin: originOf(server),
    ids,
    doomed: doomed.slice(round * each, (round + 1) * each),
    bytes: data.bytes,
  });
}

/** A load on a server. */
interface Run {
  server: Server;
  plan: Omit<LoadPlan, "warmUpMs" | "durationMs">;
  loadOptions: RunOptions;
  counts: boolean;
}

async function timed({ server, plan, loadOptions, counts }: Run, durationMs: number): Promise<Round> {
  const before = cpuSeconds(server);
  const result = await load({ ...plan, warmUpMs: 0, durationMs, counts }, loadOptions);
  return { ...result, cpu: cpuSeconds(server) - before };
}

/** Throws if requests were refused, because refusals are fast and must not count. */
function counted(round: Round, { name }: Subject, { title, statuses }: Scenario): Round {
  const others = Object.keys(round.statuses).filter((status) => !statuses.includes(status));
  if (others.length > 0 || round.answers === 0)
    throw new Error(`${name} responded to "${title}" with ${JSON.stringify(round.statuses)}`);
  return round;
}

function toCell({ name }: Subject, { scenario, data, connections }: Task, rounds: readonly Round[]): Cell {
  const middle = (of: (round: Round) => number) => median(rounds.map(of));
  const cpuPer10k = ({ cpu, answers }: Round) => (cpu / answers) * 10_000;
  return {
    scenario: scenario.name,
    bytes: data.bytes,
    connections,
    subject: name,
    perSecond: middle(({ perSecond }) => perSecond),
    p50: middle(({ p50 }) => p50),
    p99: middle(({ p99 }) => p99),
    cpuPer10k: middle(cpuPer10k),
    rounds: rounds.map((round) => ({ perSecond: round.perSecond, cpuPer10k: cpuPer10k(round) })),
  };
}
