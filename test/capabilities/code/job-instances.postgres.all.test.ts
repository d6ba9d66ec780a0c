/** Several instances on one database run each job once, although the one that runs it is killed each time. */
import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Schedule } from "../../../src/capabilities/code/jobs/schedule.ts";
import { createClient } from "../../durability/program.ts";
import { makeFolder } from "../../folder.ts";
import { nodeFlags } from "../../node.ts";
import { openDatabase } from "../../postgres/databases.ts";
import { until } from "../../until.ts";
import type { NotedRun } from "./job-service.ts";

const minuteMs = 60_000;

/** The clocks change twice in each year. `npm run prove -- code` takes more years. */
const years = Number(process.env.HOLDFAST_TEST_ROUNDS ?? 1);

/** When Oslo changes its clocks in the month before: at one o'clock UTC of its last Sunday. */
function clockChangeBefore(year: number, month: number): number {
  const lastDay = new Date(Date.UTC(year, month, 0, 1));
  return lastDay.getTime() - lastDay.getUTCDay() * 24 * 60 * minuteMs;
}

const configuration = `
import { defineConfig, job } from ${JSON.stringify(pathToFileURL("src/index.ts").href)};

export default defineConfig({
  jobs: {
    each: job({
      cron: "* * * * *",
      timezone: "Europe/Oslo",
      as: "service",
      run: async ({ client, due, now, missed, attempt }) => {
        const by = process.pid;
        await client.runs.create({ due: due.toISOString(), now: now.toISOString(), missed, attempt, by });
        if (attempt === 1) await new Promise(() => {}); // until somebody kills the instance
      },
    }),
  },
});
`;

interface Instance {
  child: ChildProcess;
  port: number;
}

/** Three instances with one clock. */
class Cluster {
  readonly #folder = makeFolder();
  readonly #store: string;
  readonly #instances: Instance[] = [];
  now: number;

  constructor(store: string, start: number) {
    writeFileSync(join(this.#folder, "holdfast.config.ts"), configuration);
    this.#store = store;
    this.now = start;
  }

  async start(): Promise<void> {
    const args = [this.#folder, this.#store, String(this.now)];
    const child = fork("test/capabilities/code/kill/instance.ts", args, { execArgv: nodeFlags });
    const [port] = await once(child, "message");
    this.#instances.push({ child, port: Number(port) });
    await tell(child, this.now);
  }

  /** Waits for all instances: on a busy machine, the clock must not pass the end of a lease before its holder gets a turn. */
  async moveTo(at: number): Promise<void> {
    this.now = at;
    await Promise.all(this.#instances.map(({ child }) => tell(child, at)));
  }

  /** Kills the instance with a process id, and starts another one. */
  async kill(pid: number): Promise<void> {
    const n = this.#instances.findIndex(({ child }) => child.pid === pid);
    assert.notEqual(n, -1, "the run is in a living instance");
    const [{ child }] = this.#instances.splice(n, 1) as [Instance];
    child.kill("SIGKILL");
    await once(child, "exit");
    await this.start();
  }

  async runs(): Promise<Run[]> {
    const client = createClient((this.#instances[0] as Instance).port);
    const answer = await client.send("GET", "/runs?limit=1000&sort=id");
    client.close();
    assert.equal(answer?.status, 200);
    return JSON.parse(answer.text) as Run[];
  }

  async stop(): Promise<void> {
    for (const { child } of this.#instances) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  }
}

async function tell(child: ChildProcess, now: number): Promise<void> {
  const heard = once(child, "message");
  child.send(now);
  await heard;
}

async function startCluster(t: TestContext, start: number): Promise<Cluster> {
  const { url, release } = await openDatabase();
  const cluster = new Cluster(url, start);
  t.after(async () => {
    await cluster.stop();
    await release();
  });
  for (let n = 0; n < 3; n++) await cluster.start();
  return cluster;
}

test("each time runs once, or twice with attempt 2, over both changes of the clocks", async (t) => {
  const cluster = await startCluster(t, clockChangeBefore(2027, 3) - 2.5 * minuteMs);
  const killed = new Set<string>();
  for (let year = 2027; year < 2027 + years; year++) {
    // The first look of the holder of the lease plans the job.
    if (year > 2027) await cluster.moveTo(clockChangeBefore(year, 3) - 1.5 * minuteMs);
    await killEachRun(cluster, killed, 3);
    await cluster.moveTo(clockChangeBefore(year, 10) - 1.5 * minuteMs);
    await killEachRun(cluster, killed, 4);
  }

  const runs = await cluster.runs();
  const names = runs.map(({ due, attempt }) => `${due} ${attempt}`);
  assert.deepEqual(names, [...new Set(names)], "no attempt is made twice");
  for (const { attempt } of runs) assert.ok(attempt <= 2, "there is no third attempt");
  // An instance that lost the lease can have begun a run that another one made.
  for (const due of killed) assert.ok(names.includes(`${due} 1`) && names.includes(`${due} 2`), due);
  const dues = [...new Set(runs.map(({ due }) => Date.parse(due)))];
  assert.deepEqual(
    dues,
    dues.toSorted((a, b) => a - b),
    "no time runs again",
  );
  assert.ok(dues.length >= 7 * years);
  const schedule = new Schedule("* * * * *", "Europe/Oslo");
  for (const [n, due] of dues.entries()) {
    const last = dues[n - 1];
    const begun = runs.find((run) => Date.parse(run.due) === due && run.attempt === 1);
    if (last === undefined || begun === undefined) continue;
    const passed = schedule.count(schedule.next(last), due, 1_000);
    const isMissed = Date.parse(begun.now) - due > minuteMs;
    assert.equal(begun.missed, isMissed ? passed : passed - 1, `${begun.due} after ${passed} times`);
  }
});

/** Kills the instance of the next runs during their first attempts. Others make the second ones. */
async function killEachRun(cluster: Cluster, killed: Set<string>, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const { due, by } = await untilRun(
      cluster,
      "a run has begun",
      (run, all) => run.attempt === 1 && !all.some((other) => other.due === run.due && other.attempt === 2),
    );
    await cluster.kill(by);
    killed.add(due);
    await untilRun(
      cluster,
      `the run of ${due} has begun again`,
      (run) => run.due === due && run.attempt === 2,
    );
  }
}

type Run = NotedRun & { by: number };

/** Moves the clock until there is such a run. */
async function untilRun(
  cluster: Cluster,
  what: string,
  isWanted: (run: Run, all: readonly Run[]) => boolean,
): Promise<Run> {
  let found: Run | undefined;
  await until(what, async () => {
    const all = await cluster.runs();
    found = all.find((run) => isWanted(run, all));
    if (found === undefined) await cluster.moveTo(cluster.now + 1_000);
    return found !== undefined;
  });
  return found as Run;
}
