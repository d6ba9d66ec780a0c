import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check, readDated, unknownId } from "./check.ts";
import { allPages } from "./pages.ts";
import { startServiceForFile } from "./service.ts";

const service = await startServiceForFile();
const wide = await startServiceForFile({
  collections: {
    authors: { schema: { type: "object" } },
    large: {
      indexes: ["n"],
      schema: {
        type: "object",
        properties: {
          n: { type: "integer" },
          pad: { type: "string" },
          secret: { type: "string" },
          authorId: { type: "string" },
        },
      },
      references: { authorId: "authors" },
    },
  },
});
const made = await service.create("topics", { title: "One", body: { text: "…" }, n: 1 });
await service.create("topics", { n: 2, other: true });

const list = "/api/v1/topics";

describe("fields of a list", () => {
  test("cut every resource down, and keep the id and the order of its attributes", async () => {
    const plain = await service.send({ path: list });
    const answer = await service.send({ path: `${list}?fields=n,title` });
    check(answer, {
      status: 200,
      headers: { ETag: plain.headers.etag, "X-Total-Count": "2", "Content-Range": "topics 0-1/2" },
    });
    const [, second] = plain.json as { id: string }[];
    assert.equal(answer.text, `[{"id":"${made.id}","title":"One","n":1},{"id":"${second?.id}","n":2}]`);
  });

  test("with a minus sign are left out, also of one resource, of CSV and in QUERY", async () => {
    const [one, two] = (await service.send({ path: `${list}?fields=-body,-other` })).json as object[];
    assert.deepEqual(one, { id: made.id, title: "One", n: 1 });
    assert.deepEqual(Object.keys(two ?? {}), ["id", "n"]);
    check(await service.send({ path: `${made.path}?fields=-n,-body` }), {
      status: 200,
      json: { id: made.id, title: "One" },
    });
    const csv = await service.send({ path: `${list}?fields=-body&n=1`, headers: { Accept: "text/csv" } });
    assert.equal(csv.text, `id,title,n\r\n${made.id},One,1\r\n`);
    const content = { fields: ["-title", "-body"], filter: { n: 1 } };
    const query = await service.send({ method: "QUERY", path: list, content });
    check(query, { status: 200, json: [{ id: made.id, n: 1 }] });
    assert.match(String(query.headers.link), /_events\?[^>]*fields=-title,-body/);
    for (const [fields, detail] of [
      ["title,-n", 'both names attributes and leaves out "n". Do one of them'],
      ["-n,title", 'both names attributes and leaves out "n". Do one of them'],
      ["-id", 'leaves out "id", which each resource has in a response'],
      ["-body.text", 'names "body.text", but takes only whole attributes, such as "body"'],
    ] as const)
      check(await service.send({ path: `${list}?fields=${fields}` }), {
        status: 400,
        violations: [{ in: "query", name: "fields", code: "fields", detail }],
      });
  });

  test("stay in the links and cut an envelope's items", async () => {
    const answer = await service.send({ path: `${list}?fields=n&envelope=true&n=1` });
    const self = `${list}?fields=n&envelope=true&n=1`;
    check(answer, {
      status: 200,
      json: { items: [{ id: made.id, n: 1 }], total: 1, limit: 100, self, first: self },
    });
  });

  test("make a page as long as what it sends, whatever the store reads", async () => {
    // Each resource is too long for a page with two others.
    const { path: author } = await wide.create("authors", {});
    const authorId = author.split("/").at(-1);
    for (let n = 0; n < 20; n++)
      await wide.create("large", { n, pad: "x".repeat(900_000), secret: "s", authorId });
    const get = async (query: string) => {
      const answer = await wide.send({ path: `/api/v1/large?${query}` });
      check(answer, { status: 200 });
      const items = answer.json as Record<string, unknown>[];
      return { ns: items.map(({ n }) => n), items, link: answer.headers.link ?? "" };
    };
    const all = Array.from({ length: 20 }, (_, n) => n);
    for (const query of ["fields=n", "fields=n&sort=n", "fields=n&offset=0", "fields=n&limit=20"]) {
      const { ns, link } = await get(query);
      assert.deepEqual(ns, all, query);
      assert.doesNotMatch(link, /rel="next"/);
    }
    assert.deepEqual((await get("fields=n&sort=n&offset=3&limit=9")).ns, all.slice(3, 12));
    const { items } = await get("fields=n&embed=author");
    assert.deepEqual(items.at(-1), { id: items.at(-1)?.id, n: 19, author: { id: authorId } });
    assert.equal(items.length, 20);
    // The response ends where what it sends is too long, and the next page goes on there.
    const first = await get("fields=n,pad&sort=n");
    assert.deepEqual(first.ns, [0, 1]);
    const [, next = ""] = /<[^?]+\?([^>]+)>; rel="next"/.exec(first.link) ?? [];
    assert.deepEqual((await get(next)).ns, [2, 3]);
    // A list that no index makes fast ends where the store ends it.
    assert.equal((await get("fields=n&sort=authorId")).ns.length < 20, true);
  });

  test("read at most 32 MiB for one page", async () => {
    for (let n = 0; n < 20; n++) await wide.create("large", { n: 20 + n, pad: "x".repeat(900_000) });
    const pages = await allPages(wide.send, "/api/v1/large?fields=n&sort=n");
    assert.deepEqual(
      pages.map(({ json }) => (json as object[]).length),
      [32, 8],
    );
  });
});

