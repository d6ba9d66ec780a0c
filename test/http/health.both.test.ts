import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "../until.ts";
import { check } from "./check.ts";
import { type Service, startFor, startService } from "./service.ts";
import { isOnPostgres } from "./test-store.ts";

const paths = ["/livez", "/readyz", "/healthz"];
const fields = { "Content-Type": "application/health+json", "Cache-Control": "no-store", ETag: undefined };

/** The expected readiness. The PostgreSQL of the tests does not flush, and readiness reports this. */
const readiness = (status: string) =>
  JSON.stringify({ status, ...(isOnPostgres ? { durability: "relaxed" } : {}) });

describe("health", () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  for (const path of paths) {
    test(`${path} says that the service passes`, async () => {
      const answer = await service.send({ path });
      check(answer, { status: 200, headers: fields });
      assert.equal(answer.text, path === "/livez" ? '{"status":"pass"}' : readiness("pass"));
    });

    test(`${path} by HEAD has the same fields`, async () => {
      const head = await service.send({ method: "HEAD", path });
      const { text } = await service.send({ path });
      check(head, { status: 200, headers: { ...fields, "Content-Length": String(text.length) } });
    });

    for (const method of ["POST", "PUT", "PATCH", "DELETE", "TRACE"])
      test(`${path} by ${method} is a 405`, async () => {
        check(await service.send({ method, path }), {
          status: 405,
          problem: "METHOD_NOT_ALLOWED",
          headers: { Allow: /^GET, HEAD(, OPTIONS)?$/ },
        });
      });
  }

  test("takes no parameters", async () => {
    for (const path of paths)
      check(await service.send({ path: `${path}?x=1` }), { status: 400, problem: "INVALID_PARAMETER" });
  });

  test("is not under the prefix", async () => {
    check(await service.send({ path: "/api/v1/livez/x" }), { status: 404 });
    check(await service.send({ path: "/livez/x" }), { status: 404 });
  });
});

describe("a service that is told to stop", () => {
  test("turns unready first, still lives, and answers what comes until it closes", async () => {
    const service = await startService({ drainDelayMs: 3_000 });
    const { path, body } = await service.create("topics", { title: "Before" });
    const stopped = service.stop({ keepConnections: true });
    // New connections, because stop() closes the pool of the client.
    const ask = async (target: string) => {
      const connection = await service.connect();
      connection.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      return connection.answer().finally(() => connection.close());
    };
    for (const target of ["/readyz", "/healthz"]) {
      const ready = await ask(target);
      assert.equal(ready.status, 503);
      assert.equal(ready.body, readiness("fail"));
      assert.equal(ready.headers["content-type"], "application/health+json");
      assert.equal(ready.headers["cache-control"], "no-store");
    }
    assert.equal((await ask("/livez")).status, 200);
    const read = await ask(path);
    assert.equal(read.status, 200);
    assert.deepEqual(JSON.parse(read.body), body);
    await stopped;
    await assert.rejects(ask("/livez"));
  });

  test("answers every request that it has taken", async () => {
    const service = await startService();
    const connections = await Promise.all(Array.from({ length: 10 }, () => service.connect()));
    const content = JSON.stringify({ title: "x".repeat(1_000) });
    for (const connection of connections) {
      connection.write(
        "POST /api/v1/topics HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
          `Expect: 100-continue\r\nContent-Length: ${content.length}\r\n\r\n`,
      );
      assert.equal((await connection.answer("POST")).status, 100);
    }
    const stopped = service.stop({ keepConnections: true });
    for (const connection of connections) {
      connection.write(content);
      assert.equal((await connection.answer("POST")).status, 201);
    }
    await stopped;
    for (const connection of connections) await connection.untilClosed();
  });
});

test("readiness warns while a large part of the log waits for a checkpoint", {
  skip: isOnPostgres && "needs a store with a log of its own, as SQLite has",
}, async (t) => {
  const service = await startFor(t, { storeOptions: { maxLogBytes: 0 } });
  await service.create("topics", { title: "One" });
  await until("it warns", async () => (await service.send({ path: "/readyz" })).text.includes("warn"));
  const answer = await service.send({ path: "/readyz" });
  check(answer, { status: 200, headers: fields });
  assert.equal(answer.text, '{"status":"warn","log":"long"}');
  await service.create("topics", { title: "Two" });
});
