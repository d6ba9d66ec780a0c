/** Writes by a unique key, and tasks, where resources have expired but are not deleted yet. */
import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { until } from "../until.ts";
import { check } from "./check.ts";
import { type Answer, startServiceForFile } from "./service.ts";
import { createSweepClock } from "./sweep-clock.ts";

const minute = 60_000;
let now = Date.parse("2026-03-01T12:00:00.000Z");
const { clock, sweep } = createSweepClock(() => now);
const text = { type: "string", maxLength: 100 } as const;
const schema = {
  type: "object",
  properties: {
    code: text,
    name: text,
    n: { type: "integer" },
    sessionId: text,
    expiresAt: { type: "string", format: "date-time" },
  },
  additionalProperties: false,
} as const;
const service = await startServiceForFile({
  now: () => now,
  sweepClock: clock,
  collections: {
    sessions: { schema, unique: ["code"], expires: "expiresAt" },
    notes: { schema, references: { sessionId: { collection: "sessions", onDelete: "clear" } } },
    loans: { schema, references: { sessionId: { collection: "sessions", onDelete: "restrict" } } },
  },
});
const at = (ms: number) => new Date(now + ms).toISOString();
const patchType = { "content-type": "application/merge-patch+json" };
const request = (method: string, path: string, content?: unknown, headers: Record<string, string> = {}) =>
  service.send({ method, path: `/api/v1/${path}`, ...(content !== undefined && { content }), headers });
const load = (path: string, body: object, headers: Record<string, string> = {}) =>
  service.send({
    method: "POST",
    path: `/api/v1/${path}`,
    body: `${JSON.stringify(body)}\n`,
    headers: { "Content-Type": "application/x-ndjson", ...headers },
  });
const read = async (path: string) => (await request("GET", path)).json;
let number = 0;
const fresh = () => `code${++number}`;

/** A resource that has just expired. */
async function expired(more: object = {}): Promise<{ code: string; id: string }> {
  const code = fresh();
  const { id } = await service.create("sessions", { code, name: "old", expiresAt: at(minute), ...more });
  now += minute;
  return { code, id };
}

const asTask = { Prefer: "respond-async" };

/** Waits for the end of a task. */
async function finished(begun: Promise<Answer>) {
  const answer = await begun;
  assert.equal(answer.status, 202, answer.text);
  let task = answer.json as Record<string, unknown>;
  await until("the task ends", async () => {
    task = (await read(`_tasks/${task.id}`)) as typeof task;
    return task.state !== "checking" && task.state !== "running";
  });
  return task;
}

beforeEach(async () => {
  now += 24 * 60 * minute;
  await sweep();
});