describe("fields of a resource", () => {
  test("cut it down under its own ETag", async () => {
    const { headers } = await readDated(service, made.path);
    const answer = await service.send({ path: `${made.path}?fields=n,title` });
    check(answer, {
      status: 200,
      headers: { ETag: '"1"', "Last-Modified": headers["last-modified"] ?? "a date" },
    });
    assert.equal(answer.text, `{"id":"${made.id}","title":"One","n":1}`);
    check(await service.send({ path: made.path }), { status: 200, json: made.body });
  });

  test("work by HEAD and with preconditions", async () => {
    const path = `${made.path}?fields=n`;
    const { text } = await service.send({ path });
    const head = await service.send({ method: "HEAD", path });
    check(head, { status: 200, headers: { ETag: '"1"', "Content-Length": String(text.length) } });
    check(await service.send({ path, headers: { "If-None-Match": '"1"' } }), {
      status: 304,
      headers: { ETag: '"1"', Location: undefined },
    });
    check(await service.send({ path, headers: { "If-Match": '"2"' } }), {
      status: 412,
      problem: "PRECONDITION_FAILED",
    });
  });

  test("of one that is not there are an empty 404", async () => {
    check(await service.send({ path: `${list}/${unknownId}?fields=n` }), { status: 404 });
  });

  for (const query of ["field=n", "limit=1", "n=1", "sort=n", "fields=n&envelope=true"])
    test(`are the only parameter: ?${query} is a 400`, async () => {
      const name = query.startsWith("fields=n&") ? "envelope" : query.slice(0, query.indexOf("="));
      check(await service.send({ path: `${made.path}?${query}` }), {
        status: 400,
        problem: "INVALID_PARAMETER",
        violations: [{ in: "query", name, code: "unknownParameter" }],
      });
    });

  for (const query of ["fields=", "fields", "fields=a,,b"])
    test(`need names: ?${query} is a 400`, async () => {
      check(await service.send({ path: `${made.path}?${query}` }), {
        status: 400,
        problem: "INVALID_PARAMETER",
      });
    });

  test("are a 400 on everything that writes", async () => {
    const content = made.body;
    for (const method of ["PUT", "PATCH", "DELETE"])
      check(await service.send({ method, path: `${made.path}?fields=n`, content }), {
        status: 400,
        problem: "INVALID_PARAMETER",
      });
    check(await service.send({ method: "POST", path: `${list}?fields=n`, content: {} }), {
      status: 400,
      problem: "INVALID_PARAMETER",
    });
  });
});
