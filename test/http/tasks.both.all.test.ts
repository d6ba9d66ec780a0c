/** Changes of many resources as tasks, which work while others write. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { machineTime, nextMillisecond, until } from "../until.ts";
import { auth, type Caller, sendAs } from "./access/callers.ts";
import { refusesWithoutTlsAndTooOften } from "./administration/refusals.ts";
import { check } from "./check.ts";
import { type Answer, type Service, startFor, startServiceForFile } from "./service.ts";
import { holdCommits, watchCalls } from "./store-spy.ts";

const service = await startServiceForFile({
  openCollections: true,
  collections: {
    numbered: { id: "integer" },
    counted: {
      id: "integer",
      schema: { properties: { code: { type: "string", maxLength: 9 } } },
      unique: ["code"],
    },
    strict: {
      schema: {
        properties: {
          n: { type: "integer", maximum: 3 },
          code: { type: "string", maxLength: 99 },
          text: { type: "string" },
        },
      },
      unique: ["code"],
    },
    authors: {},
    books: { references: { author: { collection: "authors", onDelete: "restrict" } } },
    tree: { references: { parent: { collection: "tree", onDelete: "restrict" } } },
  },
});

const codes = {
  properties: { code: { type: "string", maxLength: 9 }, n: { type: "integer" }, text: { type: "string" } },
} as const;

const asTask = { Prefer: "respond-async" };

interface Task {
  id: string;
  kind: string;
  state: string;
  total: number;
  checked: number;
  done: number;
  changed: number;
  created: number;
  refused: number;
  firstRefused: { resource?: string; line?: number; code: string; detail: string }[];
  reason?: string;
  undoneBy?: string;
}

const send = (path: string, content?: unknown, headers: Record<string, string> = asTask): Promise<Answer> =>
  service.send({
    method: "POST",
    path: `/api/v1/${path}`,
    ...(content !== undefined && { content }),
    headers,
  });

const taskOf = (answer: Answer) => answer.json as Task;

const read = async (id: string, of: Service = service): Promise<Task> =>
  (await of.send({ path: `/api/v1/_tasks/${id}` })).json as Task;

/** The longest time between two looks at a task, in milliseconds. Looks take time from the task. */
const mostMs = 200;

/** The task after its end. Looks at it more and more seldom. */
async function ended(look: () => Promise<Task>): Promise<Task> {
  let task = await look();
  let at = performance.now();
  let pauseMs = 5;
  await until("the task ends", async () => {
    if (task.state !== "checking" && task.state !== "running") return true;
    if (performance.now() - at < pauseMs) return false;
    task = await look();
    at = performance.now();
    pauseMs = Math.min(mostMs, 2 * pauseMs);
    return false;
  });
  return task;
}

const finished = (id: string, of: Service = service) => ended(() => read(id, of));

/** Begins a task, and waits for its end. */
async function run(path: string, content?: unknown): Promise<Task> {
  const answer = await send(path, content);
  assert.equal(answer.status, 202, answer.text);
  return finished(taskOf(answer).id);
}

const get = (path: string) => service.send({ path: `/api/v1/${path}` });

async function fill(
  collection: string,
  count: number,
  more: (n: number) => object = () => ({}),
): Promise<string[]> {
  const operations = Array.from({ length: count }, (_, n) => ({
    method: "POST",
    path: `/${collection}`,
    body: { n, ...more(n) },
  }));
  for (let from = 0; from < count; from += 100) {
    const answer = await send("_batch", { operations: operations.slice(from, from + 100) }, {});
    assert.equal(answer.status, 200, answer.text);
  }
  const ids: string[] = [];
  for (let page = 0; ids.length < count; page++) {
    const answer = await get(`${collection}?limit=1000&offset=${page * 1000}&fields=id`);
    ids.push(...(answer.json as { id: string }[]).map(({ id }) => id));
  }
  return ids;
}

const listOf = async (collection: string) =>
  (await get(`${collection}?limit=1000`)).json as Record<string, unknown>[];

let number = 0;
const fresh = () => `things${++number}`;

