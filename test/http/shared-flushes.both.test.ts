/** Changes of one resource that come together share a flush. Each is decided from the state that the one before it makes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "../../src/errors.ts";
import { readExposition } from "../metrics/exposition.ts";
import { machineTime, until } from "../until.ts";
import { check, checkProblem } from "./check.ts";
import { type Made, startServiceForFile } from "./service.ts";
import { type HeldCommit, holdCommits, watchQueries } from "./store-spy.ts";

const writes = 12;
const service = await startServiceForFile({
  collections: {
    counters: {},
    names: {
      schema: { properties: { name: { type: "string", maxLength: 100 }, n: { type: "integer" }, of: {} } },
      unique: ["name"],
    },
  },
  metrics: { host: "127.0.0.1", port: 0 },
});

const update = { "Content-Type": "application/vnd.holdfast.update+json" };

function addOne({ path }: Made, headers: Record<string, string> = {}) {
  return service.send(
    { method: "PATCH", path, headers: { ...update, ...headers }, content: { n: { $increment: 1 } } },
    { mayFail: true },
  );
}

const untilHeld = (held: readonly HeldCommit[], n: number) =>
  until(`${n} commits are held`, () => held.length >= n);

async function groupsAfter(commits: number): Promise<number> {
  const name = "holdfast_store_transaction_commits";
  let groups = 0;
  await until("the commits are counted", async () => {
    const found = readExposition(await (await fetch(String(service.metrics))).text());
    groups = found.value(`${name}_count`);
    return found.value(`${name}_sum`) === commits;
  });
  return groups;
}

test("changes of one resource share a flush, and each has a version of its own", async (t) => {
  const made = await service.create("counters", { n: 0 });
  const before = await groupsAfter(1);
  const { held } = holdCommits(t);
  const sent = Array.from({ length: writes }, () => addOne(made));
  await untilHeld(held, writes);
  for (const { letGo } of held) letGo();
  const seen = (await Promise.all(sent)).map((answer) => {
    check(answer, { status: 200 });
    return [answer.headers.etag, (answer.json as { n: number }).n];
  });
  const versions = Array.from({ length: writes }, (_, n) => [`"${n + 2}"`, n + 1]);
  assert.deepEqual(
    seen.sort((a, b) => Number(a[1]) - Number(b[1])),
    versions,
  );
  const groups = (await groupsAfter(1 + writes)) - before;
  assert.ok(groups < writes / 2, `${groups} flushes`);
  const history = await service.send({ path: `${made.path}/_changes` });
  const all = (history.json as { version: number }[]).map(({ version }) => version);
  assert.deepEqual(
    all.sort((a, b) => a - b),
    Array.from({ length: writes + 1 }, (_, n) => n + 1),
  );
  for (const [n, version] of [1, 7, writes].map((each) => [each, each + 1])) {
    const old = await service.send({ path: `${made.path}?version=${version}` });
    assert.equal((old.json as { n: number }).n, n);
  }
});

test("a change that fails takes back what was decided after it, and this is decided again", async (t) => {
  const made = await service.create("counters", { n: 0 });
  const { held, end } = holdCommits(t);
  const first = addOne(made);
  await untilHeld(held, 1);
  const others = Array.from({ length: 5 }, () => addOne(made));
  await untilHeld(held, 6);
  end();
  held[0]?.fail(new Problem("UNAVAILABLE", "The disk is full."));
  for (const { letGo } of held) letGo();
  checkProblem(await first, "UNAVAILABLE");
  for (const answer of await Promise.all(others)) check(answer, { status: 200 });
  check(await service.send({ path: made.path }), {
    status: 200,
    headers: { ETag: '"6"' },
    json: { id: made.id, n: 5 },
  });
});

test("a version that another write has made instead is not taken for the expected one", async (t) => {
  const made = await service.create("counters", { n: 0 });
  const { held, end } = holdCommits(t);
  const first = addOne(made);
  await untilHeld(held, 1);
  const second = addOne(made);
  await untilHeld(held, 2);
  end();
  const key = { collection: "counters", id: made.id };
  const next = JSON.stringify({ id: made.id, n: 100 });
  await held[0]?.overtake({ changes: [{ key, expect: 1, next }], at: machineTime() });
  held[0]?.fail(new Problem("UNAVAILABLE", "The disk is full."));
  for (const { letGo } of held.slice(1)) letGo();
  checkProblem(await first, "UNAVAILABLE");
  check(await second, { status: 200, headers: { ETag: '"3"' }, json: { id: made.id, n: 101 } });
});

test("a precondition counts against the change before it only if that is on disk", async (t) => {
  for (const isWritten of [true, false]) {
    const made = await service.create("counters", { n: 0 });
    const { held, end } = holdCommits(t);
    const reads = watchQueries(t);
    const first = addOne(made);
    await untilHeld(held, 1);
    const readBefore = reads.length;
    const second = addOne(made, { "If-Match": '"1"' });
    await until("the second change has read the resource", () => reads.length > readBefore);
    const third = addOne(made);
    await untilHeld(held, 2);
    end();
    if (isWritten) held[0]?.letGo();
    else held[0]?.fail(new Problem("UNAVAILABLE", "The disk is full."));
    for (const { letGo } of held.slice(1)) letGo();
    const [{ status }, conditional] = [await first, await second];
    check(await third, { status: 200 });
    assert.equal(status, isWritten ? 200 : 503);
    if (isWritten) checkProblem(conditional, "PRECONDITION_FAILED");
    const { n } = (await service.send({ path: made.path })).json as { n: number };
    assert.equal(n, conditional.status === 200 ? 2 : isWritten ? 2 : 1);
  }
});

test("a change that changes nothing is answered when the state that it found is on disk", async (t) => {
  const made = await service.create("counters", { title: "One" });
  const { held, end } = holdCommits(t);
  const put = () =>
    service.send(
      { method: "PUT", path: made.path, content: { id: made.id, title: "Two" } },
      { mayFail: true },
    );
  const reads = watchQueries(t);
  const first = put();
  await untilHeld(held, 1);
  const readBefore = reads.length;
  const same = put();
  await until("the second change has read the resource", () => reads.length > readBefore);
  const other = addOne(made);
  await untilHeld(held, 2);
  end();
  held[0]?.fail(new Problem("UNAVAILABLE", "The disk is full."));
  for (const { letGo } of held.slice(1)) letGo();
  checkProblem(await first, "UNAVAILABLE");
  check(await same, { status: 200 });
  check(await other, { status: 200 });
  const { title } = (await service.send({ path: made.path })).json as { title: string };
  assert.equal(title, "Two");
});

test("a refused value fails only its own change, and a delete and a batch lose nothing", async (t) => {
  await service.create("names", { name: "taken" });
  const made = await service.create("names", { name: "own", n: 0 });
  const { held, end } = holdCommits(t);
  const refused = service.send({ method: "PATCH", path: made.path, content: { name: "taken" } });
  await untilHeld(held, 1);
  const kept = addOne(made);
  await untilHeld(held, 2);
  const operations = [{ method: "PATCH", path: `/names/${made.id}`, body: { of: "batch" } }];
  const batch = service.send({ method: "POST", path: "/api/v1/_batch", content: { operations } });
  end();
  for (const { letGo } of held) letGo();
  checkProblem(await refused, "UNIQUE_VIOLATION");
  check(await kept, { status: 200 });
  check(await batch, { status: 200 });
  const json = { id: made.id, name: "own", n: 1, of: "batch" };
  check(await service.send({ path: made.path }), { status: 200, headers: { ETag: '"3"' }, json });
  check(await service.send({ method: "DELETE", path: made.path }), { status: 205 });
});

test("batches that change one resource share a flush, and each is decided from what the one before it makes", async (t) => {
  const made = await service.create("counters", { n: 0 });
  const { held } = holdCommits(t);
  const operations = [
    { method: "PATCH", path: `/counters/${made.id}`, headers: update, body: { n: { $increment: 1 } } },
    { method: "POST", path: "/counters", body: { of: "batch" } },
  ];
  const sent = Array.from({ length: writes }, () =>
    service.send({ method: "POST", path: "/api/v1/_batch", content: { operations } }),
  );
  const single = addOne(made);
  await untilHeld(held, writes + 1);
  for (const { letGo } of held) letGo();
  for (const answer of await Promise.all([...sent, single])) check(answer, { status: 200 });
  const json = { id: made.id, n: writes + 1 };
  check(await service.send({ path: made.path }), { status: 200, headers: { ETag: `"${writes + 2}"` }, json });
});

test("a batch that fails takes back what was decided after it", async (t) => {
  const made = await service.create("counters", { n: 0 });
  const { held, end } = holdCommits(t);
  const operations = [
    { method: "PATCH", path: `/counters/${made.id}`, headers: update, body: { n: { $increment: 10 } } },
  ];
  const batch = service.send(
    { method: "POST", path: "/api/v1/_batch", content: { operations } },
    { mayFail: true },
  );
  await untilHeld(held, 1);
  const others = Array.from({ length: 3 }, () => addOne(made));
  await untilHeld(held, 4);
  end();
  held[0]?.fail(new Problem("UNAVAILABLE", "The disk is full."));
  for (const { letGo } of held) letGo();
  checkProblem(await batch, "UNAVAILABLE");
  for (const answer of await Promise.all(others)) check(answer, { status: 200 });
  check(await service.send({ path: made.path }), { status: 200, json: { id: made.id, n: 3 } });
});

test("a batch that leaves a resource as it is does not count on a change that fails", async (t) => {
  const made = await service.create("counters", { n: 0 });
  const { held, end } = holdCommits(t);
  const first = addOne(made);
  await untilHeld(held, 1);
  const operations = [
    { method: "PATCH", path: `/counters/${made.id}`, headers: { "If-Match": '"2"' }, body: { n: 1 } },
    { method: "POST", path: "/counters", body: { of: made.id } },
  ];
  const batch = service.send(
    { method: "POST", path: "/api/v1/_batch", content: { operations } },
    { mayFail: true },
  );
  for (let turn = 0; turn < 20; turn++) await service.send({ path: made.path }); // the batch is decided meanwhile
  end();
  held[0]?.fail(new Problem("UNAVAILABLE", "The disk is full."));
  for (const { letGo } of held) letGo();
  checkProblem(await first, "UNAVAILABLE");
  checkProblem(await batch, "PRECONDITION_FAILED", { more: ["operation"] });
  check(await service.send({ path: `/api/v1/counters?of=${made.id}` }), { status: 200, json: [] });
});