describe("a write by the unique key of an expired resource", () => {
  test("finds nothing with PATCH and DELETE, and a PUT creates", async () => {
    const { code, id } = await expired();
    const path = `sessions?code=${code}`;
    check(await request("PATCH", path, { name: "x" }, patchType), { status: 404 });
    check(await request("DELETE", path), { status: 404 });
    check(await request("PUT", path, { code }, { "If-Match": "*" }), {
      status: 412,
      problem: "PRECONDITION_FAILED",
    });
    const made = await request("PUT", path, { code, name: "new" }, { "If-None-Match": "*" });
    check(made, { status: 201, headers: { ETag: '"1"' } });
    assert.notEqual((made.json as { id: string }).id, id);
    const changed = await request("PUT", path, { code, name: "newer" });
    check(changed, { status: 200, headers: { ETag: '"2"' } });
  });

  const batch = (...operations: object[]) => request("POST", "_batch", { operations });
  const resultsOf = ({ json }: Answer) => (json as { results: { status: number }[] }).results;

  test("does so in a batch", async () => {
    const { code, id } = await expired();
    const path = `/sessions?code=${code}`;
    for (const method of ["PATCH", "DELETE"])
      check(await batch({ method, path, ...(method === "PATCH" && { body: { name: "x" } }) }), {
        status: 400,
        problem: "OPERATION_NOT_FOUND",
        more: ["operation"],
      });
    const answer = await batch(
      { method: "PUT", path, body: { code, name: "a" } },
      { method: "PUT", path, body: { code, name: "b" } },
    );
    check(answer, { status: 200 });
    assert.deepEqual(
      resultsOf(answer).map(({ status }) => status),
      [201, 200],
    );
    const [only, ...others] = (await read(path.slice(1))) as { id: string; name: string }[];
    assert.equal(only?.name, "b");
    assert.notEqual(only?.id, id);
    assert.deepEqual(others, []);
  });

  test("is a part of its batch", async () => {
    const { code } = await expired();
    const path = `/sessions?code=${code}`;
    const answer = await batch(
      { method: "PUT", path, body: { code } },
      { method: "POST", path: "/sessions", body: { n: "no integer" } },
    );
    check(answer, { status: 400, problem: "VALIDATION_FAILED", more: ["operation"] });
    assert.deepEqual(await read(path.slice(1)), []);
  });

  test("does so in a batch that has made the resource with an earlier time", async () => {
    const code = fresh();
    const path = `/sessions?code=${code}`;
    const over = { code, expiresAt: at(-minute) };
    const answer = await batch(
      { method: "PUT", path, body: over },
      { method: "PUT", path, body: { code, name: "b" } },
    );
    check(answer, { status: 200 });
    assert.deepEqual(
      resultsOf(answer).map(({ status }) => status),
      [201, 201],
    );
    assert.deepEqual(
      ((await read(path.slice(1))) as { name: string }[]).map(({ name }) => name),
      ["b"],
    );
  });

  test("does so in an import", async () => {
    const { code, id } = await expired();
    check(await load("sessions/_import?on=code", { code, n: 2 }), { status: 200 });
    const [only] = (await read(`sessions?code=${code}`)) as Record<string, unknown>[];
    assert.notEqual(only?.id, id);
    assert.deepEqual(only, { id: only?.id, code, n: 2 });
  });
});

describe("an import", () => {
  test("of two resources with one key, of which one has expired, keeps the other one, in any order", async () => {
    for (const isFirst of [true, false]) {
      const code = fresh();
      const over = { code, name: "over", expiresAt: at(-minute) };
      const live = { code, name: "live" };
      const lines = (isFirst ? [over, live] : [live, over]).map((each) => JSON.stringify(each)).join("\n");
      const send = (query: string) =>
        service.send({
          method: "POST",
          path: `/api/v1/sessions/_import${query}`,
          headers: { "Content-Type": "application/x-ndjson" },
          body: lines,
        });
      for (const query of ["?dryRun=true", ""]) {
        const answer = await send(query);
        check(answer, { status: 200 });
        assert.equal((answer.json as { imported: number }).imported, 2);
      }
      const found = (await read(`sessions?code=${code}`)) as { name: string }[];
      assert.deepEqual(
        found.map(({ name }) => name),
        ["live"],
      );
    }
  });
});

test("an import by key that ends a resource leaves its references to the sweep", async () => {
  const code = fresh();
  const { id } = await service.create("sessions", { code });
  const note = await service.create("notes", { sessionId: id, name: "n" });
  check(await load("sessions/_import?on=code", { code, expiresAt: at(-minute) }), { status: 200 });
  assert.equal((await request("GET", `sessions/${id}`)).status, 404);
  await sweep();
  assert.equal(((await read(note.path.slice(8))) as { sessionId?: string }).sessionId, undefined);
});

