/** Changing many resources with one request. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check, type Expected } from "./check.ts";
import { linkOf } from "./follow.ts";
import { type Answer, startServiceForFile } from "./service.ts";

const service = await startServiceForFile({
  openCollections: true,
  collections: {
    numbered: { id: "integer" },
    stamped: { timestamps: true },
    strict: {
      schema: {
        properties: { n: { type: "integer", maximum: 3 }, code: { type: "string", maxLength: 99 } },
      },
      unique: ["code"],
    },
    guarded: { requirePreconditions: true },
    authors: {},
    books: { references: { author: "authors", editor: { collection: "authors", onDelete: "cascade" } } },
  },
});

let number = 0;
/** The name of a new collection. */
const fresh = () => `things${++number}`;

const send = (collection: string, content: unknown, headers = {}): Promise<Answer> =>
  service.send({ method: "POST", path: `/api/v1/${collection}/_bulk`, content, headers });

/** Resources with these attributes, in their order. Returns the ids. */
async function fill(collection: string, ...all: readonly Record<string, unknown>[]): Promise<string[]> {
  const ids: string[] = [];
  for (const attributes of all) ids.push((await service.create(collection, attributes)).id);
  return ids;
}

const listOf = async (collection: string): Promise<Record<string, unknown>[]> =>
  (await service.send({ path: `/api/v1/${collection}?limit=1000` })).json as Record<string, unknown>[];

/** The list without its ids. */
const attributesOf = async (collection: string) =>
  (await listOf(collection)).map(({ id: _, ...rest }) => rest);

const three = [
  { status: "open", n: 1 },
  { status: "done", n: 2 },
  { status: "open", n: 3 },
];

