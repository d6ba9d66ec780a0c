/** Batches over real sockets: what each sentence of their reference promises. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Answer, startFor, startServiceForFile } from "./service.ts";

const path = "/api/v1/_batch";

interface Result {
  status: number;
  headers: Record<string, string>;
  body?: Record<string, unknown>;
}

interface Refusal {
  code: string;
  operation?: number;
  detail: string;
  violations?: { pointer?: string; name?: string; code: string; detail: string }[];
}

const service = await startServiceForFile({
  openCollections: true,
  collections: {
    topics: {
      schema: {
        type: "object",
        required: ["title"],
        properties: { title: { type: "string" }, board: {}, n: { type: "number" } },
      },
    },
    boards: { id: "integer", schema: { type: "object", properties: { name: { type: "string" } } } },
    uuids: { id: "integer" },
  },
});

function sendBatch(operations: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return service.send({ method: "POST", path, headers, content: { operations } });
}

async function succeed(operations: unknown): Promise<Result[]> {
  const answer = await sendBatch(operations);
  assert.equal(answer.status, 200, answer.text);
  return (answer.json as { results: Result[] }).results;
}

async function refused(operations: unknown): Promise<Refusal & { answer: Answer }> {
  const answer = await sendBatch(operations);
  assert.ok(answer.status >= 400, answer.text);
  return { ...(answer.json as Refusal), answer };
}

async function etagOf(target: string): Promise<string | undefined> {
  return (await service.send({ path: target })).headers.etag;
}

describe("a batch", () => {
  test("carries out every kind of operation, and answers each as if it had come alone", async () => {
    const old = await service.create("topics", { title: "old" });
    const gone = await service.create("topics", { title: "gone" });
    const at = (made: { id: string }) => `/topics/${made.id}`;
    const answer = await sendBatch([
      { method: "POST", path: "/topics", body: { title: "new" } },
      { method: "PUT", path: at(old), body: { id: old.id, title: "replaced" } },
      { method: "PATCH", path: at(old), body: { n: 1 } },
      {
        method: "PATCH",
        path: at(old),
        headers: { "Content-Type": "application/json-patch+json" },
        body: [{ op: "replace", path: "/n", value: 2 }],
      },
      { method: "DELETE", path: at(gone) },
    ]);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers["content-type"], "application/json; charset=utf-8");
    assert.equal(answer.headers["cache-control"], "no-store");
    const { results } = answer.json as { results: Result[] };
    assert.deepEqual(
      results.map(({ status }) => status),
      [201, 200, 200, 200, 205],
    );
    const [created, , , patched, deleted] = results;
    const made = `/api/v1/topics/${created?.body?.id}`;
    assert.deepEqual(created?.headers, { ETag: '"1"', "Content-Location": made, Location: made });
    assert.deepEqual(patched?.body, { id: old.id, title: "replaced", n: 2 });
    assert.deepEqual(deleted, { status: 205, headers: {} });
    assert.deepEqual((await service.send({ path: made })).json, created?.body);
    assert.deepEqual((await service.send({ path: old.path })).json, patched?.body);
    assert.equal((await service.send({ path: gone.path })).status, 404);
  });

  test("raises the version of a resource by one, however often it changes it", async () => {
    const made = await service.create("topics", { title: "a" });
    const change = (title: string) => ({ method: "PATCH", path: `/topics/${made.id}`, body: { title } });
    const results = await succeed([change("b"), change("c"), change("d")]);
    assert.deepEqual(
      results.map(({ headers }) => headers.ETag),
      ['"2"', '"2"', '"2"'],
    );
    assert.equal(await etagOf(made.path), '"2"');
    const [created, changed] = await succeed([
      { method: "POST", path: "/topics", body: { title: "x" }, as: "t" },
      { method: "PATCH", path: "/topics/$t", body: { title: "y" } },
    ]);
    assert.equal(changed?.headers.ETag, '"1"');
    assert.equal(await etagOf(String(created?.headers.Location)), '"1"');
  });

  test("puts the ids of what it created where later operations name them", async () => {
    const data = { $ref: "nobody" };
    const results = await succeed([
      { method: "POST", path: "/boards", body: { name: "b" }, as: "b" },
      { method: "POST", path: "/topics", body: { title: "t", board: { $ref: "b" } }, as: "t" },
      { method: "POST", path: "/notes", body: { list: [{ $ref: "t" }], data, two: { $ref: "t", x: 1 } } },
      { method: "PATCH", path: "/topics/$t", body: { n: 5 } },
      {
        method: "PATCH",
        path: "/topics/$t",
        headers: { "content-type": "application/json-patch+json" },
        body: [{ op: "replace", path: "/board", value: { deep: { $ref: "b" } } }],
      },
    ]);
    const [board, topic, note, , patched] = results.map(({ body }) => body);
    assert.equal(typeof board?.id, "number");
    assert.equal(topic?.board, board?.id);
    assert.deepEqual(note, { id: note?.id, list: [topic?.id], data, two: { $ref: "t", x: 1 } });
    assert.deepEqual(patched, { id: topic?.id, title: "t", n: 5, board: { deep: board?.id } });
  });

  test("gives each collection ids of its kind, also one that is called uuids", async () => {
    const results = await succeed([
      { method: "POST", path: "/topics", body: { title: "t" } },
      { method: "POST", path: "/uuids", body: {} },
    ]);
    assert.deepEqual(
      results.map(({ body }) => typeof body?.id),
      ["string", "number"],
    );
  });

  test("takes an object that names nothing created before as data, and a body never as a name", async () => {
    const [first, , third] = await succeed([
      { method: "POST", path: "/notes", body: { x: { $ref: "later" } }, as: "first" },
      { method: "POST", path: "/notes", body: {}, as: "later" },
      { method: "POST", path: "/notes", body: { $ref: "first" } },
    ]);
    assert.deepEqual(first?.body?.x, { $ref: "later" });
    assert.equal(third?.body?.$ref, "first");
  });

  test("shows operations what earlier ones did", async () => {
    const made = await service.create("topics", { title: "a" });
    const one = `/topics/${made.id}`;
    const deleted = await refused([
      { method: "DELETE", path: one },
      { method: "PATCH", path: one, body: { n: 1 } },
    ]);
    assert.deepEqual([deleted.code, deleted.operation], ["OPERATION_NOT_FOUND", 1]);
    await succeed([
      { method: "PATCH", path: one, headers: { "If-Match": '"1"' }, body: { n: 1 } },
      { method: "PATCH", path: one, headers: { "If-Match": '"2"' }, body: { n: 2 } },
      { method: "PATCH", path: one, headers: { "If-Match": '"2"' }, body: { n: 3 } },
    ]);
    assert.equal(await etagOf(made.path), '"2"');
  });

  test("leaves nothing of what it creates and deletes", async () => {
    const before = (await service.send({ path: "/api/v1/topics?limit=1" })).headers.etag;
    const results = await succeed([
      { method: "POST", path: "/topics", body: { title: "brief" }, as: "t" },
      { method: "DELETE", path: "/topics/$t" },
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      [201, 205],
    );
    assert.equal((await service.send({ path: "/api/v1/topics?limit=1" })).headers.etag, before);
  });

  test("of no operations has no results", async () => {
    assert.deepEqual(await succeed([]), []);
  });

  test("makes the collections that open mode has not got yet", async () => {
    await succeed([{ method: "POST", path: "/fresh", body: { a: 1 } }]);
    assert.equal(((await service.send({ path: "/api/v1/fresh" })).json as unknown[]).length, 1);
  });

  test("answers with representations only where they are wanted", async () => {
    const [minimal] = await succeed([
      { method: "POST", path: "/notes", headers: { Prefer: "return=minimal" }, body: { a: 1 } },
    ]);
    assert.equal(minimal?.status, 201);
    assert.equal(minimal?.body, undefined);
  });

  test("takes effect once under one Idempotency-Key", async () => {
    const send = () =>
      sendBatch([{ method: "POST", path: "/keyed", body: { a: 1 } }], { "Idempotency-Key": "one" });
    const [first, second] = [await send(), await send()];
    assert.equal(first.status, 200, first.text);
    assert.equal(second.text, first.text);
    assert.equal(second.headers["idempotent-replayed"], "true");
    assert.equal(((await service.send({ path: "/api/v1/keyed" })).json as unknown[]).length, 1);
    const other = await sendBatch([], { "Idempotency-Key": "one" });
    assert.deepEqual([other.status, (other.json as Refusal).code], [422, "IDEMPOTENCY_KEY_REUSED"]);
  });
});

describe("a batch with an operation that fails", () => {
  const bad: [what: string, operation: object, status: number, code: string][] = [
    ["a resource that does not fit", { method: "POST", path: "/topics", body: {} }, 400, "VALIDATION_FAILED"],
    ["no body", { method: "POST", path: "/topics" }, 400, "BODY_REQUIRED"],
    ["a body that is no object", { method: "POST", path: "/topics", body: [1] }, 400, "BODY_NOT_OBJECT"],
    ["no resource", { method: "DELETE", path: "/topics/none" }, 400, "OPERATION_NOT_FOUND"],
    ["no such place", { method: "POST", path: "/a/b/c/d", body: {} }, 400, "OPERATION_NOT_FOUND"],
    ["an unknown name", { method: "DELETE", path: "/topics/$x" }, 400, "OPERATION_NOT_FOUND"],
    ["a batch", { method: "POST", path: "/_batch", body: { operations: [] } }, 400, "OPERATION_NOT_FOUND"],
    [
      "a path of a webhook",
      { method: "PUT", path: "/_webhooks/1/_test", body: {} },
      400,
      "OPERATION_NOT_FOUND",
    ],
    ["the configuration", { method: "POST", path: "/_configuration", body: {} }, 400, "OPERATION_NOT_FOUND"],
    ["a method of another place", { method: "PUT", path: "/topics", body: {} }, 405, "METHOD_NOT_ALLOWED"],
    ["a query", { method: "POST", path: "/topics?x=1", body: { title: "" } }, 400, "INVALID_PARAMETER"],
    [
      "another format",
      { method: "POST", path: "/topics", headers: { "Content-Type": "text/plain" }, body: { title: "" } },
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
  ];
  for (const [what, operation, status, code] of bad) {
    test(`answers with its own status, problem and index: ${what}`, async () => {
      const before = await etagOf("/api/v1/topics");
      const good = { method: "POST", path: "/topics", body: { title: "good" } };
      const problem = await refused([good, operation, good]);
      assert.deepEqual([problem.answer.status, problem.code, problem.operation], [status, code, 1]);
      assert.equal(await etagOf("/api/v1/topics"), before, "nothing is written");
    });
  }

  test("says what may be meant by a path where nothing is", async () => {
    const told = async (...operations: object[]) =>
      (await refused(operations)).answer.json as { detail: string };
    const create = { method: "POST", path: "/topics", body: { title: "a" }, as: "a" };
    const remove = { method: "DELETE", path: "/topics/$a" };
    for (const [operations, detail] of [
      [
        [{ ...create, path: "/api/v1/topics" }],
        'POST failed: nothing exists at "/api/v1/topics". Write the path without the prefix: "/topics".',
      ],
      [
        [create, { method: "DELETE", path: "/topics/$b" }],
        'DELETE failed: nothing exists at "/topics/$b". No earlier operation has "b" in its "as".',
      ],
      [[create, remove, remove], 'DELETE failed: nothing exists at "/topics/$a".'],
    ] as const)
      assert.equal((await told(...operations)).detail, detail);
  });

  test("tells the current ETag when a precondition is false, and a patch that conflicts", async () => {
    const made = await service.create("topics", { title: "a" });
    const one = `/topics/${made.id}`;
    const stale = await refused([
      { method: "PATCH", path: one, body: { n: 1 } },
      { method: "PATCH", path: one, headers: { "If-Match": '"1"' }, body: { n: 2 } },
    ]);
    assert.deepEqual([stale.answer.status, stale.code, stale.operation], [412, "PRECONDITION_FAILED", 1]);
    const conflict = await refused([
      {
        method: "PATCH",
        path: one,
        headers: { "Content-Type": "application/json-patch+json" },
        body: [{ op: "test", path: "/title", value: "b" }],
      },
    ]);
    assert.deepEqual([conflict.answer.status, conflict.code, conflict.operation], [409, "PATCH_CONFLICT", 0]);
    assert.equal(await etagOf(made.path), '"1"');
  });

  test("has the index also where only the whole shows the fault: a unique value", async (t) => {
    const own = await startFor(t, {
      collections: {
        users: {
          schema: { type: "object", properties: { name: { type: "string", maxLength: 50 } } },
          unique: ["name"],
        },
      },
    });
    const send = (operations: unknown) => own.send({ method: "POST", path, content: { operations } });
    const ada = await own.create("users", { name: "ada" });
    const create = (name: string) => ({ method: "POST", path: "/users", body: { name } });
    const gone = [
      { ...create("brief"), as: "b" },
      { method: "DELETE", path: "/users/$b" },
    ];
    const taken = await send([...gone, create("bob"), create("ada")]);
    const problem = taken.json as Refusal;
    assert.deepEqual([taken.status, problem.code, problem.operation], [409, "UNIQUE_VIOLATION", 3]);
    assert.equal(problem.violations?.[0]?.pointer, "#/name");
    assert.equal(((await own.send({ path: "/api/v1/users" })).json as unknown[]).length, 1);
    const twins = (await send([create("cy"), create("dee"), create("cy")])).json as Refusal;
    assert.deepEqual([twins.code, twins.operation], ["UNIQUE_VIOLATION", 2]);
    const freed = [{ method: "PATCH", path: `/users/${ada.id}`, body: { name: "eve" } }, create("ada")];
    assert.equal((await send(freed)).status, 200);
  });

  test("makes no collection", async (t) => {
    const own = await startFor(t, { limits: { collections: 1 } });
    const send = (operations: unknown) => own.send({ method: "POST", path, content: { operations } });
    const create = (name: string) => ({ method: "POST", path: `/${name}`, body: {} });
    const none = { method: "DELETE", path: "/none/1" };
    assert.equal((await send([create("a"), none])).status, 400);
    const both = await send([create("b"), create("c")]);
    assert.deepEqual(
      [(both.json as Refusal).code, (both.json as Refusal).operation],
      ["TOO_MANY_COLLECTIONS", 1],
    );
    assert.equal((await send([create("d")])).status, 200);
  });

  test("makes no collection, also if the store refuses the whole", async (t) => {
    const own = await startFor(t, {
      openCollections: true,
      collections: {
        users: {
          schema: { type: "object", properties: { name: { type: "string", maxLength: 50 } } },
          unique: ["name"],
        },
      },
    });
    const send = (operations: unknown) => own.send({ method: "POST", path, content: { operations } });
    const create = (name: string) => ({ method: "POST", path: "/users", body: { name } });
    const fresh = { method: "POST", path: "/fresh", body: {} };
    const refused = await send([fresh, create("ada"), create("ada")]);
    const { code, operation } = refused.json as Refusal;
    assert.deepEqual([code, operation], ["UNIQUE_VIOLATION", 2]);
    const names = async () =>
      ((await own.send({ path: "/api/v1" })).json as { collections: { name: string }[] }).collections.map(
        ({ name }) => name,
      );
    assert.deepEqual(await names(), ["users"]);
    assert.equal((await send([fresh, create("ada")])).status, 200);
    assert.deepEqual(await names(), ["fresh", "users"]);
  });
});

describe("the content of a batch", () => {
  const good = { method: "POST", path: "/topics", body: { title: "good" } };
  const faults: [what: string, content: unknown, pointer: string, detail: RegExp][] = [
    ["an unknown member", { operatons: [] }, "#/operatons", /Did you mean "operations"/],
    ["no operations", {}, "#/operations", /required/],
    ["operations that are no list", { operations: {} }, "#/operations", /array of operations/],
    ["too many", { operations: Array.from({ length: 101 }, () => good) }, "#/operations", /at most 100/],
    ["an operation that is no object", { operations: [1] }, "#/operations/0", /object/],
    ["an unknown member of one", { operations: [{ ...good, paht: 1 }] }, "#/operations/0/paht", /"path"/],
    ["no method", { operations: [{ path: "/topics" }] }, "#/operations/0/method", /POST, PUT, PATCH, DELETE/],
    ["a method that reads", { operations: [{ ...good, method: "GET" }] }, "#/operations/0/method", /one of/],
    [
      "a path that is none",
      { operations: [{ ...good, path: "topics" }] },
      "#/operations/0/path",
      /without the prefix/,
    ],
    [
      "a body to a DELETE",
      { operations: [{ method: "DELETE", path: "/topics/1", body: {} }] },
      "#/operations/0/body",
      /left out/,
    ],
    [
      "an unknown header",
      { operations: [{ ...good, headers: { "If-Mach": "*" } }] },
      "#/operations/0/headers/If-Mach",
      /"If-Match"/,
    ],
    [
      "an Idempotency-Key",
      { operations: [{ ...good, headers: { "Idempotency-Key": "k" } }] },
      "#/operations/0/headers/Idempotency-Key",
      /covers the whole batch/,
    ],
    [
      "a header twice",
      { operations: [{ ...good, headers: { "If-Match": "*", "if-match": "*" } }] },
      "#/operations/0/headers/if-match",
      /twice/,
    ],
    [
      "a header that is no string",
      { operations: [{ ...good, headers: { "If-Match": 1 } }] },
      "#/operations/0/headers/If-Match",
      /string/,
    ],
    ["headers that are none", { operations: [{ ...good, headers: [] }] }, "#/operations/0/headers", /object/],
    ["a name that is none", { operations: [{ ...good, as: "1" }] }, "#/operations/0/as", /must be a letter/],
    [
      "a name of what is not created",
      { operations: [{ method: "DELETE", path: "/topics/1", as: "t" }] },
      "#/operations/0/as",
      /only with POST/,
    ],
    [
      "a name twice",
      {
        operations: [
          { ...good, as: "t" },
          { ...good, as: "t" },
        ],
      },
      "#/operations/1/as",
      /earlier operation/,
    ],
  ];
  for (const [what, content, pointer, detail] of faults) {
    test(`is refused with the place of what is wrong: ${what}`, async () => {
      const answer = await service.send({ method: "POST", path, content });
      const problem = answer.json as Refusal;
      assert.deepEqual([answer.status, problem.code], [400, "INVALID_BATCH"], answer.text);
      assert.equal(problem.violations?.[0]?.pointer, pointer);
      assert.match(problem.violations?.[0]?.detail ?? "", detail);
    });
  }

  test("has the limits of any other", async () => {
    const large = await sendBatch([{ ...good, body: { title: "x".repeat(1_100_000) } }]);
    assert.equal((large.json as Refusal).code, "CONTENT_TOO_LARGE");
    const empty = await service.send({ method: "POST", path });
    assert.equal((empty.json as Refusal).code, "BODY_REQUIRED");
    const text = await service.send({
      method: "POST",
      path,
      headers: { "Content-Type": "text/plain" },
      body: "x",
    });
    assert.equal(text.status, 415);
    const twice = await service.send({
      method: "POST",
      path,
      headers: { "Content-Type": "application/json" },
      body: '{"operations":[],"operations":[]}',
    });
    assert.equal((twice.json as Refusal).code, "DUPLICATE_MEMBER");
  });

  test("may nest each body as deeply as if it came alone", async () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
    await succeed([{ method: "POST", path: "/notes", body: { a: nested(63) } }]);
    const problem = await refused([{ method: "POST", path: "/notes", body: { a: nested(64) } }]);
    assert.equal(problem.code, "BODY_TOO_DEEP");
  });

  test("keeps a member called __proto__ as the data that it is", async () => {
    const body = '{"a":{"$ref":"t"},"__proto__":{"b":1}}';
    const operations = `[{"method":"POST","path":"/notes","body":{},"as":"t"},{"method":"POST","path":"/notes","body":${body}}]`;
    const headers = { "Content-Type": "application/json" };
    const answer = await service.send({
      method: "POST",
      path,
      headers,
      body: `{"operations":${operations}}`,
    });
    assert.match(answer.text, /"__proto__":\{"b":1\}/);
  });
});

describe("the address of batches", () => {
  test("has POST and OPTIONS, and no other method", async () => {
    for (const method of ["GET", "HEAD", "PUT", "PATCH", "DELETE", "QUERY"]) {
      const answer = await service.send({ method, path });
      assert.deepEqual([answer.status, answer.headers.allow], [405, "POST, OPTIONS"], method);
    }
    const options = await service.send({ method: "OPTIONS", path });
    assert.deepEqual(
      [options.status, options.headers.allow, options.headers["accept-post"]],
      [204, "POST, OPTIONS", "application/json"],
    );
  });

  test("takes no parameters and no preconditions", async () => {
    const query = await service.send({ method: "POST", path: `${path}?x=1`, content: { operations: [] } });
    assert.equal((query.json as Refusal).code, "INVALID_PARAMETER");
    const match = await sendBatch([], { "If-Match": "*" });
    assert.deepEqual([match.status, (match.json as Refusal).code], [400, "INVALID_PARAMETER"]);
    assert.match((match.json as Refusal).detail, /operation/);
  });
});
