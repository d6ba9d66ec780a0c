/** A service that stops lets its routes, consumers and jobs end, all in the same time, and keeps none of them for ever. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type ServiceOptions, startFor } from "../../http/service.ts";
import { usualThreads } from "../../threads/count.ts";
import { until } from "../../until.ts";
import { noteCalls } from "./consumers/noted-calls.ts";

const calls = noteCalls();

const source = `
import { defineConfig, job, route } from "holdfast";
${calls.source}

const aborted = (signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(signal.reason.message)));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const begun = (client) => client.notes.create({ is: "begun" });

const jobEnded = Promise.withResolvers();
const gate = Promise.withResolvers();

export default defineConfig({
  collections: {
    notes: {},
    orders: { after: { mail: { run: async (call) => {
      noteEvent(call);
      await gate.promise;
    } } } },
    letters: { after: { slow: { as: "service", run: async ({ client, signal }) => {
      await begun(client);
      note({ slow: await aborted(signal) });
    } } } },
  },
  jobs: {
    long: job({ cron: "0 0 1 1 *", as: "service", run: async ({ client, signal }) => {
      await begun(client);
      await aborted(signal);
      jobEnded.resolve("The job ended first.");
    } }),
  },
  routes: {
    short: route({ method: "POST", path: "short", access: "public", run: async ({ client }) => {
      await begun(client);
      await pause(500);
      return (await client.notes.create({ is: "ended" })).is;
    } }),
    waits: route({ method: "POST", path: "waits", access: "public", timeoutMs: 60_000, run: async ({ client, signal }) => {
      await begun(client);
      return aborted(signal);
    } }),
    follows: route({ method: "POST", path: "follows", access: "public", timeoutMs: 60_000, run: async ({ client, signal }) => {
      await begun(client);
      const first = await Promise.race([jobEnded.promise, aborted(signal)]);
      gate.resolve();
      return first;
    } }),
    hangs: route({ method: "POST", path: "hangs", access: "public", timeoutMs: 60_000, run: async ({ client }) => {
      await begun(client);
      await new Promise(() => {});
    } }),
  },
});
`;

interface Answer {
  status: number;
  json: unknown;
}

/** A service, `post` to its routes, and the notes that calls make when they begin. */
async function start(t: TestContext, options: ServiceOptions = {}) {
  const service = await startFor(t, { module: source, isWatched: false, ...options });
  return {
    service,
    /** Not with `send`, whose connections end with the service. */
    post: async (name: string): Promise<Answer> => {
      const response = await fetch(`${service.origin}/api/v1/${name}`, { method: "POST" });
      return { status: response.status, json: await response.json() };
    },
    notes: async () => (await service.send({ path: "/api/v1/notes" })).json as unknown[],
  };
}

test("routes in progress end while the service stops", async (t) => {
  const errors: string[] = [];
  const error = (at: { err?: unknown }) => void errors.push(String(at.err));
  const { service, post, notes } = await start(t, { log: { info: () => {}, warn: () => {}, error } });
  const answers = ["short", "waits", "hangs"].map(post);
  await until("all routes have begun", async () => (await notes()).length === 3);
  const stopped = service.stop();
  const [short, waits, hangs] = (await Promise.all(answers)) as [Answer, Answer, Answer];
  assert.deepEqual([short.status, short.json], [200, "ended"]);
  assert.deepEqual([waits.status, waits.json], [200, "The service stops."]);
  assert.deepEqual([hangs.status, (hangs.json as { code: string }).code], [503, "OUTCOME_UNKNOWN"]);
  await stopped;
  // The time that a call has after its own timeout is longer, and the stop has not so long.
  if (usualThreads === 1)
    assert.match(errors.join(), /routes\.hangs\.run: It did not end when its signal was aborted\./);
});

test("jobs and consumers begin to stop when routes do", async (t) => {
  const { service, post, notes } = await start(t);
  await service.send({ method: "POST", path: "/api/v1/_jobs/long/_run" });
  const follows = post("follows");
  await until("the job and the route have begun", async () => (await notes()).length === 2);
  for (const n of [1, 2]) await service.create("orders", { n });
  await until("the consumer has begun", () => calls.read().length === 1);
  const stopped = service.stop();
  const { status, json } = await follows;
  assert.deepEqual([status, json], [200, "The job ended first."]);
  await stopped;
  assert.equal(calls.read().length, 1, "no further call has begun");
});

test("the signal of a consumer is aborted before its time to end is over", async (t) => {
  const { service, notes } = await start(t);
  const before = calls.read().length;
  await service.create("letters");
  await until("the consumer has begun", async () => (await notes()).length === 1);
  await service.stop();
  assert.deepEqual(calls.read().slice(before), [{ slow: "The service stops." }]);
});
