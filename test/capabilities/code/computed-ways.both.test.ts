/** Computed attributes of resources that do not come from a single write: imports, tasks and earlier states. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeFolder } from "../../folder.ts";
import { type Service, startFor } from "../../http/service.ts";
import { openTestStore } from "../../http/test-store.ts";
import { until } from "../../until.ts";

const configOf = (factor: number) => `
export default {
  collections: {
    orders: {
      schema: { type: "object", properties: { key: { type: "string", maxLength: 10 }, n: { type: "integer" } }, required: ["total"] },
      unique: ["key"],
      hooks: { validate: ({ resource }) => { if (resource.n === 13) throw new Error("no"); } },
      computed: {
        total: { schema: { type: "number" }, from: ["n"], version: ${factor}, value: ({ n }) => (n ?? 0) * ${factor} },
      },
    },
  },
};
`;

const base = "/api/v1/orders";

async function totalsIn({ send }: Service): Promise<unknown[]> {
  const { json } = await send({ path: `${base}?sort=n` });
  return (json as { n: number; total: number }[]).map(({ n, total }) => [n, total]);
}

const importLines = async ({ send }: Service, query: string, ...lines: object[]) => {
  const answer = await send({
    method: "POST",
    path: `${base}/_import${query}`,
    headers: { "content-type": "application/x-ndjson" },
    body: lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
  });
  assert.ok(answer.status < 300, answer.text);
};

async function untilEnded({ send }: Service, path: string): Promise<void> {
  await until("the task has ended", async () => {
    const { json } = await send({ path });
    return (json as { state: string }).state === "done";
  });
}

test("an import computes, also by a key and without hooks, whatever the file says", async (t) => {
  const service = await startFor(t, { module: configOf(2) });
  await importLines(service, "", { n: 1, key: "a" }, { n: 2, total: 99 });
  await importLines(service, "?on=key", { n: 3, key: "a" }, { n: 4, key: "b", total: 1 });
  await importLines(service, "?skipHooks=true", { n: 13, total: 5 });
  assert.deepEqual(await totalsIn(service), [
    [2, 4],
    [3, 6],
    [4, 8],
    [13, 26],
  ]);
});

test("a task computes each resource, and its undo computes with today's function", async (t) => {
  const service = await startFor(t, { module: configOf(2) });
  for (const n of [1, 2]) await service.create("orders", { n });
  const task = await service.send({
    method: "POST",
    path: `${base}/_bulk`,
    headers: { prefer: "respond-async" },
    content: { all: true, patch: { n: 5 }, max: 10 },
  });
  assert.equal(task.status, 202, task.text);
  const path = task.headers.location ?? "";
  await untilEnded(service, path);
  assert.deepEqual(await totalsIn(service), [
    [5, 10],
    [5, 10],
  ]);
  const undo = await service.send({ method: "POST", path: `${path}/_undo` });
  assert.equal(undo.status, 202, undo.text);
  await untilEnded(service, undo.headers.location ?? "");
  assert.deepEqual(await totalsIn(service), [
    [1, 2],
    [2, 4],
  ]);
});

test("a rewind and a restore compute with today's function", async (t) => {
  let at = 1_700_000_000_000;
  const now = () => at;
  const place = await openTestStore(makeFolder());
  t.after(() => place.release());
  const first = await startFor(t, { module: configOf(2), store: place.address, now });
  const { path } = await first.create("orders", { n: 1 });
  const to = at;
  at += 1_000;
  await first.send({ method: "PATCH", path, content: { n: 2 } });
  await first.stop();
  at += 1_000;
  const second = await startFor(t, { module: configOf(3), store: place.address, now });
  await until("it is computed again", async () => (await totalsIn(second)).join() === "2,6");
  const rewind = { to, max: 10, collections: ["orders"] };
  const answer = await second.send({ method: "POST", path: "/api/v1/_rewind", content: rewind });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(await totalsIn(second), [[1, 3]]);
  await second.send({ method: "PATCH", path, content: { n: 7 } });
  const restored = await second.send({ method: "POST", path: `${path}/_restore`, content: { version: 2 } });
  assert.equal((restored.json as { total: number }).total, 6, restored.text);
});
