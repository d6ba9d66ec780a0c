/** Creates with an id that the client chooses: PUT with If-None-Match: *. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { owner } from "../../src/access/access-declaration.ts";
import { reservedIds } from "../../src/collection/ids.ts";
import { auth, type Caller, outcome, sendAs } from "./access/callers.ts";
import { check } from "./check.ts";
import { itemsFrom } from "./pages.ts";
import { type Request, startServiceForFile } from "./service.ts";

const service = await startServiceForFile({
  openCollections: true,
  collections: {
    notes: {
      schema: {
        type: "object",
        required: ["text"],
        properties: {
          text: { type: "string" },
          slug: { type: "string", maxLength: 50 },
          topicId: { type: "string" },
        },
      },
      unique: ["slug"],
      references: { topicId: "topics" },
    },
    topics: {},
    stamped: { timestamps: true, defaults: { state: "new" } },
    careful: { requirePreconditions: true },
    counted: { id: "integer" },
  },
});

const guarded = await startServiceForFile({
  auth,
  collections: {
    articles: { access: { read: owner("authorId"), write: owner("authorId") } },
    forms: { access: { create: "authenticated", read: { role: "editor" } } },
    pages: {
      access: {
        read: [owner("owner"), { where: { public: true } }],
        write: owner("owner"),
        create: "authenticated",
      },
    },
    fixed: { access: { read: "authenticated", update: "authenticated" } },
    counted: { id: "integer", access: { read: owner("authorId"), write: "authenticated" } },
  },
});

const base = "/api/v1";
const absent = { "If-None-Match": "*" };

const put = (path: string, attributes: object, headers: Record<string, string> = {}): Request => ({
  method: "PUT",
  path: `${base}/${path}`,
  content: { id: decodeURIComponent(path.slice(path.indexOf("/") + 1)), ...attributes },
  headers: { ...absent, ...headers },
});

const send = (path: string, attributes: object = { text: "A" }, headers: Record<string, string> = {}) =>
  service.send(put(path, attributes, headers));

const remove = async (path: string) =>
  check(await service.send({ method: "DELETE", path: `${base}/${path}` }), { status: 205 });

let ids = 0;
const newId = () => `own-${++ids}`;

const taken = { status: 412, problem: "PRECONDITION_FAILED" } as const;

describe("a PUT with If-None-Match: *", () => {
  test("creates the resource with the id in the path, and answers as a create", async () => {
    const id = newId();
    const path = `${base}/notes/${id}`;
    const answer = await send(`notes/${id}`);
    check(answer, {
      status: 201,
      headers: { Location: path, "Content-Location": path, ETag: '"1"' },
      json: { id, text: "A" },
    });
    check(await service.send({ path }), { status: 200, headers: { ETag: '"1"' }, json: { id, text: "A" } });
    const minimal = await send(`notes/${newId()}`, { text: "B" }, { Prefer: "return=minimal" });
    check(minimal, { status: 201, headers: { "Preference-Applied": "return=minimal", ETag: '"1"' } });
    assert.equal(minimal.text, "");
  });

  test("is a 412 with the ETag if the resource exists, and changes nothing", async () => {
    const id = newId();
    await send(`notes/${id}`);
    check(await send(`notes/${id}`, { text: "B" }), { ...taken, headers: { ETag: '"1"' } });
    const made = await service.create("notes", { text: "made" });
    check(await send(`notes/${made.id}`, { text: "B" }), { ...taken, headers: { ETag: '"1"' } });
    check(await service.send({ path: made.path }), { status: 200, json: made.body });
  });

  test("is a 412 also in a collection that requires preconditions", async () => {
    const id = newId();
    check(await send(`careful/${id}`), { status: 201 });
    check(await send(`careful/${id}`), { ...taken, headers: { ETag: '"1"' } });
  });

  test("without the header, or with If-Match too, an unknown id is still a 404", async () => {
    for (const headers of [
      {},
      { "If-Match": "*" },
      { ...absent, "If-Match": "*" },
      { "If-None-Match": '"1"' },
    ])
      check(
        await service.send({
          method: "PUT",
          path: `${base}/notes/nobody`,
          content: { id: "nobody", text: "A" },
          headers,
        }),
        { status: 404 },
      );
    for (const method of ["PATCH", "DELETE"])
      check(
        await service.send({
          method,
          path: `${base}/notes/nobody`,
          headers: absent,
          ...(method === "PATCH" && { content: { text: "A" } }),
        }),
        { status: 404 },
      );
  });

  const accepted = [
    "a",
    "7",
    "-7",
    "A.b_c~d-e",
    "_mine",
    "x".repeat(128),
    "0190f5a0-7c3e-7b1a-9c54-0000000000aa",
  ];
  for (const id of accepted)
    test(`accepts the id ${id.slice(0, 40)}`, async () => {
      check(await send(`notes/${id}`), { status: 201, json: { id, text: "A" } });
      check(await service.send({ path: `${base}/notes/${id}` }), { status: 200, json: { id, text: "A" } });
    });

  for (const id of ["a b", "ä", "a/b", "a$", "x".repeat(129)])
    test(`refuses the id ${id.slice(0, 40)}`, async () => {
      const answer = await send(`notes/${encodeURIComponent(id)}`);
      check(answer, { status: 400, problem: "INVALID_PARAMETER", violations: [{ in: "path", code: "id" }] });
    });

  test("refuses reserved ids, or the path has another meaning", async () => {
    for (const id of reservedIds) {
      const answer = await send(`notes/${id}`);
      if (answer.status === 405) continue; // such as _bulk, which is a path of its own
      check(answer, {
        status: 400,
        problem: "INVALID_PARAMETER",
        violations: [{ in: "path", code: "reservedId" }],
      });
    }
  });

  test("is a 400 that says who counts in a collection with integer ids", async () => {
    const answer = await send("counted/7");
    check(answer, {
      status: 400,
      problem: "INVALID_PARAMETER",
      violations: [{ in: "path", code: "assignedId" }],
    });
    assert.match(answer.text, /the service counts the ids of .*counted/);
    const made = await service.create("counted");
    check(await send(`counted/${made.id}`), { ...taken, headers: { ETag: '"1"' } });
  });

  test("needs the same id in the body", async () => {
    const path = `${base}/notes/${newId()}`;
    const without = await service.send({ method: "PUT", path, content: { text: "A" }, headers: absent });
    check(without, { status: 400, problem: "ID_REQUIRED" });
    const other = { method: "PUT", path, content: { id: "other", text: "A" }, headers: absent };
    check(await service.send(other), { status: 400, problem: "ID_MISMATCH" });
    const part = { ...other, headers: { ...absent, "Content-Range": "bytes 0-1/2" } };
    check(await service.send(part), { status: 400, problem: "INVALID_PARAMETER" });
    check(await service.send({ path }), { status: 404 });
  });

  test("checks what a create checks", async () => {
    check(await send(`notes/${newId()}`, {}), { status: 400, problem: "VALIDATION_FAILED" });
    check(await send(`notes/${newId()}`, { text: "A", slug: "one" }), { status: 201 });
    const twice = await send(`notes/${newId()}`, { text: "A", slug: "one" });
    check(twice, { status: 409, problem: "UNIQUE_VIOLATION" });
    const dangling = await send(`notes/${newId()}`, { text: "A", topicId: "nowhere" });
    check(dangling, { status: 400, problem: "REFERENCE_NOT_FOUND" });
  });

  test("adds defaults and timestamps, and has an ETag only if it stores what was sent", async () => {
    const id = newId();
    const answer = await send(`stamped/${id}`, { n: 1 });
    check(answer, { status: 201, headers: { ETag: undefined, "Last-Modified": undefined } });
    const { createdAt, updatedAt, ...rest } = answer.json as Record<string, unknown>;
    assert.deepEqual(rest, { id, n: 1, state: "new" });
    assert.equal(createdAt, updatedAt);
    assert.match(String(createdAt), /^20.*Z$/);
    check(await service.send({ path: `${base}/stamped/${id}` }), { status: 200, headers: { ETag: '"1"' } });
  });

  test("creates the collection in open mode", async () => {
    check(await send("fresh/first", { n: 1 }), { status: 201, json: { id: "first", n: 1 } });
    check(await send("fresh/first", { n: 1 }), { ...taken, headers: { ETag: '"1"' } });
  });

  test("is in the history and the feed as a create", async () => {
    const id = newId();
    await send(`notes/${id}`);
    const changes = (await service.send({ path: `${base}/notes/${id}/_changes` })).json as { kind: string }[];
    assert.deepEqual(
      changes.map(({ kind }) => kind),
      ["created"],
    );
  });
});

describe("an id that was deleted", () => {
  test("can be created again, and goes on above its last version", async () => {
    const path = `notes/${newId()}`;
    for (const version of [1, 3, 5]) {
      const answer = await send(path, { text: String(version) });
      check(answer, { status: 201, headers: { ETag: `"${version}"` } });
      const old = { method: "PUT", path: `${base}/${path}`, headers: { "If-Match": '"1"' } };
      if (version > 1)
        check(await service.send({ ...old, content: { id: path.slice(6), text: "old" } }), {
          ...taken,
          headers: { ETag: `"${version}"` },
        });
      await remove(path);
    }
    const patch = { method: "PATCH", path: `${base}/${path}`, content: { text: "late" } };
    check(await service.send(patch), { status: 404 });
  });

  test("shows its earlier versions in its history, and they can be restored", async () => {
    const path = `notes/${newId()}`;
    await send(path, { text: "first" });
    await remove(path);
    await send(path, { text: "second" });
    const first = await service.send({ path: `${base}/${path}?version=1` });
    assert.equal((first.json as { text: string }).text, "first");
    const restore = { method: "POST", path: `${base}/${path}/_restore`, content: { version: 1 } };
    check(await service.send(restore), { status: 200, headers: { ETag: '"4"' } });
  });
});

describe("the id of a deleted resource of another caller", () => {
  const path = (id: string) => `${base}/pages/${id}`;
  const create = (who: Caller, id: string, content: object) =>
    sendAs(guarded, who, { ...put(`pages/${id}`, content), method: "PUT" });
  const ask = (who: Caller, id: string, suffix = "") => sendAs(guarded, who, { path: path(id) + suffix });
  const versions = async (who: Caller, id: string) =>
    ((await ask(who, id, "/_changes")).json as { version: number; principal?: string }[]).map(
      ({ version, principal }) => [version, principal],
    );

  test("is not free while the history has its delete, and its owner restores it", async () => {
    const id = newId();
    check(await create("ada", id, { owner: "ada", text: "mine" }), { status: 201 });
    check(await sendAs(guarded, "ada", { method: "DELETE", path: path(id) }), { status: 205 });
    const answer = await create("bob", id, { owner: "bob", text: "taken" });
    check(answer, { ...taken, headers: { ETag: undefined } });
    const operations = [
      {
        method: "PUT",
        path: `/pages/${id}`,
        headers: { "If-None-Match": "*" },
        body: { id, owner: "bob", text: "taken" },
      },
    ];
    const batch = await sendAs(guarded, "bob", {
      method: "POST",
      path: `${base}/_batch`,
      content: { operations },
    });
    assert.equal(batch.status, 412, batch.text);
    const restored = await sendAs(guarded, "ada", {
      method: "POST",
      path: `${path(id)}/_restore`,
      content: { version: 1 },
    });
    check(restored, { status: 201, headers: { ETag: '"3"' } });
  });

  test("is free for its owner, whose earlier lives others see only as far as they could", async () => {
    const id = newId();
    check(await create("ada", id, { owner: "ada", text: "secret", public: true }), { status: 201 });
    const hidden = { method: "PUT", path: path(id), content: { id, owner: "ada", text: "hidden" } };
    check(await sendAs(guarded, "ada", hidden), { status: 200 });
    check(await sendAs(guarded, "ada", { method: "DELETE", path: path(id) }), { status: 205 });
    check(await create("ada", id, { owner: "ada", text: "open", public: true }), { status: 201 });
    assert.equal((await ask("bob", id)).status, 200);
    assert.equal((await ask("bob", id, "?version=1")).status, 404);
    assert.equal((await ask("ada", id, "?version=1")).status, 200);
    assert.deepEqual(await versions("bob", id), [[4, undefined]]);
    assert.deepEqual(await versions("ada", id), [
      [4, "ada"],
      [3, "ada"],
      [2, "ada"],
      [1, "ada"],
    ]);
    const text = (await ask("ada", id, "?version=1")).text;
    assert.match(text, /secret/);
  });
});

test("a resource that is hidden now hides its earlier lives too, and pages of changes pass those that are hidden", async () => {
  const id = newId();
  const at = `${base}/pages/${id}`;
  const ada = (request: Omit<Request, "path">, suffix = "") =>
    sendAs(guarded, "ada", { ...request, path: at + suffix });
  const life = async (open: boolean) => {
    const content = { id, owner: "ada", public: open };
    check(await ada({ method: "PUT", content, headers: absent }), { status: 201 });
    check(await ada({ method: "DELETE" }), { status: 205 });
  };
  await life(true);
  await life(false);
  check(await ada({ method: "PUT", content: { id, owner: "ada", public: true }, headers: absent }), {
    status: 201,
  });
  const bob = (suffix: string) => sendAs(guarded, "bob", { path: at + suffix });
  const seen = await itemsFrom<{ version: number }>(
    (request) => sendAs(guarded, "bob", request),
    `${at}/_changes?limit=1`,
  );
  assert.deepEqual(
    seen.map(({ version }) => version),
    [5, 2, 1],
  );
  assert.equal((await bob("?version=1")).status, 200);
  check(await ada({ method: "PUT", content: { id, owner: "ada", public: false } }), { status: 200 });
  for (const suffix of ["", "?version=1", "?version=5", "/_changes"])
    assert.equal((await bob(suffix)).status, 404, suffix);
});

describe("with an Idempotency-Key", () => {
  test("a retry gets the kept answer, and without one it is a 412", async () => {
    const path = `notes/${newId()}`;
    const key = { "Idempotency-Key": `"${path}"` };
    const first = await send(path, { text: "A" }, key);
    check(first, { status: 201, headers: { "Idempotent-Replayed": undefined } });
    const again = await send(path, { text: "A" }, key);
    check(again, {
      status: 201,
      headers: { "Idempotent-Replayed": "true", ETag: '"1"', Location: `${base}/${path}` },
      json: first.json,
    });
    check(await send(path, { text: "B" }, key), { status: 422, problem: "IDEMPOTENCY_KEY_REUSED" });
    check(await send(path), { ...taken, headers: { ETag: '"1"' } });
  });

  test("the key of a PUT without If-None-Match: * is still ignored", async () => {
    const { id, path } = await service.create("notes", { text: "A" });
    for (const text of ["B", "C"])
      check(
        await service.send({
          method: "PUT",
          path,
          content: { id, text },
          headers: { "Idempotency-Key": '"ignored"' },
        }),
        { status: 200, json: { id, text } },
      );
  });
});

test("200 clients on 50 own ids make 50 resources", async () => {
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, n) => send(`crowd/c${n % 50}`, { client: n })),
  );
  const made = answers.filter(({ status }) => status === 201);
  assert.equal(made.length, 50);
  for (const answer of answers.filter((each) => !made.includes(each)))
    check(answer, { ...taken, headers: { ETag: '"1"' } });
  const list = (await service.send({ path: `${base}/crowd?limit=1000` })).json as { id: string }[];
  assert.equal(list.length, 50);
  const byId = new Map(list.map((each) => [each.id, each]));
  for (const { json } of made) assert.deepEqual(byId.get((json as { id: string }).id), json);
});

describe("in a batch", () => {
  const batch = (operations: object[]) =>
    service.send({ method: "POST", path: `${base}/_batch`, content: { operations } });
  const operation = (path: string, attributes: object = { text: "A" }) => ({
    method: "PUT",
    path: `/${path}`,
    headers: absent,
    body: { id: path.slice(path.indexOf("/") + 1), ...attributes },
  });

  test("it creates, and later operations see the resource", async () => {
    const topic = newId();
    const note = newId();
    const answer = await batch([
      operation(`topics/${topic}`, { name: "T" }),
      operation(`notes/${note}`, { text: "A", topicId: topic }),
      { method: "PATCH", path: `/notes/${note}`, headers: { "If-Match": '"1"' }, body: { text: "B" } },
    ]);
    const { results } = answer.json as { results: { status: number; headers: Record<string, string> }[] };
    assert.deepEqual(
      results.map(({ status, headers }) => [status, headers.ETag, headers.Location]),
      [
        [201, '"1"', `${base}/topics/${topic}`],
        [201, '"1"', `${base}/notes/${note}`],
        [200, '"1"', undefined],
      ],
    );
    check(await service.send({ path: `${base}/notes/${note}` }), {
      status: 200,
      json: { id: note, text: "B", topicId: topic },
    });
  });

  test("it fails with its index where the id is taken, also by an earlier operation", async () => {
    const path = `notes/${newId()}`;
    const answer = await batch([operation(path), operation(path)]);
    check(answer, { ...taken, more: ["operation"] });
    assert.equal((answer.json as { operation: number }).operation, 1);
    check(await service.send({ path: `${base}/${path}` }), { status: 404 });
    await send(path);
    check(await batch([operation(path)]), { ...taken, more: ["operation"], headers: { ETag: '"1"' } });
  });

  test("it goes on above the last version of a deleted id, also of one that the batch deletes", async () => {
    const path = `notes/${newId()}`;
    await send(path);
    await remove(path);
    const etags = async (operations: object[]) => {
      const { results } = (await batch(operations)).json as { results: { headers: { ETag?: string } }[] };
      return results.map(({ headers }) => headers.ETag);
    };
    assert.deepEqual(await etags([operation(path)]), ['"3"']);
    const again = [{ method: "DELETE", path: `/${path}` }, operation(path, { text: "again" })];
    assert.deepEqual(await etags(again), [undefined, '"4"']);
    check(await service.send({ path: `${base}/${path}` }), { status: 200, headers: { ETag: '"4"' } });
  });
});

describe("with rules", () => {
  const as = (who: Caller, path: string, attributes: object = {}) =>
    sendAs(guarded, who, put(path, attributes));

  test("the rule for creates decides, and an id that the caller may not read is a 412 without an ETag", async () => {
    const path = `articles/${newId()}`;
    assert.equal(outcome(await as("ada", path, { authorId: "bob" })), "403 INSUFFICIENT_SCOPE");
    check(await as("ada", path, { authorId: "ada" }), { status: 201, headers: { ETag: '"1"' } });
    check(await as("ada", path, { authorId: "ada" }), { ...taken, headers: { ETag: '"1"' } });
    const unread = await as("adaWrites", path, { authorId: "ada" });
    check(unread, { ...taken, headers: { ETag: undefined } });
    const hidden = await as("bob", path, { authorId: "bob" });
    check(hidden, { ...taken, headers: { ETag: undefined } });
    assert.doesNotMatch(hidden.text, /ETag/);
  });

  test("a caller who can only create gets 201 without the resource, and 412 without the ETag", async () => {
    const path = `forms/${newId()}`;
    const made = await as("ada", path, { n: 1 });
    check(made, { status: 201, headers: { Location: `${base}/${path}` } });
    assert.equal(made.text, "");
    check(await as("ada", path, { n: 1 }), { ...taken, headers: { ETag: undefined } });
    const plain = { method: "PUT", path: `${base}/${path}`, content: { id: path.slice(6), n: 2 } };
    assert.equal(outcome(await sendAs(guarded, "ada", plain)), "403 INSUFFICIENT_SCOPE");
  });

  test("a caller who can only update cannot create", async () => {
    assert.equal(outcome(await as("ada", `fixed/${newId()}`)), "403 INSUFFICIENT_SCOPE");
    const reader = put(`articles/${newId()}`, { authorId: "ada" });
    assert.equal(outcome(await sendAs(guarded, "adaReads", reader)), "403 INSUFFICIENT_SCOPE");
    assert.equal(outcome(await guarded.send(reader)), "401 UNAUTHENTICATED");
  });

  test("integer ids say the same of an id that the caller may not read and of one that nobody has", async () => {
    const post = { method: "POST", path: `${base}/counted`, content: { authorId: "ada" } };
    const { id } = (await sendAs(guarded, "ada", post)).json as { id: number };
    const texts = await Promise.all([id, id + 1].map((each) => as("bob", `counted/${each}`)));
    assert.deepEqual(texts.map(outcome), ["400 INVALID_PARAMETER", "400 INVALID_PARAMETER"]);
  });
});
