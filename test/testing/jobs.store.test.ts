import assert from "node:assert/strict";
import { test } from "node:test";
import { defineConfig, job } from "../../src/index.ts";
import { start } from "../../src/testing.ts";
import { startInMemoryFor } from "./service.ts";

const now = new Date("2026-02-01T12:00:00Z"); // a Sunday
const hourMs = 3_600_000;

/** A log that keeps its lines. */
function keptLog() {
  const lines: string[] = [];
  const add = (...line: unknown[]) => void lines.push(line.join(" "));
  return { lines, log: { warn: add, error: add } };
}

/** Jobs that note their runs in `runs`. */
function noting(runs: string[]) {
  const note =
    (name: string) =>
    ({ due, now, missed, attempt }: { due: Date; now: Date; missed: number; attempt: number }) => {
      const texts = [due, now].map((time) => time.toISOString().slice(5, 16));
      runs.push(`${name} due ${texts[0]} at ${texts[1]}, missed ${missed}, attempt ${attempt}`);
    };
  return defineConfig({
    jobs: {
      daily: job({ cron: "0 7 * * *", run: note("daily") }),
      hourly: job({ cron: "0 * * * *", catchUp: false, run: note("hourly") }),
    },
  });
}

test("a job runs when the clock has come to its time, once for all times that were missed", async (t) => {
  const runs: string[] = [];
  const service = await startInMemoryFor(t, noting(runs), { now });
  await service.advance(19 * hourMs - 1);
  assert.deepEqual(runs, []); // the times of hourly are over, and it does not catch up
  await service.advance(1);
  assert.deepEqual(runs.splice(0), [
    "daily due 02-02T07:00 at 02-02T07:00, missed 0, attempt 1",
    "hourly due 02-02T07:00 at 02-02T07:00, missed 0, attempt 1",
  ]);
  await service.advance(0);
  assert.deepEqual(runs, []);
  await service.advance(3 * 24 * hourMs + hourMs / 2);
  assert.deepEqual(runs, ["daily due 02-05T07:00 at 02-05T07:30, missed 3, attempt 1"]);
});

test("a test runs a job at any time, and its next time does not change", async (t) => {
  const runs: string[] = [];
  const service = await startInMemoryFor(t, noting(runs), { now });
  await service.runJob("daily");
  await service.runJob("daily", new Date("2026-03-04T05:06:00Z"));
  await service.runJob("daily", Date.UTC(2026, 0, 1));
  await service.advance(19 * hourMs);
  assert.deepEqual(runs, [
    "daily due 02-01T12:00 at 02-01T12:00, missed 0, attempt 1",
    "daily due 03-04T05:06 at 02-01T12:00, missed 0, attempt 1",
    "daily due 01-01T00:00 at 02-01T12:00, missed 0, attempt 1",
    "daily due 02-02T07:00 at 02-02T07:00, missed 0, attempt 1",
    "hourly due 02-02T07:00 at 02-02T07:00, missed 0, attempt 1",
  ]);
});

test("a job that the configuration does not have, and a wrong time, are errors", async (t) => {
  const service = await startInMemoryFor(t, noting([]), { now });
  // @ts-expect-error The configuration has no such job.
  await assert.rejects(service.runJob("dayly"), {
    message: 'The configuration has no job "dayly". Its jobs: daily, hourly.',
  });
  await assert.rejects(service.runJob("constructor" as never), /has no job "constructor"/);
  await assert.rejects(service.runJob("daily", new Date("never")), TypeError);
  const without = await startInMemoryFor(t, {});
  await assert.rejects(without.runJob("daily"), {
    message: 'The configuration has no job "daily". It has no jobs.',
  });
});

const failing = (attempts: string[]) =>
  defineConfig({
    auth: { keys: true, keyRoles: ["ops"], administrators: [{ role: "ops" }] },
    jobs: {
      digest: job({
        cron: "0 7 * * *",
        retries: 2,
        run: ({ attempt, due }) => {
          attempts.push(`${attempt} ${due.toISOString().slice(11, 16)}`);
          if (attempts.length < 3) throw new Error("no mails today");
        },
      }),
    },
  });

