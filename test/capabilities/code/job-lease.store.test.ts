/** What instances do with the runs of a job when the lease goes from one to another. Each instance has its own clock, which a test moves. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { codeBounds } from "../../../src/capabilities/code/calls/code-runner.ts";
import { HereCodeRunner } from "../../../src/capabilities/code/calls/here-code-runner.ts";
import { JobLoop } from "../../../src/capabilities/code/jobs/job-loop.ts";
import { JobRecords } from "../../../src/capabilities/code/jobs/job-records.ts";
import type { JobSettings } from "../../../src/capabilities/code/jobs/job-settings.ts";
import { openStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/port/store.ts";
import { makeFolder } from "../../folder.ts";
import { until } from "../../until.ts";
import { testClock } from "../webhooks/http/clock.ts";

const job: JobSettings = {
  name: "digest",
  cron: "* * * * *",
  timezone: "UTC",
  as: undefined,
  timeoutMs: 3_600_000,
  retries: 0,
  catchUp: true,
  onCrash: "again",
};

/** So many seconds after the minute before the first run. */
const at = (seconds: number) => Date.parse("2027-05-03T06:00:30Z") + seconds * 1_000;

/** An instance whose job never ends. */
class Instance {
  readonly clock = testClock(at(0));
  /** The attempts that have begun. */
  readonly begun: number[] = [];
  /** The timers of calls. They end when a test says so. */
  readonly timers = new Map<number, () => void>();
  readonly loop: JobLoop;
  #waits = 0;

  constructor(t: TestContext, store: Store) {
    const run = ({ attempt }: { attempt: number }) => {
      this.begun.push(attempt);
      return new Promise(() => {});
    };
    const startTimer = (ms: number, callback: () => void) => {
      this.timers.set(ms, callback);
      return () => void this.timers.delete(ms);
    };
    const runner = new HereCodeRunner(
      { jobs: { digest: { run } } },
      { prefix: "/api/v1", bounds: codeBounds, clock: { startTimer } },
    );
    const { clock } = this;
    this.loop = new JobLoop({
      jobs: new Map([[job.name, job]]),
      records: new JobRecords(store),
      store,
      clock: {
        ...clock,
        until: (time, signal) => {
          if (time > clock.now()) this.#waits++;
          return clock.until(time, signal);
        },
      },
      isShared: true,
      isReady: () => true,
      runner,
      clientsOf: () => ({}),
      newUuid: randomUUID,
      warn: () => {},
    });
    t.after(async () => {
      await runner.stop();
      await this.loop.stop();
    });
  }

  /** Moves its clock, and waits until it has nothing more to do then. */
  async moveTo(time: number): Promise<void> {
    const before = this.#waits;
    this.clock.moveTo(time);
    this.loop.start();
    await until("the instance waits", () => this.#waits > before);
  }
}

async function openTwo(t: TestContext) {
  const store = await openStore({ kind: "sqlite", path: join(makeFolder(), "store.db") });
  const instances = [new Instance(t, store), new Instance(t, store)] as const;
  t.after(() => store.close());
  const records = new JobRecords(store);
  const record = async () => (await records.job(job.name))?.value;
  return { one: instances[0], two: instances[1], record };
}

test("a run whose instance loses the lease is over when its call is, although its function goes on", async (t) => {
  const { one, two, record } = await openTwo(t);
  await one.moveTo(at(0));
  await one.moveTo(at(30));
  assert.deepEqual(one.begun, [1]);
  await two.moveTo(at(60));
  one.clock.moveTo(at(61));
  await until("the call has its last seconds", () => one.timers.has(codeBounds.graceMs));
  assert.equal((await record())?.last, null);
  one.timers.get(codeBounds.graceMs)?.();
  await until("the run is over", async () => (await record())?.last !== null);
  const { result, message } = (await record())?.last ?? {};
  assert.deepEqual(
    [result, message],
    ["interrupted", "This instance no longer holds the lease of the store."],
  );
  await two.moveTo(at(66));
  assert.deepEqual(two.begun, [2]);
});

test("an instance that did not notice that another one had the lease leaves its run alone at first", async (t) => {
  const { one, two, record } = await openTwo(t);
  await one.moveTo(at(0));
  // The first instance stands still.
  await two.moveTo(at(25));
  await two.moveTo(at(30));
  assert.deepEqual(two.begun, [1]);
  const run = (await record())?.run;
  await one.moveTo(at(80));
  assert.deepEqual([(await record())?.run, one.begun], [run, []]);
  await one.moveTo(at(88));
  assert.deepEqual(one.begun, [2]);
});
