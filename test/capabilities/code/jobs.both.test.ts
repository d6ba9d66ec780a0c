/** When jobs run, and what becomes of their runs. The clock is that of the test. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { code } from "../../../src/capabilities/code/capability.ts";
import { machineTime, until } from "../../until.ts";
import { iso, JobStore } from "./job-service.ts";

const monday = "2027-05-03";
const start = `${monday}T06:00Z`;

/** A job that notes its runs. */
const noting = (members = 'cron: "0 * * * *"') =>
  `digest: job({ ${members}, as: "service", run: (call) => note(call) })`;

test("a job runs at its times, and the history names it", async (t) => {
  const store = new JobStore(t, start);
  const options = `history: { keep: "forever", showPrincipal: true },`;
  const service = await store.start(noting('cron: "0 7 * * 1", timezone: "Europe/Oslo"'), { options });
  await service.untilNext("2027-05-10T05:00Z");
  const last = await service.runAt("2027-05-10T05:00Z");
  assert.deepEqual([last.result, last.missed, last.attempt], ["succeeded", 0, 1]);
  await service.runAt("2027-05-17T05:00Z");
  const runs = await service.runs();
  assert.deepEqual(
    runs.map(({ due, now }) => [due, now]),
    ["2027-05-10T05:00:00.000Z", "2027-05-17T05:00:00.000Z"].map((time) => [time, time]),
  );
  await service.untilNext("2027-05-24T05:00Z");
  const { json } = await service.send({ path: `/api/v1/runs/${runs[0]?.id}/_changes` });
  assert.equal((json as { principal: string }[])[0]?.principal, "code:digest");
});

test("times that were missed become one run, or none", async (t) => {
  const store = new JobStore(t, start);
  const jobs = `${noting()}, strict: job({ cron: "0 * * * *", catchUp: false, as: "service", run: (call) => note(call, "strict") })`;
  const first = await store.start(jobs);
  await first.runAt(`${monday}T07:00Z`);
  await until("both have run", async () => (await first.runs()).length === 2);
  await first.stop();
  store.clock.moveTo(Date.parse(`${monday}T10:30Z`));
  const second = await store.start(jobs);
  await second.untilNext(`${monday}T11:00Z`);
  await until("one has run", async () => (await second.runs()).length === 3);
  const run = (await second.runs())[2];
  assert.deepEqual(
    [run?.job, run?.due, run?.missed, run?.attempt],
    ["digest", iso(`${monday}T10:00Z`), 3, 1],
  );
  assert.equal((await second.job("strict")).next, iso(`${monday}T11:00Z`));
  await second.runAt(`${monday}T11:00Z`);
  await until("both have run again", async () => (await second.runs()).length === 5);
  assert.ok((await second.runs()).slice(3).every(({ missed }) => missed === 0));
});

test("the first start of a job makes up for nothing", async (t) => {
  const store = new JobStore(t, `${monday}T06:59Z`);
  const service = await store.start(noting('cron: "0 6 * * *"'));
  await service.untilNext("2027-05-04T06:00Z");
  assert.equal((await service.job()).last, null);
});

test("a run that fails waits for the next time, and is tried again as often as the job says", async (t) => {
  const store = new JobStore(t, start);
  const warnings: string[] = [];
  const log = { info() {}, error() {}, warn: (text: string) => void warnings.push(text) };
  const service = await store.start(
    `digest: job({ cron: "0 7 * * *", retries: 2, run: ({ attempt }) => { throw new Error("no luck " + attempt); } })`,
    { log: log as never },
  );
  await service.untilNext(`${monday}T07:00Z`);
  const first = await service.runAt(`${monday}T07:00Z`);
  assert.equal(first.result, "failed");
  assert.match(first.message ?? "", /^Error: no luck 1\n.*holdfast\.config\.ts/s);
  await service.untilNext(`${monday}T07:00:05Z`);
  assert.equal((await service.runAt(`${monday}T07:00:05Z`)).attempt, 2);
  await service.untilNext(`${monday}T07:00:35Z`);
  const third = await service.runAt(`${monday}T07:00:35Z`);
  assert.deepEqual([third.attempt, third.due], [3, iso(`${monday}T07:00Z`)]);
  await service.untilNext("2027-05-04T07:00Z");
  assert.equal(warnings.filter((text) => /job digest, attempt [123]: failed/.test(text)).length, 3);
  assert.equal((await service.job()).lastSuccess, null);
  assert.equal((await service.runAt("2027-05-04T07:00Z")).attempt, 1);
});

test("the next time comes before a further attempt for the time before it", async (t) => {
  const store = new JobStore(t, start);
  const service = await store.start(
    `digest: job({ cron: "* * * * *", retries: 5, run: () => { throw new Error("no luck"); } })`,
  );
  await service.untilNext(`${monday}T06:01Z`);
  for (const time of ["06:01:00", "06:01:05", "06:01:35"]) await service.runAt(`${monday}T${time}Z`);
  await service.untilNext(`${monday}T06:02Z`);
  const last = await service.runAt(`${monday}T06:02Z`);
  assert.deepEqual([last.due, last.attempt, last.missed], [iso(`${monday}T06:02Z`), 1, 0]);
});

test("a run that takes too long is ended and has failed", async (t) => {
  const store = new JobStore(t, start);
  const service = await store.start(
    `digest: job({ cron: "0 * * * *", timeoutMs: 20, run: ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))) })`,
  );
  await service.untilNext(`${monday}T07:00Z`);
  const last = await service.runAt(`${monday}T07:00Z`);
  assert.equal(last.result, "failed");
  assert.match(last.message ?? "", /jobs\.digest\.run has taken longer than 20 ms/);
});