test("a job that throws fails the test, and is tried again when the clock has come to it", async (t) => {
  const attempts: string[] = [];
  const { lines, log } = keptLog();
  const service = await startInMemoryFor(t, failing(attempts), { now, log });
  await assert.rejects(service.runJob("digest"), {
    message: /^The job digest failed: Error: no mails today\n.*jobs\.store/s,
  });
  assert.match(lines.join(), /The job digest, attempt 1: failed\. Error: no mails today/);
  await service.advance(4_999);
  assert.deepEqual(attempts, ["1 12:00"]);
  await assert.rejects(service.advance(1), /^Error: The job digest failed: Error: no mails today/);
  await service.advance(30_000);
  assert.deepEqual(attempts, ["1 12:00", "2 12:00", "3 12:00"]);
  const ops = service.client({ subject: "root", roles: ["ops"] });
  const { last, next } = (await ops.$read("/_jobs/digest")) as { last: { result: string }; next: string };
  assert.deepEqual([last.result, next], ["succeeded", "2026-02-02T07:00:00.000Z"]);
});

test("a run takes the place of one that waits until it is tried again", async (t) => {
  const attempts: string[] = [];
  const service = await startInMemoryFor(t, failing(attempts), { now, log: keptLog().log });
  await assert.rejects(service.runJob("digest"));
  await assert.rejects(service.runJob("digest", Date.UTC(2026, 0, 1, 8)));
  await service.advance(60_000);
  assert.deepEqual(attempts, ["1 12:00", "1 08:00", "2 08:00"]);
});

test("a job has its client, and consumers handle what it writes only when the test says so", async (t) => {
  const config = defineConfig({
    collections: {
      notes: { after: { copy: { as: "service", run: ({ client }) => client.copies?.create({}) } } },
      copies: {},
    },
    jobs: {
      write: job({
        cron: "0 7 * * *",
        as: "service",
        run: async ({ client, service }) => {
          await client.notes?.create({ by: "client" });
          await service.notes?.create({ by: "service" });
        },
      }),
    },
  });
  const service = await startInMemoryFor(t, config, { now });
  const { notes, copies } = service.client();
  await service.advance(24 * hourMs);
  assert.deepEqual(
    (await notes.list({}).all()).map(({ by }) => by),
    ["client", "service"],
  );
  assert.equal((await copies.list({}).all()).length, 0);
  await service.consume();
  assert.equal((await copies.list({}).all()).length, 2);
});

test("a job that an administrator asked for runs when the test says so", async (t) => {
  const runs: string[] = [];
  const config = defineConfig({
    auth: { keys: true, keyRoles: ["ops"], administrators: [{ role: "ops" }] },
    jobs: { daily: job({ cron: "0 7 * * *", run: () => runs.push("run") }) },
  });
  const service = await startInMemoryFor(t, config, { now });
  const { key } = await service
    .client({ subject: "root", roles: ["ops"] })
    .$keys.create({ name: "ops", roles: ["ops"] });
  const headers = { authorization: `Bearer ${key}` };
  const { status } = await service.fetch("/api/v1/_jobs/daily/_run", { method: "POST", headers });
  assert.equal(status, 202);
  await service.fetch("/api/v1/_jobs", { headers });
  assert.deepEqual(runs, []);
  await service.advance(0);
  assert.deepEqual(runs, ["run"]);
});

/** A job that never ends, and the signal of its run. */
function hanging() {
  const begun = Promise.withResolvers<AbortSignal>();
  const config = defineConfig({
    jobs: {
      hang: job({
        cron: "0 7 * * *",
        onCrash: "again",
        run: ({ signal }) => {
          begun.resolve(signal);
          return new Promise(() => {});
        },
      }),
    },
  });
  return { config, begun: begun.promise };
}

test("a job that hangs has failed after its time, for which a test need not wait", async (t) => {
  const { config, begun } = hanging();
  const service = await startInMemoryFor(t, config, { now, log: keptLog().log });
  const failing = assert.rejects(
    service.runJob("hang"),
    /The job hang failed: jobs\.hang\.run has taken longer than 300000 ms\./,
  );
  const signal = await begun;
  const moving = service.advance(300_000);
  assert.equal(signal.aborted, true);
  await Promise.all([service.advance(5_000), moving, failing]);
});

test("a stop in the middle of a job ends it", async (t) => {
  const { config, begun } = hanging();
  const service = await start(config, { now, log: keptLog().log });
  t.after(() => service.stop());
  const ending = assert.rejects(service.runJob("hang"), { message: "The service has stopped." });
  const moving = assert.rejects(service.advance(0), { message: "The service has stopped." });
  const signal = await begun;
  await service.stop();
  await Promise.all([ending, moving]);
  assert.equal(signal.aborted, true);
});