describe("a bulk change", () => {
  test("patches what matches, each as a new version, and nothing else", async () => {
    const things = fresh();
    const [a, b, c] = await fill(things, ...three);
    const answer = await send(things, {
      filter: { status: "open" },
      patch: { status: "done", n: null },
      max: 2,
    });
    check(answer, {
      status: 200,
      headers: { "Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store" },
      json: { matched: 2, changed: 2, dryRun: false, ids: [a, c] },
    });
    assert.deepEqual(await attributesOf(things), [{ status: "done" }, three[1], { status: "done" }]);
    for (const [id, etag] of [
      [a, '"2"'],
      [b, '"1"'],
      [c, '"2"'],
    ])
      assert.equal((await service.send({ path: `/api/v1/${things}/${id}` })).headers.etag, etag);
  });

  test("updates with operators", async () => {
    const things = fresh();
    await fill(things, ...three);
    const update = { n: { $increment: 10 }, "seen.by": { $addUnique: ["ann"] } };
    const answer = await send(things, { filter: { n: { gte: 2 } }, update, max: 5 });
    assert.equal((answer.json as { changed: number }).changed, 2);
    assert.deepEqual(await attributesOf(things), [
      three[0],
      { status: "done", n: 12, seen: { by: ["ann"] } },
      { status: "open", n: 13, seen: { by: ["ann"] } },
    ]);
  });

  test("deletes", async () => {
    const things = fresh();
    const [, , c] = await fill(things, ...three);
    const answer = await send(things, { filter: { n: { in: [1, 2] } }, delete: true, max: 2 });
    assert.equal((answer.json as { changed: number }).changed, 2);
    assert.deepEqual(
      (await listOf(things)).map(({ id }) => id),
      [c],
    );
  });

  test('changes everything with "all"', async () => {
    const things = fresh();
    await fill(things, ...three);
    check(await send(things, { all: true, patch: { n: 0 }, max: 3 }), { status: 200 });
    assert.deepEqual(
      (await listOf(things)).map(({ n }) => n),
      [0, 0, 0],
    );
  });

  test("has ids as they are in resources", async () => {
    await fill("numbered", { n: 1 }, { n: 2 });
    const answer = await send("numbered", { all: true, patch: { n: 2 }, max: 2 });
    assert.deepEqual(answer.json, { matched: 2, changed: 1, dryRun: false, ids: [1] });
  });

  test("of nothing succeeds, and an unknown collection of open mode is empty", async () => {
    const nothing = { matched: 0, changed: 0, dryRun: false, ids: [] };
    const content = { filter: { x: 1 }, delete: true, max: 1 };
    check(await send(fresh(), content), { status: 200, json: nothing });
    const path = "/api/v1/Not%20a%20collection/_bulk";
    check(await service.send({ method: "POST", path, content }), { status: 404 });
  });

  test("is one commit: its events and changes have one group", async () => {
    const things = fresh();
    const [a] = await fill(things, ...three);
    const page = await service.send({ path: `/api/v1/${things}/_events?since=start` });
    await send(things, { all: true, patch: { n: 0 }, max: 3 });
    const events = (await service.send({ path: linkOf(page, "next") })).json as Record<string, unknown>[];
    assert.deepEqual(
      events.map(({ type, version }) => [type, version]),
      Array.from({ length: 3 }, () => [`${things}.updated`, "2"]),
    );
    assert.equal(new Set(events.map(({ group }) => group)).size, 1);
    const changes = (await service.send({ path: `/api/v1/${things}/${a}/_changes` })).json as {
      group?: string;
    }[];
    assert.deepEqual(
      changes.map(({ group }) => group !== undefined),
      [true, false],
    );
  });

  test("shows one time in resources with timestamps", async () => {
    await fill("stamped", { n: 1 }, { n: 2 });
    await send("stamped", { all: true, patch: { n: 0 }, max: 3 });
    const list = await listOf("stamped");
    assert.equal(new Set(list.map(({ updatedAt }) => updatedAt)).size, 1);
    assert.ok(list.every(({ createdAt, updatedAt }) => String(createdAt) <= String(updatedAt)));
  });

  test("follows references", async () => {
    const [ann, bob] = await fill("authors", { name: "Ann" }, { name: "Bob" });
    await fill("books", { editor: ann }, { author: bob });
    const refused = await send("authors", { all: true, delete: true, max: 9 });
    check(refused, { status: 409, problem: "REFERENCED", more: ["resource"] });
    assert.equal((refused.json as { resource: string }).resource, `/api/v1/authors/${bob}`);
    check(await send("authors", { filter: { name: "Ann" }, delete: true, max: 9 }), { status: 200 });
    assert.deepEqual(await attributesOf("books"), [{ author: bob }]);
  });
});

describe("a dry run", () => {
  test("says what would change, and changes nothing", async () => {
    const things = fresh();
    const [a, , c] = await fill(things, ...three);
    const list = await service.send({ path: `/api/v1/${things}` });
    const answer = await send(things, {
      filter: { status: "open" },
      patch: { status: "x" },
      max: 2,
      dryRun: true,
    });
    check(answer, { status: 200, json: { matched: 2, changed: 2, dryRun: true, ids: [a, c] } });
    const after = await service.send({ path: `/api/v1/${things}` });
    assert.deepEqual([after.text, after.headers.etag], [list.text, list.headers.etag]);
  });

  test("is refused for what the change would be refused for", async () => {
    await fill("strict", { n: 1, code: "a" }, { n: 2, code: "b" });
    const contents: [object, Expected["problem"]][] = [
      [{ patch: { n: 4 } }, "VALIDATION_FAILED"],
      [{ patch: { code: "c" } }, "UNIQUE_VIOLATION"],
      [{ update: { code: { $increment: 1 } } }, "INVALID_PATCH"],
      [{ patch: { id: "x" } }, "ID_MISMATCH"],
      [{ delete: true, max: 1 }, "TOO_MANY_MATCHES"],
    ];
    for (const [content, problem] of contents)
      for (const dryRun of [true, false]) {
        const answer = await send("strict", { all: true, max: 9, ...content, dryRun });
        check(answer, { status: answer.status, ...(problem && { problem }), more: ["resource", "matched"] });
      }
    assert.deepEqual(await attributesOf("strict"), [
      { n: 1, code: "a" },
      { n: 2, code: "b" },
    ]);
  });

  test("has no stored response: it can be repeated with its key", async () => {
    const things = fresh();
    await fill(things, ...three);
    const key = { "Idempotency-Key": "dry" };
    const content = { all: true, delete: true, max: 9, dryRun: true };
    assert.equal(((await send(things, content, key)).json as { matched: number }).matched, 3);
    await fill(things, { n: 4 });
    const again = await send(things, content, key);
    assert.deepEqual(
      [(again.json as { matched: number }).matched, again.headers["idempotent-replayed"]],
      [4, undefined],
    );
  });
});

