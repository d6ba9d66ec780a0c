import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { makeFolder } from "../folder.ts";
import { databaseFor } from "../postgres/databases.ts";
import { configuration, type RunningService, run, serve, stop } from "./cli.ts";

const topics = { topics: { search: ["title"] }, counted: { id: "integer" } };

async function places(test: TestContext): Promise<string[]> {
  const url = await databaseFor(test);
  return ["sqlite:a.db", url];
}

async function send(service: RunningService, path: string, init: RequestInit = {}) {
  const headers = { "content-type": "application/json", "idempotency-key": '"k"' };
  const response = await fetch(`${service.base}${path}`, { headers, ...init });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const create = { method: "POST", body: '{"title":"one"}' };

test("a service that only reads answers reads and repeats, and 503 to every write", async (t) => {
  const cwd = makeFolder(configuration(topics));
  for (const store of await places(t)) {
    const writing = await serve(t, ["--store", store], { cwd });
    const created = await send(writing, "/topics", create);
    const path = new URL(created.headers.get("location") ?? "", writing.origin).pathname.replace(
      "/api/v1",
      "",
    );
    await stop(writing);
    const both = [
      await serve(t, ["--read-only", "--store", store], { cwd }),
      await serve(t, ["--read-only", "--store", store], { cwd }),
    ];
    for (const service of both) {
      assert.match(service.output().stdout, / {2}mode +read-only; declared: topics, counted\n/);
      assert.equal((await send(service, "/topics?q=on")).text, `[${created.text}]`);
      assert.deepEqual(
        [(await send(service, path)).text, (await send(service, "/topics", create)).text],
        [created.text, created.text],
      );
      const writes = [
        await send(service, "/topics", { ...create, headers: { "content-type": "application/json" } }),
        await send(service, "/counted", { ...create, headers: { "content-type": "application/json" } }),
        await send(service, path, { method: "PUT", body: created.text.replace("one", "two") }),
        await send(service, path, { method: "DELETE", headers: {} }),
      ];
      for (const { status, headers, text } of writes) {
        assert.equal(status, 503, text);
        assert.ok(headers.get("retry-after"));
      }
      assert.equal((await send(service, "/topics/none", { method: "DELETE", headers: {} })).status, 404);
      assert.equal((await fetch(`${service.origin}/readyz`)).status, 200);
    }
    const copied = await run(t, ["copy", "--from", store, "--to", `${both.length}${store.length}.db`], {
      cwd,
    });
    assert.equal(copied.exitCode, 0, copied.stderr);
    for (const service of both) assert.equal((await stop(service)).exitCode, 0);
  }
});

test("nobody writes to a file that is served for reading alone, and the other way round", async (t) => {
  const cwd = makeFolder(configuration(topics));
  const writing = await serve(t, [], { cwd });
  const refused = await run(t, ["serve", "--port", "0", "--read-only"], { cwd });
  assert.match(refused.stderr, /in use by another Holdfast/);
  await stop(writing);
  const reading = await serve(t, ["--read-only"], { cwd });
  const other = await run(t, ["serve", "--port", "0"], { cwd });
  assert.match(other.stderr, /in use by another Holdfast/);
  await stop(reading);
});

test("reading alone needs a store, and declarations as it has them", async (t) => {
  const cwd = makeFolder(configuration(topics, { readOnly: true }));
  const none = await run(t, ["serve", "--port", "0"], { cwd });
  assert.equal(none.exitCode, 1);
  assert.match(none.stderr, /^holdfast: The store \S+holdfast\.db does not exist\.\n$/);
  const elsewhere = makeFolder(configuration(topics));
  await stop(await serve(t, ["--store", `${cwd}/holdfast.db`], { cwd: elsewhere }));
  await stop(await serve(t, [], { cwd }));
  const changed = makeFolder(configuration({ ...topics, topics: { search: ["text"] } }));
  const refused = await run(t, ["serve", "--read-only", "--port", "0", "--store", `${cwd}/holdfast.db`], {
    cwd: changed,
  });
  assert.equal(refused.exitCode, 1);
  assert.match(
    refused.stderr,
    /^holdfast: The declaration of topics has changed, and a read-only service cannot apply it/,
  );
});
