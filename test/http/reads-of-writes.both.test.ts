/** How often a write reads the resource that it changes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { machineTime, until } from "../until.ts";
import { check } from "./check.ts";
import { type Answer, type Made, startFor, startServiceForFile } from "./service.ts";
import { holdCommits, watchQueries } from "./store-spy.ts";

const service = await startServiceForFile({ collections: { counters: {} } });

const updateType = "application/vnd.holdfast.update+json";

function headOf({ path }: Pick<Made, "path">, { method, type, length }: Record<string, string | number>) {
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`;
}

/** Sends a request in one piece. */
async function sendWhole(
  made: Pick<Made, "path">,
  method: string,
  content: unknown,
  type = "application/json",
) {
  const body = content === undefined ? "" : JSON.stringify(content);
  const connection = await service.connect();
  connection.write(headOf(made, { method, type, length: body.length }) + body);
  const answer = await connection.answer();
  connection.close();
  return answer;
}

test("a write whose content has arrived reads its resource once", async (t) => {
  const made = await service.create("counters", { n: 0 });
  const reads = watchQueries(t);
  const writes = [
    ["PATCH", { n: { $increment: 1 } }, updateType],
    ["PATCH", { title: "A" }],
    ["PUT", { id: made.id, n: 5 }],
    ["DELETE", undefined],
  ] as const;
  for (const [method, content, type] of writes) {
    const { status } = await sendWhole(made, method, content, type);
    assert.equal(status, method === "DELETE" ? 205 : 200);
    assert.deepEqual(reads.splice(0), ["read"], method);
  }
});

test("each operation of a batch reads its resource once", async (t) => {
  const made = await Promise.all([
    service.create("counters", { n: 0 }),
    service.create("counters", { n: 0 }),
  ]);
  const reads = watchQueries(t);
  const operations = made.map(({ id }) => ({ method: "PATCH", path: `/counters/${id}`, body: { n: 1 } }));
  const { status } = await sendWhole({ path: "/api/v1/_batch" }, "POST", { operations });
  assert.equal(status, 200);
  assert.deepEqual(reads, ["read", "read"]);
});

test("a write whose content arrives later is decided from the state at that time", async (t) => {
  const made = await service.create("counters", { n: 0 });
  const connection = await service.connect();
  const reads = watchQueries(t);
  const patch = `[{"op":"test","path":"/n","value":10},{"op":"replace","path":"/n","value":11}]`;
  const type = "application/json-patch+json";
  connection.write(headOf(made, { method: "PATCH", type, length: patch.length }));
  await until("the resource is read", () => reads.length === 1);
  const other = await sendWhole(made, "PATCH", { n: 10 });
  assert.equal(other.status, 200);
  connection.write(patch);
  const answer = await connection.answer();
  connection.close();
  assert.equal(answer.status, 200);
  assert.deepEqual(JSON.parse(answer.body), { id: made.id, n: 11 });
});

test("a write that another one overtakes reads the resource again", async (t) => {
  const made = await service.create("counters", { n: 0 });
  const { held, end } = holdCommits(t);
  const reads = watchQueries(t);
  const sent = sendWhole(made, "PATCH", { n: { $increment: 1 } }, updateType);
  await until("the commit is held", () => held.length === 1);
  assert.deepEqual(reads, ["read"]);
  end();
  const key = { collection: "counters", id: made.id };
  const next = JSON.stringify({ id: made.id, n: 100 });
  await held[0]?.overtake({ changes: [{ key, expect: 1, next }], at: machineTime() });
  held[0]?.letGo();
  const { status, body } = await sent;
  assert.equal(status, 200);
  assert.deepEqual(JSON.parse(body), { id: made.id, n: 101 });
  assert.deepEqual(reads, ["read", "read"]);
  check(await service.send({ path: made.path }), { status: 200, headers: { ETag: '"3"' } });
});

test("a write that waits for another one holds no memory for the resource", async (t) => {
  const small = await startFor(t, {
    collections: { counters: {} },
    wireBounds: { maxHeldBytes: 1_000_000 },
  });
  const made = await small.create("counters", { text: "x".repeat(200_000) });
  const { held, end } = holdCommits(t);
  const reads = watchQueries(t);
  const changed = small.send({ method: "PATCH", path: made.path, content: { n: 1 } });
  await until("the commit is held", () => held.length === 1);
  const deletes: Promise<Answer>[] = [];
  // One after the other, because each holds the resource while it reads it.
  for (let n = 1; n <= 10; n++) {
    deletes.push(small.send({ method: "DELETE", path: made.path }, { mayFail: true }));
    await until("the delete has read the resource", () => reads.length === n + 1);
  }
  end();
  held[0]?.letGo();
  assert.equal((await changed).status, 200);
  const statuses = (await Promise.all(deletes)).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), [205, ...Array(9).fill(404)]);
});
