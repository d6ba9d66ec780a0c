/** How a service with several threads stops: on a signal, and when one of its threads ends. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { halfSent, run, stop, untilDeaf } from "../commands/cli.ts";
import { makeFolder } from "../folder.ts";
import { databaseFor } from "../postgres/databases.ts";
import { until } from "../until.ts";
import { messagesIn, serveThreads } from "./served.ts";

/** A deadline that no test waits for. */
const patient = { stopTimeoutMs: 600_000 };

for (const threads of [2, 4]) {
  test(`SIGTERM: ${threads} threads answer the requests that they have accepted, and the exit code is 0`, async (t) => {
    const service = await serveThreads(t, threads, { configuration: patient });
    const requests = await Promise.all(Array.from({ length: 48 }, () => halfSent(service)));
    await until("all threads are counted together", async () => {
      const inProgress = (await service.metrics()).value("holdfast_http_requests_in_progress");
      return inProgress === requests.length;
    });
    service.process.kill("SIGTERM");
    await untilDeaf(service);
    for (const { finish, answer } of requests) {
      finish(); // one after the other, so that the main thread is often done before another one
      const text = await answer;
      assert.match(text, /^HTTP\/1\.1 201 Created\r\n/);
      assert.match(text, /^connection: close\r$/im);
    }
    const { exitCode, stderr } = await service.ended;
    assert.deepEqual({ exitCode, messages: messagesIn(stderr) }, { exitCode: 0, messages: [] });
  });
}

test("all threads stop being ready together", async (t) => {
  const service = await serveThreads(t, 4, { configuration: { ...patient, drainDelayMs: 3_000 } });
  const ready = async () => {
    const answers = service.clients(32).map((client) => client.send("GET", "/readyz"));
    return new Set((await Promise.all(answers)).map(({ status }) => status));
  };
  assert.deepEqual(await ready(), new Set([200]));
  service.process.kill("SIGTERM");
  await until("a thread is not ready", async () => (await ready()).has(503));
  assert.deepEqual(await ready(), new Set([503]));
  assert.equal((await service.ended).exitCode, 0);
});

/** Ends the first thread beside the main thread when a file exists. */
const sabotage = (path: string, deed: string) =>
  `data:text/javascript,${encodeURIComponent(`
    import { existsSync } from "node:fs";
    import { isMainThread, workerData } from "node:worker_threads";
    const act = () => { if (existsSync(${JSON.stringify(path)})) { ${deed} } };
    if (!isMainThread && workerData?.number === 1) setInterval(act, 20).unref();
  `)}`;

const deeds = [
  [
    "throws an error that nothing catches",
    'throw new Error("sabotage")',
    /^Thread 1 of the service failed: Error: sabotage\n/,
  ],
  ["ends", "process.exit(0)", /^Thread 1 of the service ended$/],
] as const;

for (const [what, deed, reason] of deeds) {
  test(`a thread that ${what} ends the service with exit code 1, and the other threads answer`, async (t) => {
    const trigger = join(makeFolder(), "trigger");
    const service = await serveThreads(t, 2, {
      configuration: patient,
      env: { NODE_OPTIONS: `--import=${sabotage(trigger, deed)}` },
    });
    const requests = await Promise.all(Array.from({ length: 32 }, () => halfSent(service)));
    await writeFile(trigger, "");
    await untilDeaf(service);
    for (const { finish, socket } of requests) if (socket.writable) finish(); // some belong to the thread that ended
    const answers = await Promise.allSettled(requests.map(({ answer }) => answer));
    const served = answers.filter(
      (each) => each.status === "fulfilled" && each.value.startsWith("HTTP/1.1 201 Created\r\n"),
    );
    assert.ok(served.length > 0 && served.length < requests.length, `${served.length} were answered`);
    const { exitCode, stderr } = await service.ended;
    assert.equal(exitCode, 1);
    const [message, ...others] = messagesIn(stderr);
    assert.deepEqual([message?.level, others], [60, []]);
    assert.match(String(message?.msg), reason);
  });
}

test("the port of a service with threads is in use for every other service", async (t) => {
  const service = await serveThreads(t, 2);
  const { port } = new URL(service.origin);
  const url = await databaseFor(t);
  for (const threads of [1, 2]) {
    const cwd = makeFolder({ "holdfast.config.json": JSON.stringify({ store: url }) });
    const { exitCode, stdout, stderr } = await run(
      t,
      ["serve", "--threads", String(threads), "--port", port],
      { cwd },
    );
    assert.deepEqual({ exitCode, stdout }, { exitCode: 1, stdout: "" });
    assert.match(
      stderr,
      new RegExp(`(?:^|\\n)holdfast: Port ${port} on 127\\.0\\.0\\.1 is in use\\. [^\\n]+\\n$`),
    );
  }
  await stop(service);
});
