/** What administrators and monitors see of jobs, and what a read-only service does. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../until.ts";
import { iso, JobStore } from "./job-service.ts";

const day = "2027-05-03";
const start = `${day}T06:00Z`;

const gated = `digest: job({ cron: "0 7 * * *", as: "service", run: async (call) => {
  await note(call);
  await gate(call);
} })`;

test("the jobs are listed in the order of the configuration", async (t) => {
  const store = new JobStore(t, start);
  const service = await store.start(
    'second: { cron: "0 0 29 2 *", run() {} }, first: { cron: "0 8 * * *", timezone: "Europe/Oslo", run() {} }',
  );
  const { json } = await service.send({ path: "/api/v1/_jobs" });
  const none = { running: null, last: null, lastSuccess: null };
  assert.deepEqual(json, [
    { name: "second", cron: "0 0 29 2 *", timezone: "UTC", next: iso("2028-02-29T00:00Z"), ...none },
    { name: "first", cron: "0 8 * * *", timezone: "Europe/Oslo", next: iso("2027-05-04T06:00Z"), ...none },
  ]);
});

test("an administrator makes a job run now, once at a time", async (t) => {
  const store = new JobStore(t, start);
  const service = await store.start(gated);
  const run = () => service.send({ method: "POST", path: "/api/v1/_jobs/digest/_run" });
  const asked = await run();
  assert.equal(asked.status, 202, asked.text);
  await until("it runs", async () => (await service.runs()).length === 1);
  const again = await run();
  assert.deepEqual([again.status, (again.json as { code: string }).code], [409, "JOB_RUNNING"]);
  await service.send({ method: "POST", path: "/api/v1/gates", content: {} });
  await until("it has ended", async () => (await service.job()).last?.result === "succeeded");
  const { next, last } = await service.job();
  assert.deepEqual([next, last?.due, last?.missed], [iso(`${day}T07:00Z`), iso(start), 0]);
  assert.equal((await run()).status, 202, "it can run again");
  await until("it has run twice", async () => (await service.runs()).length === 2);
  for (const path of ["/api/v1/_jobs/none", "/api/v1/_jobs/__proto__"])
    assert.equal((await service.send({ path })).status, 404);
  assert.equal((await service.send({ method: "POST", path: "/api/v1/_jobs/none/_run" })).status, 404);
});

test("a run that waits for another attempt can be tried again now", async (t) => {
  const store = new JobStore(t, start);
  const service = await store.start(
    `digest: job({ cron: "0 7 * * *", retries: 1, run: ({ attempt }) => { if (attempt === 1) throw new Error("no luck"); } })`,
  );
  assert.equal((await service.runAt(`${day}T07:00Z`)).result, "failed");
  await service.send({ method: "POST", path: "/api/v1/_jobs/digest/_run" });
  await until("it has succeeded", async () => (await service.job()).last?.attempt === 2);
  assert.equal((await service.job()).next, iso("2027-05-04T07:00Z"));
});

test("only a service with jobs has their paths", async (t) => {
  const service = await new JobStore(t, start).start("");
  assert.equal((await service.send({ path: "/api/v1/_jobs" })).status, 404);
  const { json } = await service.send({ path: "/openapi.json" });
  assert.equal(JSON.stringify(json).includes("_jobs"), false);
});

test("a read-only service runs no job", async (t) => {
  const store = new JobStore(t, start);
  const jobs = `digest: job({ cron: "0 * * * *", as: "service", run: (call) => note(call) })`;
  const first = await store.start(jobs);
  await first.runAt(`${day}T07:00Z`);
  await first.stop();
  store.clock.moveTo(Date.parse(`${day}T09:00Z`));
  const readOnly = await store.start(jobs, { options: "readOnly: true," });
  const { next, last } = await readOnly.job();
  assert.deepEqual([next, last?.result], [null, "succeeded"]);
  const refused = await readOnly.send(
    { method: "POST", path: "/api/v1/_jobs/digest/_run" },
    { mayFail: true },
  );
  assert.deepEqual([refused.status, (refused.json as { code: string }).code], [503, "UNAVAILABLE"]);
  assert.equal((await readOnly.runs()).length, 1);
});

test("the metrics say when each job last succeeded", async (t) => {
  const store = new JobStore(t, start);
  const service = await store.start(
    `digest: job({ cron: "0 7 * * *", run: () => {} }), never: job({ cron: "0 7 * * *", run: () => { throw new Error(); } })`,
    { options: 'metrics: "administrators",' },
  );
  await service.runAt(`${day}T07:00Z`);
  const seconds = Date.parse(`${day}T07:00Z`) / 1_000;
  let text = "";
  await until("the metrics have it", async () => {
    text = (await service.send({ path: "/metrics" })).text;
    return text.includes(`holdfast_job_last_success_timestamp_seconds{name="digest"} ${seconds}`);
  });
  assert.doesNotMatch(text, /timestamp_seconds\{name="never"/);
});

test("the configuration that administrators see has no code", async (t) => {
  const service = await new JobStore(t, start).start('digest: { cron: "0 7 * * *", retries: 1, run() {} }');
  const { json } = await service.send({ path: "/api/v1/_configuration" });
  const { options } = json as { options: { name: string; value: unknown }[] };
  const jobs = options.find(({ name }) => name === "jobs");
  assert.deepEqual(jobs?.value, { digest: { cron: "0 7 * * *", retries: 1 } });
});

test("no request reaches the records of jobs", async (t) => {
  const service = await new JobStore(t, start).start('digest: { cron: "0 7 * * *", run() {} }');
  for (const path of ["/api/v1/_jobs?limit=1", "/api/v1/_jobs/digest/_changes", "/api/v1/_jobs/_events"])
    assert.ok([400, 404].includes((await service.send({ path })).status), path);
  const collections = (await service.send({ path: "/api/v1/_collections" })).text;
  assert.doesNotMatch(collections, /_jobs/);
});