describe("a batch that ends a resource", () => {
  const batch = (...operations: object[]) => request("POST", "_batch", { operations });
  const end = (id: string) => ({ method: "PATCH", path: `/sessions/${id}`, body: { expiresAt: at(-1) } });

  test("frees its unique value and its id for later operations, and what refers to it follows", async () => {
    const code = fresh();
    const { id } = await service.create("sessions", { code, name: "old", expiresAt: at(minute) });
    const note = await service.create("notes", { sessionId: id, name: "n" });
    const answer = await batch(
      end(id),
      { method: "POST", path: "/sessions", body: { code, name: "new" } },
      {
        method: "PUT",
        path: `/sessions/${id}`,
        headers: { "If-None-Match": "*" },
        body: { id, name: "again" },
      },
      { method: "PATCH", path: `/sessions/${id}`, body: { n: 77 } },
    );
    check(answer, { status: 200 });
    const results = (answer.json as { results: { status: number; headers: Record<string, string> }[] })
      .results;
    assert.deepEqual(
      results.map(({ status, headers }) => [status, headers.ETag]),
      [
        [200, '"2"'],
        [201, '"1"'],
        [201, '"4"'],
        [200, '"4"'],
      ],
    );
    assert.deepEqual(await read(`sessions/${id}`), { id, name: "again", n: 77 });
    assert.deepEqual(
      ((await read(`sessions?code=${code}`)) as { name: string }[]).map(({ name }) => name),
      ["new"],
    );
    assert.equal(((await read(note.path.slice(8))) as { sessionId?: string }).sessionId, undefined);
    const changes = await service.send({ path: `/api/v1/sessions/${id}/_changes` });
    assert.equal(changes.status, 200, changes.text);
    assert.match(changes.text, /"system:expiry"/);
    await sweep();
    assert.deepEqual(await read(`sessions/${id}`), { id, name: "again", n: 77 });
  });

  test("finds it no more, and deletes it at once", async () => {
    const { id } = await service.create("sessions", { code: fresh() });
    const again = { method: "PATCH", path: `/sessions/${id}`, body: { name: "x" } };
    check(await batch(end(id), again), { status: 400, problem: "OPERATION_NOT_FOUND", more: ["operation"] });
    assert.equal((await request("GET", `sessions/${id}`)).status, 200, "nothing has happened");
    check(await batch(end(id)), { status: 200 });
    assert.equal((await request("GET", `sessions/${id}`)).status, 404);
  });

  test("has the effects of its operations in their order", async () => {
    const [a, b] = [fresh(), fresh()];
    const make = (body: object) => ({ method: "POST", path: "/sessions", body });
    const over = { expiresAt: at(-1) };
    const first = await service.create("sessions", { code: a });
    const second = await service.create("sessions", { code: b });
    const own = (id: string, body: object) => ({ method: "PATCH", path: `/sessions/${id}`, body });
    const note = await service.create("notes", { name: "n" });
    const free = { method: "PATCH", path: note.path.slice(7), body: { sessionId: null } };
    for (const operations of [
      [own(first.id, { code: fresh() }), make({ code: a, ...over }), make({ code: a })],
      [
        { method: "DELETE", path: `/sessions/${second.id}` },
        own(first.id, { code: b, ...over }),
        make({ code: b }),
      ],
    ])
      check(await batch(...operations), { status: 200 });
    const code = fresh();
    const { id } = await service.create("sessions", { code });
    const named = { method: "POST", path: "/notes", body: { sessionId: id, name: "x" }, as: "x" };
    const all = await batch(
      named,
      { ...free, body: { sessionId: id } },
      free,
      own(id, over),
      make({ code, ...over }),
      make({ code, name: "last" }),
      { method: "POST", path: "/sessions", body: { name: "gone" }, as: "gone" },
      { method: "DELETE", path: "/sessions/$gone" },
      own((await service.create("sessions", {})).id, over),
    );
    check(all, { status: 200 });
    const found = (await read(`sessions?code=${code}`)) as { name: string }[];
    assert.deepEqual(
      found.map(({ name }) => name),
      ["last"],
    );
    assert.deepEqual(await read(`notes?name=x&fields=sessionId&sort=-id&limit=1`), [
      { id: ((await read("notes?name=x&sort=-id&limit=1")) as { id: string }[])[0]?.id },
    ]);
  });

  test("frees the values of what has expired before, too", async () => {
    const { code } = await expired();
    const made = { method: "POST", path: "/sessions", body: { code, expiresAt: at(-1) } };
    check(await batch(made, { method: "POST", path: "/sessions", body: { code } }), { status: 200 });
    assert.equal(((await read(`sessions?code=${code}`)) as object[]).length, 1);
  });

  test("can end a resource that it has made again", async () => {
    const { id } = await service.create("sessions", { name: "1" });
    const make = {
      method: "PUT",
      path: `/sessions/${id}`,
      headers: { "If-None-Match": "*" },
      body: { id, name: "2" },
    };
    check(await batch(end(id), make, end(id), make), { status: 200 });
    check(await request("GET", `sessions/${id}`), { status: 200, headers: { ETag: '"6"' } });
  });

  test("is refused as a whole if what it ends cannot be deleted, or if it changes what that delete changes", async () => {
    const [lent, free] = [await service.create("sessions", {}), await service.create("sessions", {})];
    await service.create("loans", { sessionId: lent.id });
    const note = await service.create("notes", { sessionId: free.id, name: "n" });
    const refused = await batch({ method: "POST", path: "/sessions", body: { name: "x" } }, end(lent.id));
    check(refused, { status: 409, problem: "REFERENCED", more: ["operation"] });
    assert.equal((refused.json as { operation: number }).operation, 1);
    const own = { method: "PATCH", path: note.path.slice(7), body: { name: "m" } };
    const both = await batch(end(free.id), own);
    check(both, { status: 409, problem: "REFERENCED", more: ["operation"] });
    for (const { id } of [lent, free]) assert.equal((await request("GET", `sessions/${id}`)).status, 200);
  });
});