describe("a bulk change as a task", () => {
  test("is accepted at once, and changes everything that matches", async () => {
    const things = fresh();
    await fill(things, 700);
    const answer = await send(`${things}/_bulk`, {
      filter: { n: { lt: 600 } },
      update: { n: { $increment: 1000 } },
      max: 1_000_000,
    });
    const { id } = taskOf(answer);
    check(answer, {
      status: 202,
      headers: { Location: `/api/v1/_tasks/${id}`, "Preference-Applied": "respond-async" },
    });
    const task = await finished(id);
    const { total, done, changed, refused, state, kind } = task;
    assert.deepEqual(
      { total, done, changed, refused, state, kind },
      { total: 600, done: 600, changed: 600, refused: 0, state: "done", kind: "update" },
    );
    const all = await listOf(things);
    assert.equal(all.filter((each) => Number(each.n) >= 1000).length, 600);
    assert.deepEqual(new Set(all.map((each) => Number(each.n) % 1000)).size, 700);
    const [one] = all.filter((each) => Number(each.n) >= 1000);
    const history = (await get(`${things}/${one?.id}/_changes`)).json as { version: number; task?: string }[];
    assert.deepEqual(
      history.map(({ version, task }) => ({ version, task })),
      [
        { version: 2, task: id },
        { version: 1, task: undefined },
      ],
    );
  });

  test("deletes, and a task that undoes it restores", async () => {
    const things = fresh();
    await fill(things, 120);
    const before = await listOf(things);
    const task = await run(`${things}/_bulk`, { all: true, delete: true, max: 120 });
    assert.equal(task.changed, 120);
    assert.deepEqual(await listOf(things), []);
    const undo = await run(`_tasks/${task.id}/_undo`);
    assert.deepEqual([undo.kind, undo.state, undo.changed, undo.refused], ["undo", "done", 120, 0]);
    assert.deepEqual(await listOf(things), before);
    assert.equal((await read(task.id)).undoneBy, undo.id);
    check(await send(`_tasks/${task.id}/_undo`), { status: 409, problem: "TASK_UNAVAILABLE" });
  });

  test("is undone once, even if many ask for it at the same moment", async () => {
    const things = fresh();
    await fill(things, 50);
    const task = await run(`${things}/_bulk`, { all: true, delete: true, max: 50 });
    const answers = await Promise.all([1, 2, 3, 4].map(() => send(`_tasks/${task.id}/_undo`)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [202, 409, 409, 409]);
  });

  test("takes back only what nobody has changed since", async () => {
    const things = fresh();
    const [first = ""] = await fill(things, 120);
    const task = await run(`${things}/_bulk`, { all: true, patch: { state: "new" }, max: 120 });
    const changed = await service.send({
      method: "PATCH",
      path: `/api/v1/${things}/${first}`,
      content: { mine: true },
      headers: { "Content-Type": "application/merge-patch+json" },
    });
    assert.equal(changed.status, 200);
    const undo = await run(`_tasks/${task.id}/_undo`);
    assert.deepEqual([undo.changed, undo.refused], [119, 1]);
    assert.deepEqual(
      undo.firstRefused.map(({ resource, code }) => ({ resource, code })),
      [{ resource: `/api/v1/${things}/${first}`, code: "PRECONDITION_FAILED" }],
    );
    const all = await listOf(things);
    assert.deepEqual(
      all.filter((each) => each.state === "new").map(({ id }) => id),
      [first],
    );
  });

  test("is refused as a whole if a resource does not fit", async () => {
    await fill("strict", 3);
    const task = await run("strict/_bulk", { all: true, update: { n: { $increment: 2 } }, max: 10 });
    assert.equal(task.state, "refused");
    assert.equal(task.refused, 1);
    assert.match(task.firstRefused[0]?.detail ?? "", /3/);
    assert.equal(task.firstRefused[0]?.code, "VALIDATION_FAILED");
    assert.equal(task.changed, 0);
    assert.deepEqual((await listOf("strict")).map(({ n }) => n).sort(), [0, 1, 2]);
  });

  test("is refused as a whole if more match than max", async () => {
    const things = fresh();
    await fill(things, 30);
    const task = await run(`${things}/_bulk`, { all: true, delete: true, max: 29 });
    assert.equal(task.state, "refused");
    assert.match(task.reason ?? "", /"max" is 29/);
    assert.equal((await listOf(things)).length, 30);
  });

  test("reports what the store refuses while it works, and does the rest", async () => {
    // So long that each has a slice of its own: each alone fits, and what they do to each other shows while the task works.
    const text = "x".repeat(300_000);
    for (const n of [3, 3]) await service.create("strict", { n, text });
    const task = await run("strict/_bulk", { filter: { n: 3 }, patch: { code: "same" }, max: 10 });
    assert.deepEqual([task.state, task.changed, task.refused], ["done", 1, 1]);
    assert.equal(task.firstRefused[0]?.code, "UNIQUE_VIOLATION");
  });

  test("with dryRun, checks everything and changes nothing", async () => {
    const things = fresh();
    await fill(things, 40);
    const task = await run(`${things}/_bulk`, { all: true, delete: true, max: 100, dryRun: true });
    assert.deepEqual(
      [task.state, task.total, task.checked, task.done, task.changed],
      ["done", 40, 40, 0, 40],
    );
    assert.equal((await listOf(things)).length, 40);
  });

  test("ends when it is cancelled", async () => {
    const things = fresh();
    await fill(things, 900);
    const { id } = taskOf(
      await send(`${things}/_bulk`, { all: true, update: { n: { $increment: 1 } }, max: 1000 }),
    );
    const cancelled = await service.send({ method: "DELETE", path: `/api/v1/_tasks/${id}` });
    check(cancelled, { status: 200 });
    assert.equal(taskOf(cancelled).state, "cancelled");
    const { changed } = await finished(id);
    const all = (await get(`${things}?n:gte=0&limit=1000`)).json as { n: number }[];
    // Each n is there once. A changed one is equal to the next one.
    const values = all.map(({ n }) => n).sort((one, other) => one - other);
    assert.equal(values.reduce((sum, n) => sum + n, 0) - (899 * 900) / 2, changed);
    const again = await service.send({ method: "DELETE", path: `/api/v1/_tasks/${id}` });
    assert.equal(taskOf(again).state, "cancelled");
  });

  test("goes on beside writers of the same resources, and loses no write", async () => {
    const things = fresh();
    const ids = await fill(things, 200);
    const { id } = taskOf(
      await send(`${things}/_bulk`, { all: true, update: { byTask: { $increment: 1 } }, max: 1000 }),
    );
    let writes = 0;
    const writers = [0, 1, 2, 3].map(async (writer) => {
      for (let n = 0; n < 50; n++) {
        const path = `/api/v1/${things}/${ids[(writer * 50 + n * 7) % ids.length]}`;
        const answer = await service.send({
          method: "PATCH",
          path,
          content: { byOthers: { $increment: 1 } },
          headers: { "Content-Type": "application/vnd.holdfast.update+json" },
        });
        assert.equal(answer.status, 200, answer.text);
        writes++;
      }
    });
    await Promise.all(writers);
    const task = await finished(id);
    assert.deepEqual([task.state, task.changed, task.refused], ["done", 200, 0]);
    const all = await listOf(things);
    assert.ok(all.every((each) => each.byTask === 1));
    assert.equal(
      all.reduce((sum, each) => sum + Number(each.byOthers ?? 0), 0),
      writes,
    );
  });

  test("takes effect once with an Idempotency-Key", async () => {
    const things = fresh();
    await fill(things, 10);
    const asked = () =>
      send(
        `${things}/_bulk`,
        { all: true, update: { n: { $increment: 1 } }, max: 10 },
        { ...asTask, "Idempotency-Key": `key-${things}` },
      );
    const [first, second] = [await asked(), await asked()];
    assert.equal(taskOf(first).id, taskOf(second).id);
    check(second, { status: 202, headers: { "Idempotent-Replayed": "true" } });
    await finished(taskOf(first).id);
    assert.deepEqual((await listOf(things)).map(({ n }) => n).sort(), [1, 10, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test("is in the list of tasks, the latest first", async () => {
    const things = fresh();
    await fill(things, 1);
    const one = await run(`${things}/_bulk`, { all: true, patch: { a: 1 }, max: 10 });
    const two = await run(`${things}/_bulk`, { all: true, patch: { a: 1 }, max: 10 });
    assert.deepEqual([two.done, two.changed], [1, 0]);
    const list = (await get("_tasks?limit=2")).json as Task[];
    assert.deepEqual(
      list.map(({ id }) => id),
      [two.id, one.id],
    );
    check(await get("_tasks/0193ad4c-7b1e-7c39-9f5e-2f6f3f1a9b10"), { status: 404 });
    check(await send(`_tasks/${two.id}/_undo`), { status: 409, problem: "TASK_UNAVAILABLE" });
  });

  test("needs a valid body, as without the preference", async () => {
    check(await send("numbered/_bulk", { all: true, delete: true }), {
      status: 400,
      problem: "INVALID_PARAMETER",
    });
    check(await send("numbered/_bulk", { all: true, delete: true, max: 2_000_001 }), {
      status: 400,
      problem: "INVALID_PARAMETER",
    });
  });
});

test("a task whose selection takes too long is refused, and others go on", async (t) => {
  const of = await startFor(t, { collections: { orders: {}, others: {} }, limits: { queryMs: 1_000 } });
  const lines = Array.from({ length: 15_000 }, (_, n) => ({ sku: `a${n}`, n }));
  for (let n = 0; n < 4; n++) await of.create("orders", { lines });
  await of.create("others", { n: 1 });
  const begin = async (collection: string, filter: object) => {
    const content = { filter, update: { n: { $set: 2 } }, max: 9 };
    const path = `/api/v1/${collection}/_bulk`;
    const answer = await of.send({ method: "POST", path, content, headers: asTask });
    assert.equal(answer.status, 202, answer.text);
    return taskOf(answer).id;
  };
  const or = Array.from({ length: 24 }, (_, n) => ({
    lines: { any: { sku: { containsi: `zz${n}` }, n: { gte: 0 } } },
  }));
  const slow = await begin("orders", { or });
  const quick = await begin("others", { n: 1 });
  for (const id of [slow, quick]) await finished(id, of);
  const { state, reason } = await read(slow, of);
  assert.equal(state, "refused");
  assert.match(reason ?? "", /takes longer than the service allows/);
  assert.equal((await read(quick, of)).changed, 1);
});

test("a task whose resources have become too slow for its filter fails", async (t) => {
  const of = await startFor(t, { collections: { orders: {}, others: {} }, limits: { queryMs: 1_000 } });
  const large = Array.from({ length: 15_000 }, (_, n) => ({ sku: `a${n}`, n }));
  const orders = await Promise.all(
    [1, 2, 3, 4].map(() => of.create("orders", { lines: [{ sku: "zz1", n: 1 }] })),
  );
  const or = Array.from({ length: 24 }, (_, n) => ({
    lines: { any: { sku: { containsi: `zz${n}` }, n: { gte: 0 } } },
  }));
  const content = { filter: { or }, update: { n: { $set: 2 } }, max: 9 };
  const { held, end } = holdCommits(t);
  const begun = of.send({ method: "POST", path: "/api/v1/orders/_bulk", content, headers: asTask });
  await until("the task is about to begin", () => held.length === 1);
  held[0]?.letGo();
  const { id } = taskOf(await begun);
  await until("the plan is about to be written", () => held.length === 2);
  const changes = orders.map(({ path }) => of.send({ method: "PATCH", path, content: { lines: large } }));
  await until("the changes are about to be written", () => held.length === 6);
  for (const each of held.slice(2)) each.letGo();
  for (const each of await Promise.all(changes)) check(each, { status: 200 });
  end();
  held[1]?.letGo();
  const { state, reason } = await finished(id, of);
  assert.equal(state, "failed");
  assert.match(reason ?? "", /take longer than the service allows/);
});

describe("in a service with auth, a task", () => {
  const open = startServiceForFile({
    auth: { ...auth, administrators: [{ role: "hr" }] },
    collections: {
      notes: {
        access: { read: "public", write: [{ where: { owner: "$subject" } }, { role: "editor" }] },
      },
      public: { access: { read: "public", write: "public" } },
    },
    seeds: {
      notes: [1, 2, 3, 4].map((n) => ({ id: `${n}`, owner: n < 3 ? "ada" : "bob", secret: n })),
      public: [{ id: "1" }],
    },
  });

  const as = async (who: Caller | undefined, path: string, content?: object, method = "POST") => {
    const request = { method, path: `/api/v1/${path}`, headers: asTask, ...(content && { content }) };
    return sendAs(await open, who, request);
  };

  const endedAs = (who: Caller, answer: Answer): Promise<Task> => {
    assert.equal(answer.status, 202, answer.text);
    const path = `_tasks/${taskOf(answer).id}`;
    return ended(async () => taskOf(await as(who, path, undefined, "GET")));
  };

  test("has the rights of its caller", async () => {
    const all = await endedAs("ada", await as("ada", "notes/_bulk", { all: true, patch: { a: 1 }, max: 9 }));
    assert.deepEqual([all.state, all.refused, all.changed], ["refused", 2, 0]);
    assert.deepEqual(new Set(all.firstRefused.map(({ code }) => code)), new Set(["INSUFFICIENT_SCOPE"]));
    const own = await endedAs(
      "ada",
      await as("ada", "notes/_bulk", { filter: { owner: "ada" }, patch: { a: 1 }, max: 9 }),
    );
    assert.deepEqual([own.state, own.changed], ["done", 2]);
  });

  test("is there for the caller who began it, and for administrators", async () => {
    const task = await endedAs("eve", await as("eve", "notes/_bulk", { all: true, patch: { b: 1 }, max: 9 }));
    const path = `_tasks/${task.id}`;
    for (const method of ["GET", "DELETE"]) {
      check(await as("bob", path, undefined, method), { status: 404 });
      check(await as(undefined, path, undefined, method), { status: 401, problem: "UNAUTHENTICATED" });
      check(await as("hans", path, undefined, method), {
        status: 200,
        headers: { "Cache-Control": "no-store" },
      });
    }
    check(await as("bob", `${path}/_undo`), { status: 404 });
    check(await as(undefined, `${path}/_undo`), { status: 401, problem: "UNAUTHENTICATED" });
    check(await as(undefined, "_tasks", undefined, "GET"), { status: 401, problem: "UNAUTHENTICATED" });
    const idsFor = async (who: Caller) =>
      ((await as(who, "_tasks", undefined, "GET")).json as Task[]).map(({ id }) => id);
    assert.deepEqual(await idsFor("bob"), []);
    assert.deepEqual(await idsFor("eve"), [task.id]);
    assert.ok((await idsFor("hans")).includes(task.id));
    const undone = await endedAs("hans", await as("hans", `${path}/_undo`));
    assert.equal(undone.refused, 4); // this administrator has no right to write here
    const history = (await as("eve", "notes/1/_changes", undefined, "GET")).json as {
      principal?: string;
      task?: string;
    }[];
    assert.deepEqual([history[0]?.principal, history[0]?.task], ["eve", task.id]);
  });

  test("does not begin without a caller to whom it could belong: the request is done at once", async () => {
    const answer = await as(undefined, "public/_bulk", { all: true, patch: { a: 1 }, max: 9 });
    assert.equal(answer.status, 200);
  });
});

describe("an import as a task", () => {
  const sendImport = (collection: string, lines: readonly object[], query = "") =>
    service.send({
      method: "POST",
      path: `/api/v1/${collection}/_import${query}`,
      headers: { ...asTask, "Content-Type": "application/x-ndjson" },
      body: lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
    });

  const imported = async (answer: Answer): Promise<Task> => {
    assert.equal(answer.status, 202, answer.text);
    return finished(taskOf(answer).id);
  };

  test("adds all resources with their ids, and an undo removes them", async () => {
    const things = fresh();
    const lines = Array.from({ length: 600 }, (_, n) => ({ id: `r${n}`, n }));
    const answer = await sendImport(things, [...lines, { n: 600 }]);
    const { report } = answer.json as { report: object };
    check(
      { ...answer, json: report },
      {
        status: 202,
        json: {
          dryRun: false,
          complete: true,
          resources: 601,
          invalid: 0,
          imported: 601,
          errors: [],
          generatedIds: { count: 1, first: [{ line: 601 }] },
          replacedIds: { count: 0, first: [] },
          stringIds: { count: 0, first: [] },
        },
      },
    );
    const task = await imported(answer);
    assert.deepEqual(
      [task.kind, task.state, task.total, task.changed, task.refused],
      ["import", "done", 601, 601, 0],
    );
    check(await get(`${things}/r599`), {
      status: 200,
      json: { id: "r599", n: 599 },
      headers: { ETag: '"1"' },
    });
    const undo = await run(`_tasks/${task.id}/_undo`);
    assert.deepEqual([undo.changed, undo.refused], [601, 0]);
    assert.deepEqual(await listOf(things), []);
    // The ids go on above their last versions.
    await imported(await sendImport(things, lines.slice(0, 1)));
    check(await get(`${things}/r0`), { status: 200, json: { id: "r0", n: 0 }, headers: { ETag: '"3"' } });
  });

  test("generates integers above those of the body", async () => {
    const task = await imported(await sendImport("numbered", [{ a: 1 }, { id: 40, a: 2 }, { a: 3 }]));
    assert.equal(task.changed, 3);
    const ids = (await listOf("numbered")).map(({ id }) => Number(id));
    assert.equal(Math.min(...ids), 40);
    assert.equal(new Set(ids).size, 3);
  });

  test("is refused at once for an invalid body, and as a whole for an id that exists", async () => {
    check(await sendImport("strict", [{ n: 9 }]), { status: 400, problem: "INVALID_IMPORT" });
    const things = fresh();
    await imported(await sendImport(things, [{ id: "a" }]));
    const task = await imported(await sendImport(things, [{ id: "b" }, { id: "a" }]));
    assert.deepEqual([task.state, task.refused, task.changed], ["refused", 1, 0]);
    assert.deepEqual(task.firstRefused, [
      { line: 2, code: "UNIQUE_VIOLATION", detail: 'The id "a" already exists.' },
    ]);
    assert.deepEqual(await listOf(things), [{ id: "a" }]);
  });

  test("with skipInvalid, adds the rest", async () => {
    const before = (await listOf("strict")).length;
    const task = await imported(
      await sendImport(
        "strict",
        [
          { id: "s1", n: 9 },
          { id: "s2", n: 1 },
          { id: "s2", n: 1 },
          { id: "s3", n: 2 },
        ],
        "?skipInvalid=true",
      ),
    );
    assert.deepEqual([task.state, task.changed, task.refused], ["done", 2, 2]);
    assert.deepEqual(
      task.firstRefused.map(({ line }) => line),
      [1, 3],
    );
    assert.equal((await listOf("strict")).length, before + 2);
  });

  test("with dryRun, only checks", async () => {
    const things = fresh();
    const task = await imported(await sendImport(things, [{ id: "a" }, { id: "b" }], "?dryRun=true"));
    assert.deepEqual([task.state, task.total, task.changed, task.created], ["done", 2, 2, 2]);
    assert.deepEqual(await listOf(things), []);
  });

  test("with dryRun, says what is wrong in the body and in the store", async () => {
    await imported(await sendImport("strict", [{ id: "d1", code: "d1" }]));
    const lines = [{ n: 9 }, { id: "d1" }, { id: "d2" }];
    const task = await imported(await sendImport("strict", lines, "?dryRun=true"));
    assert.deepEqual([task.state, task.refused], ["refused", 2]);
    assert.deepEqual(
      task.firstRefused.map(({ line, code }) => [line, code]),
      [
        [1, "maximum"],
        [2, "UNIQUE_VIOLATION"],
      ],
    );
    const rest = await imported(await sendImport("strict", lines, "?dryRun=true&skipInvalid=true"));
    assert.deepEqual([rest.state, rest.changed, rest.refused], ["done", 1, 2]);
    check(await get("strict/d2"), { status: 404 });
  });

  test("by a unique key, changes what has the key, and makes the rest", async () => {
    const before = await imported(
      await sendImport("strict", [
        { id: "k1", code: "k1", n: 1, text: "kept" },
        { id: "k2", code: "k2", n: 1 },
      ]),
    );
    assert.equal(before.created, 2);
    const lines = [
      { code: "k1", n: 2 },
      { code: "k2", n: 1 },
      { code: "k3", n: 3 },
    ];
    const dry = await imported(await sendImport("strict", lines, "?on=code&dryRun=true"));
    assert.deepEqual([dry.state, dry.changed, dry.created], ["done", 2, 1]);
    const task = await imported(await sendImport("strict", lines, "?on=code"));
    assert.deepEqual([task.state, task.done, task.changed, task.created], ["done", 3, 2, 1]);
    const inOrder = "strict?code:startsWith=k&sort=code";
    const all = (await get(inOrder)).json as { id: string }[];
    assert.deepEqual(all, [
      { id: "k1", code: "k1", n: 2, text: "kept" },
      { id: "k2", code: "k2", n: 1 },
      { id: all[2]?.id, code: "k3", n: 3 },
    ]);
    const undo = await run(`_tasks/${task.id}/_undo`);
    assert.deepEqual([undo.changed, undo.refused], [2, 0]);
    assert.deepEqual(
      ((await get(inOrder)).json as { n: number }[]).map(({ n }) => n),
      [1, 1],
    );
  });

  test("makes no collection if it is a dry run or refused", async () => {
    const [one, other] = [fresh(), fresh()];
    const dry = await imported(await sendImport(one, [{ n: 1 }], "?dryRun=true"));
    assert.deepEqual([dry.state, dry.changed], ["done", 1]);
    const twice = await imported(await sendImport(other, [{ id: "a" }, { id: "a" }]));
    assert.equal(twice.state, "refused");
    const { collections } = (await get("")).json as { collections: { name: string }[] };
    for (const each of [one, other]) assert.ok(collections.every(({ name }) => name !== each));
  });

  test("by a unique key, is refused for a repeated key, and for what does not fit after the change", async () => {
    const lines = [{ code: "r1" }, { code: "r2", n: 9 }, { code: "r1" }];
    const task = await imported(await sendImport("strict", lines, "?on=code"));
    assert.deepEqual([task.state, task.changed], ["refused", 0]);
    assert.deepEqual(task.firstRefused, [
      { line: 3, code: "unique", detail: "#/code repeats the value of an earlier resource of the input" },
      { line: 2, code: "VALIDATION_FAILED", detail: '"n" must be at most 3.' },
    ]);
  });

  test("by a unique key, generates integers", async () => {
    const things = fresh();
    check(await sendImport(things, [{ code: "x" }], "?on=code"), {
      status: 400,
      problem: "INVALID_PARAMETER",
    });
    const lines = Array.from({ length: 40 }, (_, n) => ({ code: `${n}` }));
    const task = await imported(await sendImport("counted", lines, "?on=code"));
    assert.deepEqual([task.state, task.created], ["done", 40]);
    const ids = (await listOf("counted")).map(({ id }) => id);
    assert.deepEqual(
      ids,
      Array.from({ length: 40 }, (_, n) => n + 1),
    );
  });
});

describe("a restore of many as a task", () => {
  test("brings back what was deleted, and an undo deletes it again", async () => {
    const things = fresh();
    await fill(things, 120);
    const before = await listOf(things);
    check(await send(`${things}/_bulk`, { all: true, delete: true, max: 200 }, {}), { status: 200 });
    const restore = `${things}/_deleted/_restore`;
    const selection = { filter: { n: { lt: 100 } }, max: 1_500 };
    check(await send(restore, selection, {}), { status: 400, problem: "INVALID_PARAMETER" });
    const dry = await run(restore, { ...selection, dryRun: true });
    assert.deepEqual([dry.kind, dry.state, dry.changed], ["restore", "done", 100]);
    assert.deepEqual(await listOf(things), []);
    const few = await run(restore, { ...selection, max: 99 });
    assert.deepEqual([few.state, few.changed], ["refused", 0]);
    const task = await run(restore, selection);
    assert.deepEqual([task.state, task.changed, task.created, task.refused], ["done", 100, 100, 0]);
    assert.deepEqual(
      await listOf(things),
      before.filter(({ n }) => (n as number) < 100),
    );
    const undo = await run(`_tasks/${task.id}/_undo`);
    assert.deepEqual([undo.changed, undo.refused], [100, 0]);
    assert.deepEqual(await listOf(things), []);
  });

  test("leaves what others have restored, and is refused for what does not fit", async () => {
    const one = { id: "gone", code: "taken" };
    await imported("strict", [one]);
    check(await send("strict/_bulk", { filter: { id: "gone" }, delete: true, max: 1 }, {}), { status: 200 });
    await imported("strict", [{ id: "other", code: "taken" }]);
    const task = await run("strict/_deleted/_restore", { filter: { id: "gone" }, max: 1 });
    assert.deepEqual([task.state, task.firstRefused[0]?.code], ["refused", "UNIQUE_VIOLATION"]);

    async function imported(collection: string, lines: readonly object[]): Promise<void> {
      const body = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
      const headers = { "Content-Type": "application/x-ndjson" };
      const answer = await service.send({
        method: "POST",
        path: `/api/v1/${collection}/_import`,
        headers,
        body,
      });
      check(answer, { status: 200 });
    }
  });
});

describe("resources that refer to each other", () => {
  test("are imported in any order, deleted as a whole, and brought back", async () => {
    // Each refers to one that is in a later slice, or in a later part.
    const lines = Array.from({ length: 300 }, (_, n) => ({
      id: `t${n}`,
      ...(n < 250 && { parent: `t${n + 50}` }),
    }));
    const body = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const headers = { ...asTask, "Content-Type": "application/x-ndjson" };
    const answer = await service.send({ method: "POST", path: "/api/v1/tree/_import", headers, body });
    assert.equal(answer.status, 202, answer.text);
    const imported = await finished(taskOf(answer).id);
    assert.deepEqual([imported.state, imported.changed, imported.firstRefused], ["done", 300, []]);
    const deleted = await run("tree/_bulk", { all: true, delete: true, max: 300 });
    assert.deepEqual([deleted.state, deleted.changed, deleted.firstRefused], ["done", 300, []]);
    const undo = await run(`_tasks/${deleted.id}/_undo`);
    assert.deepEqual([undo.state, undo.done, undo.changed, undo.firstRefused], ["done", 300, 300, []]);
    assert.equal(((await get("tree?aggregate=count")).json as { count: number }[])[0]?.count, 300);
  });

  test("are refused at once if others refer to what a task deletes", async () => {
    const author = await service.create("authors", {});
    await service.create("books", { author: author.id });
    const task = await run("authors/_bulk", { all: true, delete: true, max: 10 });
    assert.deepEqual([task.state, task.firstRefused.map(({ code }) => code)], ["refused", ["REFERENCED"]]);
  });
});

describe("a rewind as a task", () => {
  /** A time after everything until now, and before everything from now on. */
  const moment = async () => {
    const now = machineTime();
    for (let n = 0; n < 2; n++) await nextMillisecond();
    return now + 1;
  };

  test("goes back to a time, and an undo takes it back", async () => {
    const things = fresh();
    await fill(things, 150);
    const before = await listOf(things);
    const to = await moment();
    await run(`${things}/_bulk`, { filter: { n: { lt: 50 } }, delete: true, max: 50 });
    await run(`${things}/_bulk`, { all: true, patch: { changed: true }, max: 100 });
    await service.create(things, { n: 1_000 });
    const after = await listOf(things);
    const dry = await run("_rewind", { to, collections: [things], max: 200, dryRun: true });
    assert.deepEqual([dry.state, dry.total, dry.changed], ["done", 151, 151]);
    const few = await run("_rewind", { to, collections: [things], max: 150 });
    assert.deepEqual([few.state, few.total, few.changed], ["refused", 151, 0]);
    const task = await run("_rewind", { to, collections: [things], max: 200 });
    assert.deepEqual([task.kind, task.state, task.changed, task.refused], ["rewind", "done", 151, 0]);
    assert.deepEqual(await listOf(things), before);
    const undo = await run(`_tasks/${task.id}/_undo`);
    assert.deepEqual([undo.changed, undo.refused], [151, 0]);
    assert.deepEqual(await listOf(things), after);
  });

  test("is refused for a time before the history", async () => {
    const things = fresh();
    await fill(things, 1);
    const task = await run("_rewind", { to: "2020-01-01", collections: [things], max: 200 });
    assert.equal(task.state, "refused");
    assert.match(task.reason ?? "", /history/);
  });
});

test("a read-only service begins no task", async (t) => {
  const readOnly = await startFor(t, {
    readOnly: true,
    collections: { notes: {} },
    seeds: { notes: [{ id: "1" }] },
  });
  const content = { all: true, delete: true, max: 1 };
  const answer = await readOnly.send(
    { method: "POST", path: "/api/v1/notes/_bulk", headers: asTask, content },
    { mayFail: true },
  );
  check(answer, { status: 503, problem: "UNAVAILABLE" });
  check(await readOnly.send({ path: "/api/v1/_tasks" }), {
    status: 200,
    json: [],
    headers: { "Cache-Control": "no-store" },
  });
});

describe("the paths of tasks refuse", () => {
  const id = "0193ad4c-7b1e-7c39-9f5e-2f6f3f1a9b10";
  const requests = [
    ["GET", "_tasks"],
    ["GET", `_tasks/${id}`],
    ["DELETE", `_tasks/${id}`],
    ["POST", `_tasks/${id}/_undo`],
  ] as const;

  for (const [method, path] of requests)
    test(`unknown parameters and formats: ${method} ${path}`, async () => {
      const to = { method, path: `/api/v1/${path}` };
      check(await service.send({ ...to, path: `${to.path}?colour=red` }), {
        status: 400,
        problem: "INVALID_PARAMETER",
      });
      check(await service.send({ ...to, headers: { Accept: "text/plain" } }), {
        status: 406,
        problem: "NOT_ACCEPTABLE",
      });
      if (method !== "GET" || path !== "_tasks") check(await service.send(to), { status: 404 });
    });

  for (const [method, path] of requests)
    test(`what was not encrypted, and too many requests: ${method} ${path}`, (t) =>
      refusesWithoutTlsAndTooOften(t, { method, path: `/api/v1/${path}` }));

  test("a body, of any type and length", async () => {
    const path = `/api/v1/_tasks/${id}/_undo`;
    check(await service.send({ method: "POST", path, content: {} }), {
      status: 400,
      problem: "INVALID_PARAMETER",
    });
    const text = { "Content-Type": "text/plain" };
    check(await service.send({ method: "POST", path, headers: text, body: "a" }), {
      status: 415,
      problem: "UNSUPPORTED_MEDIA_TYPE",
    });
    const long = await service.send({ method: "POST", path, content: "x".repeat(1_100_000) });
    check(long, { status: 413, problem: "CONTENT_TOO_LARGE" });
  });
});

test("an import that is cancelled while its resources are stored is answered with its task, and adds nothing", async (t) => {
  const of = await startFor(t, { collections: { things: {} } });
  const { held, end } = holdCommits(t);
  const importing = of.send({
    method: "POST",
    path: "/api/v1/things/_import",
    headers: { ...asTask, "Content-Type": "application/x-ndjson" },
    body: '{"n":1}\n',
  });
  await until("the task is about to begin", () => held.length === 1);
  held[0]?.letGo();
  await until("a resource is about to be stored", () => held.length === 2);
  const [task] = (await of.send({ path: "/api/v1/_tasks" })).json as Task[];
  const cancelling = of.send({ method: "DELETE", path: `/api/v1/_tasks/${task?.id}` });
  await until("the task is about to be cancelled", () => held.length === 3);
  held[2]?.letGo();
  assert.equal(taskOf(await cancelling).state, "cancelled");
  end();
  for (const { letGo } of held) letGo();
  const answer = await importing;
  assert.deepEqual([answer.status, taskOf(answer).state], [202, "cancelled"], answer.text);
  assert.deepEqual((await of.send({ path: "/api/v1/things" })).json, []);
});

test("an import by a unique key changes a resource that another write makes during its slice", async (t) => {
  const of = await startFor(t, { collections: { things: { unique: ["code"], schema: codes } } });
  await of.create("things", {}); // the collection exists from now on
  const { held, end } = holdCommits(t);
  const path = "/api/v1/things";
  const importing = of.send({
    method: "POST",
    path: `${path}/_import?on=code&skipInvalid=true`,
    headers: { ...asTask, "Content-Type": "application/x-ndjson" },
    body: '{"code":"k","n":2}\n{"code":"m"}\n',
  });
  for (const n of [0, 1, 2]) {
    await until("the import is stored", () => held.length > n);
    held[n]?.letGo();
  }
  const { id } = taskOf(await importing);
  await until("its slice is about to be written", () => held.length === 4);
  const creating = of.send({ method: "POST", path, content: { code: "k", n: 1 } });
  await until("another resource with the key is about to be written", () => held.length === 5);
  held[4]?.letGo();
  const created = await creating;
  check(created, { status: 201 });
  end();
  held[3]?.letGo();
  const { state, changed, refused } = await finished(id, of);
  assert.deepEqual([state, changed, refused], ["done", 2, 0]);
  const at = { path: `${path}?code=k` };
  assert.deepEqual((await of.send(at)).json, [{ ...(created.json as object), n: 2 }]);
});

test("a task reads few of the resources that do not fit its slice", async (t) => {
  const of = await startFor(t, { collections: { things: { unique: ["code"], schema: codes } } });
  const post = async (path: string, sent: { content?: object; body?: string }, type = "application/json") => {
    const headers = { ...asTask, "Content-Type": type };
    const begun = await of.send({ method: "POST", path: `/api/v1/${path}`, headers, ...sent });
    assert.equal(begun.status, 202, begun.text);
    const { id } = taskOf(begun);
    const task = await finished(id, of);
    assert.equal(task.state, "done");
    return task;
  };
  const count = 15;
  const text = "x".repeat(300_000); // alone, more than a slice has
  for (let n = 0; n < count; n++) await of.create("things", { code: `${n}`, text });
  const calls = watchCalls(t);
  const timesEach = (name: string) => calls.filter((each) => each === `${name} things`).length / count;
  const body = Array.from({ length: count }, (_, n) => `{"code":"${n}","n":1}\n`).join("");
  assert.equal((await post("things/_import?on=code", { body }, "application/x-ndjson")).changed, count);
  assert.ok(timesEach("read") <= 4, `${timesEach("read")}`);
  const all = { all: true, max: count };
  await post("things/_bulk", { content: { ...all, delete: true } });
  calls.length = 0;
  assert.equal((await post("things/_deleted/_restore", { content: all })).changed, count);
  assert.ok(timesEach("version") <= 2, `${timesEach("version")}`);
});

test("an import by a unique key changes no resource before its last change, even if the clock was set back", async (t) => {
  let now = machineTime();
  const collections = { things: { unique: ["code"], timestamps: true, schema: codes } };
  const of = await startFor(t, { collections, now: () => now });
  const { path: own } = await of.create("things", { code: "k" });
  now += 120_000;
  const before = (await of.send({ method: "PATCH", path: own, content: { text: "a" } })).json as object;
  now -= 60_000;
  const path = "/api/v1/things/_import?on=code";
  const headers = { ...asTask, "Content-Type": "application/x-ndjson" };
  const { id } = taskOf(await of.send({ method: "POST", path, headers, body: '{"code":"k","n":1}\n' }));
  assert.equal((await finished(id, of)).state, "done");
  assert.deepEqual((await of.send({ path: "/api/v1/things" })).json, [{ ...before, n: 1 }]);
});