test("a run that was interrupted runs once more, and a job can refuse that", async (t) => {
  const store = new JobStore(t, start);
  const jobs = (job: string) =>
    `digest: job({ cron: "0 7 * * *", ${job}, as: "service", run: async (call) => { await note(call); if (call.attempt === 1) await forever(); } })`;
  const first = await store.start(jobs('onCrash: "again"'));
  await first.untilNext(`${monday}T07:00Z`);
  store.clock.moveTo(Date.parse(`${monday}T07:00Z`));
  await until("it runs", async () => (await first.runs()).length === 1);
  assert.equal((await first.job()).running?.attempt, 1);
  await first.stop();
  const second = await store.start(jobs('onCrash: "skip"'));
  await until("it has run again", async () => (await second.job()).last?.result === "succeeded");
  assert.deepEqual(
    (await second.runs()).map(({ due, attempt, missed }) => [due, attempt, missed]),
    [1, 2].map((attempt) => [iso(`${monday}T07:00Z`), attempt, 0]),
  );
  store.clock.moveTo(Date.parse("2027-05-04T07:00Z"));
  await until("it runs the next day", async () => (await second.runs()).length === 3);
  await second.stop();
  const third = await store.start(jobs('onCrash: "skip"'));
  await third.untilNext("2027-05-05T07:00Z");
  const { result, message } = (await third.job()).last ?? {};
  assert.deepEqual([result, message], ["interrupted", "The service stops."]);
  assert.equal((await third.runs()).length, 3);
});

test("no run begins while another one of the same job is in progress", async (t) => {
  const store = new JobStore(t, start);
  const service = await store.start(
    `digest: job({ cron: "*/10 * * * *", as: "service", run: async (call) => {
      await note(call);
      if (call.missed === 0) await gate(call);
    } })`,
  );
  await service.untilNext(`${monday}T06:10Z`);
  store.clock.moveTo(Date.parse(`${monday}T06:10Z`));
  await until("it runs", async () => (await service.runs()).length === 1);
  for (const time of ["06:20", "06:30", "06:40"]) store.clock.moveTo(Date.parse(`${monday}T${time}Z`));
  assert.equal((await service.job()).running?.due, iso(`${monday}T06:10Z`));
  assert.equal((await service.runs()).length, 1);
  await service.send({ method: "POST", path: "/api/v1/gates", content: {} });
  await until("it has run again", async () => (await service.runs()).length === 2);
  const run = (await service.runs())[1];
  assert.deepEqual([run?.due, run?.missed], [iso(`${monday}T06:40Z`), 2]);
});

test("a job with another pattern follows the new one, and a job that is removed does not run", async (t) => {
  const store = new JobStore(t, start);
  const first = await store.start(noting('cron: "0 7 * * *"'));
  await first.runAt(`${monday}T07:00Z`);
  await first.stop();
  const second = await store.start(noting('cron: "30 9 * * *"'));
  await second.untilNext(`${monday}T09:30Z`);
  assert.equal((await second.job()).last?.due, iso(`${monday}T07:00Z`));
  await second.stop();
  const third = await store.start(
    'other: job({ cron: "0 10 * * *", as: "service", run: (call) => note(call, "other") })',
  );
  assert.equal((await third.send({ path: "/api/v1/_jobs/digest" })).status, 404);
  store.clock.moveTo(Date.parse(`${monday}T10:00Z`));
  await until("the other one has run", async () => (await third.runs()).length === 2);
  assert.equal((await third.runs())[1]?.job, "other");
});

test("a store that was copied or restored makes up for nothing", async (t) => {
  const store = new JobStore(t, start);
  const first = await store.start(noting());
  await first.runAt(`${monday}T07:00Z`);
  await first.stop();
  store.clock.moveTo(Date.parse(`${monday}T09:30Z`));
  await store.use(async (opened) => {
    const { quieten } = (await code.load()).inStore ?? {};
    assert.deepEqual(await quieten?.(opened, { made: "moved", at: machineTime() }), []);
    const done = await quieten?.(opened, { made: "restored", at: machineTime() });
    assert.deepEqual(done, [{ did: "reset", count: 1, what: "job" }]);
  });
  const second = await store.start(noting());
  assert.equal((await second.job()).last, null);
  assert.equal((await second.job()).next, iso(`${monday}T10:00Z`));
  assert.equal((await second.runs()).length, 1);
});

test("a run as a caller with roles has the rights of that caller, and without as there is no client", async (t) => {
  const store = new JobStore(t, start);
  const service = await store.start(
    `editor: job({ cron: "0 7 * * *", as: { roles: ["editor"] }, run: (call) => note(call, "editor") }),
     reader: job({ cron: "0 7 * * *", as: { roles: ["reader"] }, run: (call) => note(call, "reader") }),
     alone: { cron: "0 7 * * *", run: (call) => { if (call.client || call.service) throw new Error("a client"); } },`,
    {
      options: `auth: { keys: true }, collections: { runs: { access: { read: "public", create: { role: "editor" } } } },`,
    },
  );
  // Without administrators, jobs have no paths.
  assert.equal((await service.send({ path: "/api/v1/_jobs" })).status, 404);
  store.clock.moveTo(Date.parse(`${monday}T07:00Z`));
  await until("one has run", async () => (await service.runs()).length === 1);
  assert.equal((await service.runs())[0]?.job, "editor");
});
