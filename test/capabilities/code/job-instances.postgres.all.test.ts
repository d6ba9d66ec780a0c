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
    child.send(this.now);
  }

  moveTo(at: number): void {
    this.now = at;
    for (const { child } of this.#instances) child.send(at);
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

  async runs(): Promise<(NotedRun & { by: number })[]> {
    const client = createClient((this.#instances[0] as Instance).port);
    const answer = await client.send("GET", "/runs?limit=1000&sort=id");
    client.close();
    assert.equal(answer?.status, 200);
    return JSON.parse(answer.text) as (NotedRun & { by: number })[];
  }

  async stop(): Promise<void> {
    for (const { child } of this.#instances) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  }
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
  // The first look of the holder of the lease plans the job.
  await until("the first minute has begun", async () => {
    cluster.moveTo(cluster.now + 1_000);
    return (await cluster.runs()).length > 0;
  });
  for (let year = 2027; year < 2027 + years; year++) {
    if (year > 2027) cluster.moveTo(clockChangeBefore(year, 3) - 1.5 * minuteMs);
    await killEachRun(cluster, 3);
    cluster.moveTo(clockChangeBefore(year, 10) - 1.5 * minuteMs);
    await killEachRun(cluster, 4);
  }

  const runs = await cluster.runs();
  const firsts = runs.filter(({ attempt }) => attempt === 1);
  const seconds = runs.filter(({ attempt }) => attempt === 2);
  assert.equal(firsts.length, 7 * years);
  assert.equal(runs.length, firsts.length + seconds.length, "there is no third attempt");
  assert.deepEqual(
    seconds.map(({ due }) => due),
    firsts.map(({ due }) => due),
  );
  const dues = firsts.map(({ due }) => Date.parse(due));
  assert.deepEqual(dues, [...new Set(dues)].sort(), "no time runs again");
  const schedule = new Schedule("* * * * *", "Europe/Oslo");
  for (const [n, { due, missed, now }] of firsts.entries()) {
    const last = dues[n - 1];
    if (last === undefined) continue;
    const passed = schedule.count(schedule.next(last), Date.parse(due), 1_000);
    const isMissed = Date.parse(now) - Date.parse(due) > minuteMs;
    assert.equal(missed, isMissed ? passed : passed - 1, `${due} after ${passed} times`);
  }
});

/** Kills the instance of the next runs during their first attempts. Others make the second ones. */
async function killEachRun(cluster: Cluster, count: number): Promise<void> {
  const done = (await cluster.runs()).filter(({ attempt }) => attempt === 2).length;
  for (let n = done; n < done + count; n++) {
    const begun = async () => (await cluster.runs()).filter(({ attempt }) => attempt === 1)[n];
    await until(`run ${n} has begun`, async () => {
      if ((await begun()) !== undefined) return true;
      cluster.moveTo(cluster.now + 1_000);
      return false;
    });
    await cluster.kill((await begun())?.by ?? 0);
    await until(`run ${n} has begun again`, async () => {
      if ((await cluster.runs()).filter(({ attempt }) => attempt === 2).length > n) return true;
      cluster.moveTo(cluster.now + 1_000);
      return false;
    });
  }
}
