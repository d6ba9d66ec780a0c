/** The times that the service itself keeps in resources, over real sockets and with a clock of the test's. */
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { check } from "./check.ts";
import { startFor, startServiceForFile } from "./service.ts";

const start = Date.parse("2026-01-31T09:14:05.250Z");
let now = start;
const at = (ms = 0) => new Date(start + ms).toISOString();

const id = { type: "string", maxLength: 128 } as const;
const properties = { title: { type: "string" }, n: { type: "integer" }, tagId: id } as const;
const posts = {
  schema: { type: "object", properties },
  references: { tagId: { collection: "tags", onDelete: "clear" } },
  indexes: ["-updatedAt"],
  timestamps: true,
} as const;

const service = await startServiceForFile({
  now: () => now,
  collections: { posts, tags: {}, notes: { timestamps: true, defaults: { since: "$now" } } },
});
beforeEach(() => {
  now = start;
});

const path = "/api/v1/posts";
const theirs = { createdAt: "1999-12-31T00:00:00.000Z", updatedAt: 7 };
const jsonPatch = { "content-type": "application/json-patch+json" };
const send = (method: string, to: string, content?: unknown, headers: Record<string, string> = {}) =>
  service.send({ method, path: to, headers, ...(content === undefined ? {} : { content }) });
const batch = (...operations: object[]) => send("POST", "/api/v1/_batch", { operations });
const resultsOf = (answer: { json: unknown }) =>
  (answer.json as { results: { headers: Record<string, string>; body: Record<string, unknown> }[] }).results;

/** A post that was created at `start`. The clock advances by a second. */
async function makePost(attributes: Record<string, unknown> = { title: "a" }) {
  const made = await service.create("posts", attributes);
  now += 1_000;
  return made;
}

/** The expected resource, with the last change in the change log. */
async function requirePost(path: string, json: Record<string, unknown>, version: number) {
  check(await send("GET", path), { status: 200, json, headers: { etag: `"${version}"` } });
  const changes = (await send("GET", `${path}/_changes`)).json as { at: string; version: number }[];
  assert.equal(changes[0]?.version, version);
  return changes[0]?.at;
}

test("a create sets both times, at the end, whatever the client sends under their names", async () => {
  const answer = await send("POST", path, { ...theirs, title: "a" });
  const { id } = answer.json as { id: string };
  check(answer, { status: 201, headers: { etag: '"1"' } });
  assert.equal(answer.text, `{"id":"${id}","title":"a","createdAt":"${at()}","updatedAt":"${at()}"}`);
  const json = { id, title: "a", createdAt: at(), updatedAt: at() };
  assert.equal(await requirePost(`${path}/${id}`, json, 1), at());
});

test("a default that is the time, createdAt and the change log are of one reading of the clock", async (t) => {
  let ticks = start;
  const own = await startFor(t, {
    now: () => ticks++,
    collections: { notes: { timestamps: true, defaults: { since: "$now" } } },
  });
  const { body, path } = await own.create("notes");
  const changes = (await own.send({ method: "GET", path: `${path}/_changes` })).json as { at: string }[];
  assert.deepEqual(
    [body.since, body.updatedAt, changes[0]?.at],
    [body.createdAt, body.createdAt, body.createdAt],
  );
  const patched = await own.send({ method: "PATCH", path, content: { a: 1 } });
  const [change] = (await own.send({ method: "GET", path: `${path}/_changes` })).json as { at: string }[];
  assert.equal((patched.json as { updatedAt: string }).updatedAt, change?.at);
});

test("PUT and PATCH keep createdAt and set updatedAt, whatever the client sends under their names", async () => {
  const made = await makePost();
  const put = await send("PUT", made.path, { ...theirs, id: made.id, title: "b" });
  const expected = { id: made.id, title: "b", createdAt: at(), updatedAt: at(1_000) };
  check(put, { status: 200, json: expected });
  assert.equal(await requirePost(made.path, expected, 2), at(1_000));
  now += 1_000;
  const merged = await send("PATCH", made.path, { ...theirs, createdAt: null, title: "c" });
  check(merged, { status: 200, json: { ...expected, title: "c", updatedAt: at(2_000) } });
  now += 1_000;
  const operations = [
    { op: "test", path: "/createdAt", value: at() },
    { op: "copy", from: "/updatedAt", path: "/title" },
    { op: "remove", path: "/createdAt" },
    { op: "replace", path: "/updatedAt", value: { no: "time" } },
  ];
  const patched = await send("PATCH", made.path, operations, jsonPatch);
  const json = { ...expected, title: at(2_000), updatedAt: at(3_000) };
  check(patched, { status: 200, json, headers: { etag: '"4"' } });
  assert.equal(await requirePost(made.path, json, 4), at(3_000));
});

