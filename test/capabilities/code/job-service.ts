/** Starts services with jobs, whose runs are visible as resources. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { openStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/port/store.ts";
import { makeFolder } from "../../folder.ts";
import { type Service, type ServiceOptions, startService } from "../../http/service.ts";
import { openTestStore } from "../../http/test-store.ts";
import { until } from "../../until.ts";
import { type TestClock, testClock } from "../webhooks/http/clock.ts";

/** A run of a job, as `note` stores it. */
export interface NotedRun {
  id: string;
  job: string;
  due: string;
  now: string;
  missed: number;
  attempt: number;
}

/** A job as administrators see it. */
export interface SeenJob {
  name: string;
  next: string | null;
  running: { due: string; attempt: number } | null;
  last: { result: string; message: string | null; attempt: number; missed: number; due: string } | null;
  lastSuccess: string | null;
}

/** A configuration with these jobs. Their code can call `note` with its argument. */
export function configWith(jobs: string, options = ""): string {
  return `
import { defineConfig, job } from "holdfast";

/** Ends when there is a gate. */
async function gate({ client }) {
  while ((await client.gates.list({ limit: 1 }).all()).length === 0)
    await new Promise((resolve) => setTimeout(resolve, 50));
}

/** Never ends. */
const forever = () => new Promise(() => {});

async function note({ client, due, now, missed, attempt }, name = "digest") {
  await client.runs.create({ job: name, due: due.toISOString(), now: now.toISOString(), missed, attempt });
}

export default defineConfig({ ${options} jobs: { ${jobs} } });
`;
}

/** A store with services on it, one after the other or several at a time, which all stop when the test ends. */
export class JobStore {
  readonly clock: TestClock;
  readonly #t: TestContext;
  #place: Awaited<ReturnType<typeof openTestStore>> | undefined;

  /** `start`: the time of the clock by which the jobs are due. */
  constructor(t: TestContext, start: string) {
    this.#t = t;
    this.clock = testClock(Date.parse(start));
    t.after(() => this.#place?.release());
  }

  /** Works on the store while no service runs. */
  async use(work: (store: Store) => Promise<void>): Promise<void> {
    assert.ok(this.#place);
    const store = await openStore(this.#place.address);
    try {
      await work(store);
    } finally {
      await store.close();
    }
  }

  /** Starts a service with these jobs. */
  async start(
    jobs: string,
    {
      options,
      clock = this.clock,
      ...others
    }: { options?: string; clock?: TestClock } & Pick<ServiceOptions, "log"> = {},
  ): Promise<JobService> {
    this.#place ??= await openTestStore(makeFolder());
    let waits = false;
    const jobClock: TestClock = {
      ...clock,
      until: (at, signal) => {
        waits ||= at > clock.now();
        return clock.until(at, signal);
      },
    };
    const service = await startService({
      module: configWith(jobs, options),
      store: this.#place.address,
      codeParts: { jobClock },
      ...others,
    });
    const started = new JobService(service, clock);
    this.#t.after(() => started.stop());
    const runsNone = jobs === "" || options?.includes("readOnly") === true;
    if (!runsNone) await until("the jobs are planned", () => waits);
    return started;
  }
}

/** A service with jobs. */
export class JobService {
  readonly #service: Service;
  readonly #clock: TestClock;
  #isStopped = false;

  constructor(service: Service, clock: TestClock) {
    this.#service = service;
    this.#clock = clock;
  }

  get send(): Service["send"] {
    return this.#service.send;
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    await this.#service.stop();
  }

  /** A job. */
  async job(name = "digest"): Promise<SeenJob> {
    return (await this.send({ path: `/api/v1/_jobs/${name}` })).json as SeenJob;
  }

  /** The runs so far, in their order. */
  async runs(): Promise<NotedRun[]> {
    const { json } = await this.send({ path: "/api/v1/runs?limit=1000&sort=id" });
    return json as NotedRun[];
  }

  /** Waits until the store knows when the job is due next. */
  async untilNext(next: string): Promise<void> {
    await until(`the next run is at ${next}`, async () => (await this.job()).next === iso(next));
  }

  /** Moves the clock, and waits until an attempt that began then has ended. */
  async runAt(time: string): Promise<NonNullable<SeenJob["last"]>> {
    const before = (await this.job()).last;
    this.#clock.moveTo(Date.parse(time));
    await until(`a run at ${time} has ended`, async () => {
      const { last, running } = await this.job();
      return running === null && JSON.stringify(last) !== JSON.stringify(before);
    });
    return (await this.job()).last as NonNullable<SeenJob["last"]>;
  }
}

/** The same time as the service writes it. */
export function iso(time: string): string {
  return new Date(time).toISOString();
}