describe("a task", () => {
  test("leaves out what has expired, and frees its unique values", async () => {
    const { code, id } = await expired({ n: 1 });
    const live = await service.create("sessions", { code: fresh(), n: 1 });
    const update = { filter: { n: 1 }, max: 1000 };
    const taken = await finished(
      request("POST", "sessions/_bulk", { ...update, update: { code: { $set: code } } }, asTask),
    );
    assert.deepEqual({ ...taken, total: 1, changed: 1, refused: 0, state: "done" }, taken);
    assert.equal(((await read(live.path.slice(8))) as { code: string }).code, code);
    assert.equal((await request("GET", `sessions/${id}`)).status, 404);
    now += minute;
    const gone = await finished(
      request("POST", "sessions/_bulk", { filter: { n: 1 }, delete: true, max: 1000 }, asTask),
    );
    assert.deepEqual({ ...gone, total: 1, changed: 1, state: "done" }, gone);
  });

  test("imports with the ids and unique values of what has expired", async () => {
    const { code, id } = await expired();
    const task = await finished(load("sessions/_import", { id, code }, asTask));
    assert.deepEqual({ ...task, changed: 1, refused: 0, state: "done" }, task);
    check(await request("GET", `sessions/${id}`), {
      status: 200,
      headers: { ETag: '"3"' },
      json: { id, code },
    });
  });

  test("refuses references to what has expired", async () => {
    const { id } = await expired();
    const task = await finished(load("notes/_import", { sessionId: id }, asTask));
    assert.equal(task.state, "refused");
    assert.deepEqual(
      (task.firstRefused as { code: string }[]).map((each) => each.code),
      ["REFERENCE_NOT_FOUND"],
    );
  });

  test("rewinds what has expired", async () => {
    const before = new Date(now).toISOString();
    now += 1000;
    const { code, id } = await expired();
    const { path } = await service.create("sessions", { code: fresh() });
    const task = await finished(
      request("POST", "_rewind", { to: before, max: 100, collections: ["sessions"] }, asTask),
    );
    assert.equal(task.state, "done", JSON.stringify(task));
    assert.equal((await request("GET", path.slice(8))).status, 404);
    assert.deepEqual(await read(`sessions?code=${code}`), []);
    assert.equal((await request("GET", `sessions/${id}`)).status, 404);
  });
});