test("an update that changes nothing else makes no version and leaves the times alone", async () => {
  const { id, path, body } = await makePost();
  const read = (await send("GET", path)).json as object;
  check(await send("PUT", path, read), { status: 200, json: body });
  check(await send("PUT", path, { ...theirs, id, title: "a" }), { status: 200, json: body });
  check(await send("PATCH", path, theirs), { status: 200, json: body, headers: { etag: '"1"' } });
  const removal = [{ op: "remove", path: "/updatedAt" }];
  check(await send("PATCH", path, removal, jsonPatch), { status: 200, json: body });
  check(await send("POST", `${path}/_restore`, { version: 1 }), { status: 200, json: body });
  const inBatch = await batch({ method: "PUT", path: `/posts/${id}`, body: { ...read, createdAt: null } });
  assert.deepEqual(resultsOf(inBatch)[0]?.body, body);
  assert.equal(await requirePost(path, body, 1), at());
});

test("what was read, changed and sent back is taken, under the precondition of what was read", async () => {
  const { path } = await makePost({ title: "a", n: 1 });
  const read = await send("GET", path);
  const next = { ...(read.json as object), n: 2 };
  const headers = { "if-match": read.headers.etag ?? "" };
  check(await send("PUT", path, next, headers), { status: 200, json: { ...next, updatedAt: at(1_000) } });
  check(await send("PUT", path, { ...next, n: 3 }, headers), { status: 412, problem: "PRECONDITION_FAILED" });
});

test("PUT tells no validators, since what is stored is not what was sent, and every other write does", async () => {
  const { id, path } = await makePost();
  const none = { etag: undefined, "last-modified": undefined };
  const located = { ...none, "content-location": path };
  check(await send("PUT", path, { id, title: "b" }), { status: 200, headers: located });
  check(await send("PUT", path, { id, title: "b" }), { status: 200, headers: located });
  const minimal = { prefer: "return=minimal" };
  check(await send("PUT", path, { id, title: "c" }, minimal), { status: 204, headers: none });
  now += 60_000;
  const told = { etag: '"3"', "last-modified": /GMT$/ };
  check(await send("PATCH", path, {}), { status: 200, headers: told });
  check(await send("GET", path), { status: 200, headers: told });
  const answer = await batch(
    { method: "PUT", path: `/posts/${id}`, body: { id, title: "d" } },
    {
      method: "PATCH",
      path: `/posts/${id}`,
      headers: { "Content-Type": "application/merge-patch+json" },
      body: { n: 1 },
    },
    { method: "PUT", path: `/posts/${id}`, body: { id, title: "e" } },
  );
  assert.deepEqual(
    resultsOf(answer).map(({ headers }) => headers.ETag),
    [undefined, '"4"', undefined],
  );
});

test("all of a batch happens at one time, and a created resource that changes has been created then", async () => {
  const { id, path } = await makePost();
  const answer = await batch(
    { method: "POST", path: "/posts", body: { ...theirs, title: "new" }, as: "post" },
    {
      method: "PATCH",
      path: "/posts/$post",
      headers: { "Content-Type": "application/merge-patch+json" },
      body: { n: 1 },
    },
    { method: "PUT", path: `/posts/${id}`, body: { ...theirs, id, title: "b" } },
  );
  assert.equal(answer.status, 200, answer.text);
  const times = resultsOf(answer).map(({ body }) => [body.createdAt, body.updatedAt]);
  const created = [at(1_000), at(1_000)];
  assert.deepEqual(times, [created, created, [at(), at(1_000)]]);
  const json = { id, title: "b", createdAt: at(), updatedAt: at(1_000) };
  assert.equal(await requirePost(path, json, 2), at(1_000));
});

