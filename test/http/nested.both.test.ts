/** Nested paths: the resources that refer to a resource. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { check } from "./check.ts";
import { linkOf } from "./follow.ts";
import { startServiceForFile } from "./service.ts";

const id = { type: "string", maxLength: 128 } as const;
const collections = {
  users: { schema: { type: "object", properties: { name: id } } },
  tags: { schema: { type: "object", properties: { name: id } } },
  counters: { id: "integer", schema: { type: "object", properties: { name: id } } },
  readings: {
    schema: {
      type: "object",
      properties: {
        counterIds: { $ref: "#/$defs/ids" },
        anyIds: { type: "array" },
        texts: { type: ["array", "null"], items: id },
      },
      $defs: { ids: { type: "array", items: { allOf: [{ type: "integer" }] } } },
    },
    references: {
      counterIds: { collection: "counters", inverse: "readings" },
      anyIds: { collection: "counters", inverse: "anyReadings" },
      texts: { collection: "counters", inverse: "textReadings" },
    },
  },
  notes: {
    indexes: ["counter", "author"],
    references: {
      counter: { collection: "counters", as: "of", inverse: "notes" },
      author: { collection: "users", as: "by", inverse: "notes" },
    },
  },
  articles: {
    schema: {
      type: "object",
      properties: {
        title: id,
        authorId: id,
        tagIds: { type: "array", items: id },
        at: { type: "object", properties: { counter: { type: "integer" } } },
      },
    },
    indexes: ["authorId"],
    references: {
      authorId: "users",
      tagIds: "tags",
      "at.counter": { collection: "counters", inverse: "counted" },
    },
  },
} as const;

const service = await startServiceForFile({ collections });

const get = (path: string, headers = {}) => service.send({ method: "GET", path, headers });
const titles = (json: unknown) => (json as { title: string }[]).map(({ title }) => title);
const nobody = "00000000-0000-7000-8000-000000000000";

test("a nested path lists the resources that refer to the resource", async () => {
  const ada = await service.create("users");
  const bob = await service.create("users");
  const tag = await service.create("tags");
  for (const title of ["b", "a", "c"])
    await service.create("articles", { title, authorId: ada.id, tagIds: [tag.id] });
  await service.create("articles", { title: "d", authorId: bob.id });
  const list = await get(`${ada.path}/articles`);
  check(list, { status: 200 });
  assert.deepEqual(titles(list.json), ["b", "a", "c"]);
  assert.deepEqual(titles((await get(`${ada.path}/articles/?sort=-title&fields=title`)).json), [
    "c",
    "b",
    "a",
  ]);
  assert.deepEqual(titles((await get(`${ada.path}/articles?title=a`)).json), ["a"]);
  assert.deepEqual(titles((await get(`${tag.path}/articles?sort=title`)).json), ["a", "b", "c"]);
  assert.deepEqual((await get(`${ada.path}/articles?authorId=${bob.id}`)).json, []);
  assert.deepEqual((await get(`${ada.path}/articles?authorId:eq=${bob.id}`)).json, []);
  const query = {
    method: "QUERY",
    path: `${ada.path}/articles`,
    content: { filter: { title: "b" }, limit: 1 },
  };
  const found = await service.send(query);
  check(found, { status: 200 });
  assert.deepEqual(titles(found.json), ["b"]);
  assert.equal(found.headers.location, `${ada.path}/articles?filter=%7B%22title%22%3A%22b%22%7D&limit=1`);
  const head = await service.send({ method: "HEAD", path: `${ada.path}/articles` });
  assert.equal(head.headers["content-length"], list.headers["content-length"]);
  const options = await service.send({ method: "OPTIONS", path: `${ada.path}/articles` });
  assert.equal(options.headers.allow, "GET, HEAD, POST, QUERY, OPTIONS");
});

test("its pages continue on the nested path, and its events are those of the collection", async () => {
  const { id: author, path } = await service.create("users");
  for (const title of ["a", "b", "c"]) await service.create("articles", { title, authorId: author });
  const first = await get(`${path}/articles?limit=2`);
  const next = linkOf(first, "next");
  assert.ok(next.startsWith(`${path}/articles?limit=2&cursor=`), next);
  assert.deepEqual(titles((await get(next)).json), ["c"]);
  const [, cursor = ""] = /cursor=(.*)$/.exec(next) ?? [];
  assert.deepEqual(titles((await get(`/api/v1/articles?authorId=${author}&cursor=${cursor}`)).json), ["c"]);
  const monitor = linkOf(first, "monitor");
  assert.ok(monitor.startsWith(`/api/v1/articles/_events?authorId:eq=${author}&since=`), monitor);
  await service.create("articles", { title: "d", authorId: author });
  await service.create("articles", { title: "e" });
  const events = (await get(monitor)).json as { data: { title: string } }[];
  assert.deepEqual(
    events.map(({ data }) => data.title),
    ["d"],
  );
  const clash = await get(`${path}/articles?authorId:eq=${author}`);
  assert.doesNotMatch(clash.headers.link ?? "", /monitor/);
});

test("a resource or relation that does not exist is 404 without content", async () => {
  const { path } = await service.create("users");
  const article = await service.create("articles", {});
  for (const each of [
    `/api/v1/users/${nobody}/articles`,
    `${path}/article`,
    `${article.path}/author`,
    `${path}/articles/${article.id}`,
    `/api/v1/nothing/${nobody}/articles`,
  ]) {
    check(await get(each), { status: 404 });
    check(await service.send({ method: "POST", path: each, content: {} }), { status: 404 });
  }
  check(await service.send({ method: "PUT", path: `${path}/articles`, content: {} }), { status: 405 });
});

test("a create on a nested path refers to the resource", async () => {
  const user = await service.create("users");
  const other = await service.create("users");
  const tag = await service.create("tags");
  const counter = await service.create("counters");
  const post = (path: string, content: unknown, headers = {}) =>
    service.send({ method: "POST", path, content, headers });
  const made = await post(`${user.path}/articles`, { title: "a" });
  check(made, { status: 201 });
  const created = made.json as { id: string };
  assert.equal(made.headers.location, `/api/v1/articles/${created.id}`);
  assert.deepEqual(created, { id: created.id, title: "a", authorId: user.id });
  check(await post(`${user.path}/articles`, { authorId: user.id }), { status: 201 });
  check(await post(`${tag.path}/articles`, { tagIds: [tag.id] }), { status: 201 });
  const tagged = (await post(`${tag.path}/articles`, {})).json as { tagIds: string[] };
  assert.deepEqual(tagged.tagIds, [tag.id]);
  const counted = (await post(`${counter.path}/counted`, { at: {} })).json as { at: object };
  assert.deepEqual(counted.at, { counter: Number(counter.id) });
  const refused = (pointer: string) =>
    ({
      status: 400,
      problem: "VALIDATION_FAILED",
      violations: [{ in: "body", pointer, code: "reference" }],
    }) as const;
  check(await post(`${user.path}/articles`, { authorId: other.id }), refused("#/authorId"));
  check(await post(`${user.path}/articles`, { authorId: null }), refused("#/authorId"));
  check(await post(`${tag.path}/articles`, { tagIds: [] }), refused("#/tagIds"));
  check(await post(`${counter.path}/counted`, { at: 5 }), refused("#/at/counter"));
  check(await post(`${counter.path}/counted`, { at: { counter: 0 } }), refused("#/at/counter"));
  const listed = (await get(`${counter.path}/counted`)).json as object[];
  assert.equal(listed.length, 1);
  const once = { "Idempotency-Key": "n1" };
  const first = await post(`${user.path}/articles`, { title: "once" }, once);
  const again = await post(`${user.path}/articles`, { title: "once" }, once);
  assert.equal(again.headers["idempotent-replayed"], "true");
  assert.deepEqual(again.json, first.json);
});

test("the reference has the type that the schema gives an id, and otherwise the type of the id", async () => {
  const counter = await service.create("counters");
  const user = await service.create("users");
  const made = async (path: string) => {
    const answer = await service.send({ method: "POST", path, content: {} });
    check(answer, { status: 201 });
    const { id: _, ...attributes } = answer.json as Record<string, unknown>;
    return attributes;
  };
  const number = Number(counter.id);
  assert.deepEqual(await made(`${counter.path}/readings`), { counterIds: [number] });
  assert.deepEqual(await made(`${counter.path}/anyReadings`), { anyIds: [number] });
  assert.deepEqual(await made(`${counter.path}/textReadings`), { texts: [String(number)] });
  assert.deepEqual(await made(`${counter.path}/notes`), { counter: number });
  assert.deepEqual(await made(`${user.path}/notes`), { author: user.id });
});

test("without a schema, a reference by a number and by a string lead to the same resource", async () => {
  const counter = await service.create("counters");
  await service.create("notes", { counter: Number(counter.id), n: 1 });
  await service.create("notes", { counter: String(counter.id), n: 2 });
  const ns = (json: unknown) => (json as { n: number }[]).map(({ n }) => n);
  assert.deepEqual(ns((await get(`${counter.path}/notes`)).json), [1, 2]);
  const first = await get(`${counter.path}/notes?limit=1`);
  const next = linkOf(first, "next");
  assert.deepEqual(ns((await get(next)).json), [2]);
  const { notes } = (await get(`${counter.path}?embed=notes(sort:counter)`)).json as { notes: unknown };
  assert.deepEqual(ns(notes), [1, 2]);
  assert.deepEqual(ns((await get(`/api/v1/notes?embed=of&of.id=${counter.id}`)).json), [1, 2]);
  assert.deepEqual(((await get("/api/v1/counters?notes.n=1&notes.n=1")).json as object[]).length, 1);
});

test("a batch has no nested paths", async () => {
  const { id: user } = await service.create("users");
  const operations = [{ method: "POST", path: `/users/${user}/articles`, body: {} }];
  const { status, json } = await service.send({
    method: "POST",
    path: "/api/v1/_batch",
    content: { operations },
  });
  assert.equal(status, 400);
  assert.equal((json as { code: string }).code, "OPERATION_NOT_FOUND");
});
