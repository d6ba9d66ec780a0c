/** Everyone may write to an open service, and so give the resources of one page very many attributes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type RunningService, serve, stop } from "../commands/cli.ts";
import { makeFolder } from "../folder.ts";
import { check } from "./check.ts";
import { cannotWatch, watchFromOutside } from "./outside-probe.ts";
import { startFor } from "./service.ts";

/** Fills a collection with resources that have no attribute in common. */
async function fill(
  { base }: RunningService,
  collection: string,
  { resources, names }: { resources: number; names: number },
): Promise<void> {
  for (let from = 0; from < resources; from += 100) {
    const operations = Array.from({ length: Math.min(100, resources - from) }, (_, n) => ({
      method: "POST",
      path: `/${collection}`,
      body: Object.fromEntries(
        Array.from({ length: names }, (_, i) => [`${((from + n) * names + i).toString(36)}~`, 1]),
      ),
    }));
    const answer = await fetch(`${base}/_batch`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ operations }),
    });
    assert.equal(answer.status, 200);
    await answer.arrayBuffer();
  }
}

const attacks = [
  { resources: 100, names: 1_000 },
  { resources: 1_000, names: 150 },
];

test("a table of very many columns takes little memory, and others are answered meanwhile", {
  skip: cannotWatch,
}, async (t) => {
  const service = await serve(t, [], { cwd: makeFolder() });
  for (const attack of attacks) await fill(service, `wide${attack.resources}`, attack);
  const pid = service.process.pid as number;
  const watched = await watchFromOutside({ pid, origin: service.origin }, async () => {
    for (const { resources } of attacks) {
      const path = `${service.base}/wide${resources}?limit=1000`;
      const answer = await fetch(path, { headers: { accept: "text/csv" } });
      const body = await answer.text();
      assert.equal(answer.status, 400, `${body.length} characters`);
      assert.match(body, /at most 200,000 cells/);
    }
  });
  t.diagnostic(JSON.stringify(watched));
  assert.ok(watched.memoryBytes < 150e6, `${watched.memoryBytes} bytes`);
  assert.ok(watched.standstillMs <= 300, `${watched.standstillMs} ms`);
  await stop(service);
});

test("a table has at most 200,000 cells", async (t) => {
  const service = await startFor(t);
  const names = (count: number) => Array.from({ length: count }, (_, n) => `a${n}`);
  const operations = Array.from({ length: 100 }, () => ({
    method: "POST",
    path: "/wide",
    headers: { Prefer: "return=minimal" },
    body: Object.fromEntries(names(199).map((name) => [name, 1])),
  }));
  for (let n = 0; n < 10; n++)
    check(await service.send({ method: "POST", path: "/api/v1/_batch", content: { operations } }), {
      status: 200,
    });
  const headers = { Accept: "text/csv" };
  const path = "/api/v1/wide?limit=1000";
  const whole = await service.send({ path, headers });
  check(whole, { status: 200 });
  assert.equal(whole.text.split("\r\n").length, 1_002);

  await service.create("wide", { more: 1 });
  check(await service.send({ path: `${path}&sort=-id`, headers }), {
    status: 400,
    problem: "INVALID_PARAMETER",
    violations: [{ in: "query", name: "fields", code: "cells" }],
  });
  check(await service.send({ method: "HEAD", path: `${path}&sort=-id`, headers }), { status: 400 });
  check(await service.send({ path: `${path}&sort=-id&fields=a0,more`, headers }), { status: 200 });
  check(await service.send({ path: "/api/v1/wide?limit=900&sort=-id", headers }), { status: 200 });
  const query = (count: number) =>
    service.send({
      method: "QUERY",
      path: "/api/v1/wide",
      content: { limit: 1_000, fields: names(count) },
      headers,
    });
  check(await query(199), { status: 200 });
  check(await query(200), {
    status: 400,
    problem: "INVALID_PARAMETER",
    violations: [{ in: "body", pointer: "#/fields", code: "cells" }],
  });
});