test("a restored resource keeps its first createdAt and gets a new updatedAt, deleted or not", async () => {
  const { id, path, body } = await makePost();
  await send("PATCH", path, { title: "b" });
  now += 1_000;
  const restored = { ...body, updatedAt: at(2_000) };
  const restore = () => send("POST", `${path}/_restore`, { version: 1 });
  check(await restore(), { status: 200, json: restored, headers: { etag: '"3"' } });
  now += 1_000;
  check(await send("DELETE", path), { status: 205 });
  now += 1_000;
  const again = { id, title: "a", createdAt: at(), updatedAt: at(4_000) };
  check(await restore(), { status: 201, json: again });
  assert.equal(await requirePost(path, again, 5), at(4_000));
});

test("what a delete clears is updated with it", async () => {
  const tag = await service.create("tags");
  const { id, path } = await makePost({ title: "a", tagId: tag.id });
  check(await send("GET", path), { status: 200 });
  check(await send("DELETE", tag.path), { status: 205 });
  const json = { id, title: "a", createdAt: at(), updatedAt: at(1_000) };
  assert.equal(await requirePost(path, json, 2), at(1_000));
});

test("a clock that was set back takes no time before an earlier one", async () => {
  const { id, path } = await makePost();
  const tag = await service.create("tags");
  const other = await makePost({ tagId: tag.id });
  const third = await makePost();
  now = start - 60_000;
  const patched = await send("PATCH", path, { title: "b" });
  const json = { id, title: "b", createdAt: at(), updatedAt: at() };
  check(patched, { status: 200, json });
  assert.equal(await requirePost(path, json, 2), at());
  check(await send("DELETE", tag.path), { status: 205 });
  const cleared = (await send("GET", other.path)).json as Record<string, unknown>;
  assert.deepEqual([cleared.tagId, cleared.updatedAt], [undefined, cleared.createdAt]);
  const answer = await batch(
    { method: "POST", path: "/posts", body: {} },
    { method: "PUT", path: `/posts/${third.id}`, body: { id: third.id, n: 1 } },
  );
  const times = resultsOf(answer).map(({ body }) => body.updatedAt);
  assert.deepEqual(times, [third.body.createdAt, third.body.createdAt]);
});

test("a resource is restored no earlier than it was deleted, also where the clock was set back", async () => {
  const { id, path } = await makePost();
  now = start + 1_000;
  check(await send("DELETE", path), { status: 205 });
  now = start - 60_000;
  const restored = await send("POST", `${path}/_restore`, { version: 1 });
  check(restored, { status: 201, json: { id, title: "a", createdAt: at(), updatedAt: at(1_000) } });
  const changes = (await send("GET", `${path}/_changes`)).json as { at: string }[];
  assert.deepEqual(
    changes.map((change) => change.at),
    [at(1_000), at(1_000), at()],
  );
});

test("lists filter and sort by the times, and know their names", async () => {
  const early = await makePost({ title: "lists", n: 1 });
  const late = await makePost({ title: "lists", n: 2 });
  const idsOf = async (query: string) => {
    const answer = await send("GET", `${path}?title=lists&${query}`);
    assert.equal(answer.status, 200, answer.text);
    return (answer.json as { id: string }[]).map(({ id }) => id);
  };
  assert.deepEqual(await idsOf("sort=-updatedAt"), [late.id, early.id]);
  assert.deepEqual(await idsOf(`createdAt=${at()}`), [early.id]);
  assert.deepEqual(await idsOf(`createdAt:gt=${at()}`), [late.id]);
  assert.deepEqual(await idsOf("fields=updatedAt&sort=createdAt"), [early.id, late.id]);
  const misspelled = await send("GET", `${path}?sort=updatdAt`);
  check(misspelled, { status: 400 });
  assert.match(misspelled.text, /Did you mean \\"updatedAt\\"/);
  check(await send("GET", `${path}?createdAt.day=1`), { status: 400 });
});

test("the schema does not judge what is sent under their names, and refuses others as before", async () => {
  check(await send("POST", path, { createdAt: [1], updatedAt: null }), { status: 201 });
  const violations = [{ pointer: "#/createdOn", code: "unknownAttribute" }];
  check(await send("POST", path, { createdOn: 1 }), {
    status: 400,
    problem: "VALIDATION_FAILED",
    violations,
  });
});
