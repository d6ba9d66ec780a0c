/**
 * `npm run bench:change -- <folder>`: the cost of requests before and after a change. The folder is a checkout of the
 * state before, with its packages installed. Both services run side by side and are measured in turn, so that another
 * program on the machine slows both of them. The processor time of a request is the figure to trust. It includes the time of
 * PostgreSQL, which both share. With `--control`, a second service of the state before is measured in the same rotation: its ratio to the
 * first one shows the noise.
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { Command } from "commander";
import { createUuidSource } from "../../src/collection/uuids.ts";
import { type Spread, spreadOf } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { databaseFor, postgresPid, removePostgres } from "../harness/postgres.ts";
import { type Server, startProgram, stopServer } from "../harness/server.ts";
import { cpuSeconds, untilIdle } from "../harness/usage.ts";
import { load } from "../load/load.ts";
import { requireStatus } from "../load/plan.ts";
import { sampleAttributes } from "../ratios/sample.ts";
import { collections, type Scenario, scenarios } from "./requests.ts";

interface Options {
  rounds: number;
  connections: number;
  postgres?: true;
  control?: true;
}

/** The services: with the state before, again with it if there is a control, and with the change. */
type Sides = Partial<Record<"before" | "control" | "after", Server>>;

/** What one round costs. */
interface Cost {
  cpuMicroseconds: number;
  perSecond: number;
}

const resources = 10_000;

const program = new Command("npm run bench:change --")
  .description("Compare the cost of requests with a checkout of the state before a change")
  .argument("<folder>", "the checkout of the state before")
  .argument("[scenarios...]", `what to measure: ${Object.keys(scenarios).join(", ")} (default: all)`)
  .option("--rounds <number>", "how many times to measure each side", Number, 9)
  .option("--connections <number>", "how many connections send requests", Number, 32)
  .option("--control", "also measure a second service of the state before, whose ratio shows the noise")
  .option("--postgres", "use a PostgreSQL of the bench instead of SQLite")
  .parse();
const [before = "", ...names] = program.args;
const unknown = names.find((name) => scenarios[name] === undefined);
if (unknown !== undefined) program.error(`bench: unknown scenario "${unknown}".`);

await inFolder((folder) => compare(folder, program.opts<Options>())).finally(removePostgres);

async function compare(folder: string, options: Options): Promise<void> {
  const newId = createUuidSource();
  const ids = Array.from({ length: resources }, () => newId());
  const lines = ids.map((id, n) => JSON.stringify({ id, ...sampleAttributes(n) }));
  writeFileSync(`${folder}/articles.ndjson`, `${lines.join("\n")}\n`);
  writeFileSync(`${folder}/holdfast.config.json`, JSON.stringify({ collections }));
  const sides: Sides = {
    before: await start(resolve(before), { folder, store: `${folder}/before`, options }),
    ...(options.control && {
      control: await start(resolve(before), { folder, store: `${folder}/control`, options }),
    }),
    after: await start(process.cwd(), { folder, store: `${folder}/after`, options }),
  };
  process.stdout.write(
    `${options.rounds} rounds in turn, ${options.connections} connections; ratio to the state before, in pairs: median (smallest-largest)\n`,
  );
  for (const name of names.length === 0 ? Object.keys(scenarios) : names)
    await measure(name, { sides, ids, options });
  await Promise.all(Object.values(sides).map((server) => stopServer(server, "SIGTERM")));
}

/** Fills a store with the program of a checkout, and serves it with the same program. */
async function start(
  checkout: string,
  { folder, store, options }: { folder: string; store: string; options: Options },
): Promise<Server> {
  const url = options.postgres ? await databaseFor(store) : `sqlite:${store}.db`;
  const holdfast = [process.execPath, "--conditions=holdfast-source", `${checkout}/bin/holdfast.js`];
  const shared = ["--store", url, "--config", `${folder}/holdfast.config.json`];
  const fill = [...holdfast, "import", "articles", `${folder}/articles.ndjson`, ...shared];
  execFileSync(fill[0] as string, fill.slice(1), { stdio: ["ignore", "ignore", "inherit"] });
  const server = await startProgram([...holdfast, "serve", "--port", "0", ...shared]);
  return options.postgres ? { ...server, beside: [postgresPid()] } : server;
}

async function measure(
  name: string,
  { sides, ids, options }: { sides: Sides; ids: string[]; options: Options },
): Promise<void> {
  const scenario = scenarios[name] as Scenario;
  const names = Object.keys(sides) as (keyof Sides)[];
  const costs = { before: [] as Cost[], control: [] as Cost[], after: [] as Cost[] };
  for (let round = -1; round < options.rounds; round++) {
    // The side that is measured first changes with each round.
    const first = (round + names.length) % names.length;
    for (const side of [...names.slice(first), ...names.slice(0, first)]) {
      const cost = await costOf(sides[side] as Server, {
        requests: scenario.requests(ids),
        scenario,
        options,
      });
      if (round >= 0) costs[side].push(cost);
    }
  }
  for (const side of names.filter((each) => each !== "before")) {
    const ratio = (of: keyof Cost) =>
      spreadOf(
        costs[side].map((cost) => cost[of]),
        costs.before.map((cost) => cost[of]),
      );
    process.stdout.write(
      `${name.padEnd(10)} ${side.padEnd(8)} processor time ${format(ratio("cpuMicroseconds"))}  rate ${format(ratio("perSecond"))}  ` +
        `${middle(costs.before)} -> ${middle(costs[side])} us a request\n`,
    );
  }
}

async function costOf(
  server: Server,
  { requests, scenario, options }: { requests: string[]; scenario: Scenario; options: Options },
): Promise<Cost> {
  await untilIdle(server);
  const before = cpuSeconds(server);
  const result = await load({
    port: server.port,
    connections: options.connections,
    warmUpMs: 0,
    durationMs: 1_000,
    requests,
    counts: true,
  });
  requireStatus(result, scenario.status);
  return {
    cpuMicroseconds: ((cpuSeconds(server) - before) * 1e6) / result.answers,
    perSecond: result.perSecond,
  };
}

function format(spread: Spread | undefined): string {
  if (spread === undefined) return "-";
  return `${spread.median.toFixed(3)} (${spread.smallest.toFixed(2)}-${spread.largest.toFixed(2)})`;
}

function middle(costs: readonly Cost[]): string {
  const sorted = costs.map(({ cpuMicroseconds }) => cpuMicroseconds).sort((a, b) => a - b);
  return (sorted[Math.floor(sorted.length / 2)] ?? 0).toFixed(1);
}