describe("a bulk change is refused", () => {
  test("as a whole, with the number, if more resources match than it allows", async () => {
    const things = fresh();
    await fill(things, ...three);
    const answer = await send(things, { filter: { n: { gte: 1 } }, delete: true, max: 2 });
    check(answer, { status: 409, problem: "TOO_MANY_MATCHES", more: ["matched"] });
    assert.equal((answer.json as { matched: number }).matched, 3);
    assert.equal((await listOf(things)).length, 3);
  });

  test("with advice that works", async () => {
    const detailOf = async (things: string, content: object) => {
      const answer = await send(things, { delete: true, dryRun: true, ...content });
      return answer.status === 200 ? undefined : (answer.json as { detail: string }).detail;
    };
    const few = fresh();
    await fill(few, ...three);
    const advised = /Send "max":(\d+),/.exec(String(await detailOf(few, { all: true, max: 2 })))?.[1];
    assert.equal(await detailOf(few, { all: true, max: Number(advised) }), undefined);

    const many = fresh();
    await service.send({
      method: "POST",
      path: `/api/v1/${many}/_import`,
      headers: { "Content-Type": "application/x-ndjson" },
      body: Array.from({ length: 1_250 }, (_, n) => `{"id":"n${String(n).padStart(4, "0")}"}\n`).join(""),
    });
    for (const max of [1_000, 10]) {
      const detail = String(await detailOf(many, { all: true, max }));
      assert.match(detail, /^1250 resources match.* at most 1000\. Send several requests/);
      const filter = JSON.parse(
        `{${/such as ("id":\{.*\}), or one with the header "Prefer: respond-async", which makes a task of it\.$/.exec(detail)?.[1]}}`,
      );
      assert.equal(await detailOf(many, { filter, max }), undefined, detail);
    }
  });

  test("as a whole, with the resource, if one is refused", async () => {
    await fill("books", { n: 1 });
    const things = fresh();
    const [, b] = await fill(things, { n: 1 }, { n: "two" }, { n: 3 });
    const answer = await send(things, { all: true, update: { n: { $increment: 1 } }, max: 9 });
    check(answer, {
      status: 400,
      problem: "INVALID_PATCH",
      violations: [{ in: "body", pointer: "#/update/n/$increment" }],
      more: ["resource"],
    });
    const { resource, detail } = answer.json as { resource: string; detail: string };
    assert.equal(resource, `/api/v1/${things}/${b}`);
    assert.ok(detail.includes(resource), detail);
    assert.deepEqual(await attributesOf(things), [{ n: 1 }, { n: "two" }, { n: 3 }]);
  });

  for (const action of [{ update: { n: { $increment: 1 } } }, { patch: { n: 4 } }])
    test(`for a result of "${Object.keys(action)}" that does not fit the schema, with its place in the resource`, async () => {
      const { id, path } = await service.create("strict", { n: 3, code: `to ${Object.keys(action)}` });
      const answer = await send("strict", { filter: { id }, ...action, max: 1 });
      check(answer, {
        status: 400,
        problem: "VALIDATION_FAILED",
        violations: [{ in: "body", pointer: "#/n" }],
        more: ["resource"],
      });
      assert.equal((answer.json as { resource: string }).resource, path);
      await service.send({ method: "DELETE", path });
    });

  const contents: [what: string, content: unknown, pointer: string][] = [
    ["no filter", { delete: true, max: 1 }, "#/filter"],
    ["an empty filter", { filter: {}, delete: true, max: 1 }, "#/filter"],
    ["a filter that matches all", { filter: { and: [] }, delete: true, max: 1 }, "#/filter"],
    [
      "a filter that asks whether the id exists",
      { filter: { id: { exists: true } }, delete: true, max: 1 },
      "#/filter",
    ],
    ["a filter without values", { filter: { n: { nin: [] } }, delete: true, max: 1 }, "#/filter"],
    ["a filter that excludes nothing", { filter: { not: { or: [] } }, delete: true, max: 1 }, "#/filter"],
    ["a filter and all", { filter: { n: 1 }, all: true, delete: true, max: 1 }, "#/all"],
    ["all that is false", { all: false, delete: true, max: 1 }, "#/all"],
    ["an unknown operator", { filter: { n: { between: 1 } }, delete: true, max: 1 }, "#/filter/n/between"],
    ["no action", { all: true, max: 1 }, "#/patch"],
    ["two actions", { all: true, patch: {}, delete: true, max: 1 }, "#/delete"],
    ["a patch and an update", { all: true, patch: {}, update: {}, max: 1 }, "#/update"],
    ["a JSON Patch", { all: true, patch: [], max: 1 }, "#/patch"],
    ["a delete of false", { all: true, delete: false, max: 1 }, "#/delete"],
    ["no max", { all: true, delete: true }, "#/max"],
    ["a max of 0", { all: true, delete: true, max: 0 }, "#/max"],
    ["a max of 1,001", { all: true, delete: true, max: 1_001 }, "#/max"],
    ["a max that is a text", { all: true, delete: true, max: "5" }, "#/max"],
    ["a dryRun that is a text", { all: true, delete: true, max: 1, dryRun: "yes" }, "#/dryRun"],
    ["an unknown member", { all: true, delete: true, max: 1, dryrun: true }, "#/dryrun"],
  ];
  for (const [what, content, pointer] of contents)
    test(`for ${what}`, async () => {
      const things = fresh();
      await fill(things, { n: 1 });
      const answer = await send(things, content);
      check(answer, { status: 400, problem: "INVALID_PARAMETER", violations: [{ in: "body", pointer }] });
      assert.equal((await listOf(things)).length, 1);
    });

  test("for an update that is malformed, with its place in the body", async () => {
    const answer = await send(fresh(), { all: true, update: { n: 1 }, max: 1 });
    check(answer, {
      status: 400,
      problem: "INVALID_PATCH",
      violations: [{ in: "body", pointer: "#/update/n" }],
    });
  });

  test("for a patch that is too long for many resources", async () => {
    const answer = await send(fresh(), { all: true, patch: { a: "x".repeat(65_536) }, max: 1 });
    check(answer, { status: 413, problem: "CONTENT_TOO_LARGE" });
  });

  test("for content that is no object, a wrong type or a parameter", async () => {
    check(await send(fresh(), []), { status: 400, problem: "BODY_NOT_OBJECT" });
    const path = `/api/v1/${fresh()}/_bulk`;
    check(await service.send({ method: "POST", path }), { status: 400, problem: "BODY_REQUIRED" });
    const headers = { "Content-Type": "application/merge-patch+json" };
    check(await service.send({ method: "POST", path, headers, body: "{}" }), {
      status: 415,
      headers: { Accept: "application/json" },
      problem: "UNSUPPORTED_MEDIA_TYPE",
    });
    const content = { all: true, delete: true, max: 1 };
    const answer = await service.send({ method: "POST", path: `${path}?n=1`, content });
    check(answer, { status: 400, problem: "INVALID_PARAMETER" });
  });

  test("with a precondition, because it names one state", async () => {
    for (const name of ["If-Match", "If-None-Match", "If-Unmodified-Since"]) {
      const answer = await send(fresh(), { all: true, delete: true, max: 1 }, { [name]: '"1"' });
      check(answer, { status: 400, problem: "INVALID_PARAMETER", violations: [{ in: "header", name }] });
    }
  });

  test("where preconditions are required", async () => {
    await fill("guarded", { n: 1 });
    const answer = await send("guarded", { all: true, delete: true, max: 1 });
    check(answer, { status: 428, problem: "PRECONDITION_REQUIRED" });
    assert.match((answer.json as { detail: string }).detail, /_batch/);
    assert.equal((await listOf("guarded")).length, 1);
  });

  test("with other methods, and inside of a batch", async () => {
    const path = `/api/v1/${fresh()}/_bulk`;
    for (const method of ["GET", "PUT", "PATCH", "DELETE"])
      check(await service.send({ method, path }), { status: 405, headers: { Allow: "POST, OPTIONS" } });
    check(await service.send({ method: "OPTIONS", path }), {
      status: 204,
      headers: { Allow: "POST, OPTIONS", "Accept-Post": "application/json" },
    });
    const operations = [{ method: "POST", path: "/things/_bulk", body: {} }];
    const answer = await service.send({ method: "POST", path: "/api/v1/_batch", content: { operations } });
    check(answer, { status: 400, problem: "OPERATION_NOT_FOUND", more: ["operation"] });
  });
});

describe("a retry of a bulk change", () => {
  test("with the same Idempotency-Key has no second effect", async () => {
    const things = fresh();
    await fill(things, ...three);
    const content = { all: true, update: { n: { $increment: 1 } }, max: 9 };
    const key = { "Idempotency-Key": "bulk" };
    const first = await send(things, content, key);
    const second = await send(things, content, key);
    assert.deepEqual([second.text, second.headers["idempotent-replayed"]], [first.text, "true"]);
    assert.deepEqual(
      (await listOf(things)).map(({ n }) => n),
      [2, 3, 4],
    );
  });
});

describe("bulk changes and other writes at the same time", () => {
  test("lose nothing: each counts once", async () => {
    const things = fresh();
    const ids = await fill(things, ...Array.from({ length: 20 }, () => ({ n: 0 })));
    const headers = { "Content-Type": "application/vnd.holdfast.update+json" };
    const content = { n: { $increment: 1 } };
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, () => send(things, { all: true, update: content, max: 20 })),
      ...ids.flatMap((id) =>
        Array.from({ length: 5 }, () =>
          service.send({ method: "PATCH", path: `/api/v1/${things}/${id}`, headers, content }),
        ),
      ),
    ]);
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.deepEqual(
      (await listOf(things)).map(({ n }) => n),
      ids.map(() => 15),
    );
  });

  test("what no longer matches when it is written is left alone", async () => {
    const things = fresh();
    await fill(things, ...Array.from({ length: 10 }, () => ({ owner: null })));
    const claims = ["ann", "bob", "eve", "kim"].map((owner) =>
      send(things, { filter: { owner: null }, patch: { owner }, max: 10 }),
    );
    const changed = (await Promise.all(claims)).map(({ json }) => (json as { changed: number }).changed);
    assert.deepEqual(changed.sort(), [0, 0, 0, 10]);
    assert.equal(new Set((await listOf(things)).map(({ owner }) => owner)).size, 1);
  });
});

test("a response in another format is refused, and so is a key of another request", async () => {
  const things = fresh();
  await service.create(things, { n: 1 });
  const change = { all: true, patch: { n: 2 }, max: 10 };
  check(await send(things, change, { Accept: "image/png" }), { status: 406, problem: "NOT_ACCEPTABLE" });
  const key = { "Idempotency-Key": `"bulk of ${things}"` };
  check(await send(things, change, key), { status: 200 });
  const other = await send(things, { ...change, patch: { n: 3 } }, key);
  check(other, { status: 422, problem: "IDEMPOTENCY_KEY_REUSED" });
});
