import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check, linkTo } from "./check.ts";
import { type Answer, jsonType, type Made, startServiceForFile } from "./service.ts";

const service = await startServiceForFile();
const topics: Made[] = [];
for (let n = 0; n < 5; n++) topics.push(await service.create("topics", { n }));

const list = "/api/v1/topics";
const weak = /^W\/"\d+-[^"]+"$/;

function bodies(from: number, to: number): unknown[] {
  return topics.slice(from, to).map(({ body }) => body);
}

describe("a list", () => {
  test("answers all resources in id order with their total", async () => {
    const answer = await service.send({ path: list });
    check(answer, {
      status: 200,
      headers: {
        "Content-Type": jsonType,
        ETag: weak,
        "X-Total-Count": "5",
        "Content-Range": "topics 0-4/5",
        Link: linkTo('</api/v1/topics>; rel="first"', "/api/v1/topics/_events"),
        "Last-Modified": undefined,
      },
      json: bodies(0, 5),
    });
    assert.equal(answer.text, `[${topics.map(({ body }) => JSON.stringify(body)).join(",")}]`);
  });

  test("of a collection that was never used is empty", async () => {
    check(await service.send({ path: "/api/v1/never" }), {
      status: 200,
      headers: {
        "Content-Type": jsonType,
        ETag: weak,
        "X-Total-Count": "0",
        "Content-Range": "never */0",
        Link: linkTo('</api/v1/never>; rel="first"', "/api/v1/never/_events"),
      },
      json: [],
    });
  });

  test("of a collection whose resources are all gone is empty", async () => {
    const { path } = await service.create("emptied", {});
    await service.send({ method: "DELETE", path });
    check(await service.send({ path: "/api/v1/emptied" }), {
      status: 200,
      headers: { "X-Total-Count": "0", "Content-Range": "emptied */0" },
      json: [],
    });
  });

  test("by HEAD has the same fields as by GET, and no content", async () => {
    for (const path of [list, `${list}?limit=2`, "/api/v1/never"]) {
      const get = await service.send({ path });
      const head = await service.send({ method: "HEAD", path });
      check(head, { status: 200 });
      const same = (headers: Answer["headers"]) => ({ ...headers, date: "", "x-request-id": "" });
      assert.deepEqual(same(head.headers), same(get.headers));
    }
  });

  test("at a path with one trailing slash is the same, with links without it", async () => {
    check(await service.send({ path: `${list}/?limit=5` }), {
      status: 200,
      headers: { Link: linkTo('</api/v1/topics?limit=5>; rel="first"', "/api/v1/topics/_events") },
      json: bodies(0, 5),
    });
  });

  for (const range of ["topics=0-1", "bytes=0-9", "items=0-0", "nonsense"])
    test(`ignores Range: ${range}`, async () => {
      const answer = await service.send({ path: list, headers: { Range: range } });
      check(answer, { status: 200, headers: { "Content-Range": "topics 0-4/5" }, json: bodies(0, 5) });
    });
});

describe("a parameter of a list", () => {
  for (const query of [
    "limit=0",
    "limit=-1",
    "limit=abc",
    "limit=1.5",
    "limit=",
    "limit",
    "limit=1&limit=2",
    "limit=2&limit=2",
    "limit=0x10",
    "limit=NaN",
    "limit=Infinity",
    "limit=1%00",
  ])
    test(`${query} is a 400`, async () => {
      check(await service.send({ path: `${list}?${query}` }), {
        status: 400,
        problem: "INVALID_PARAMETER",
        violations: [{ in: "query", name: "limit" }],
      });
    });

  for (const name of [
    ...["range", "filter", "q", "count", "envelope", "cursor"],
    ...["version", "since", "wait", "embed", "expand", "include", "aggregate", "group"],
    ...["dryRun", "_x", "__proto__", "_Start", "title:", "title:is", "title:EQ", "a..b", ".a", "a."],
  ])
    test(`called ${name} is a 400 where it is 1`, async () => {
      const answer = await service.send({ path: `${list}?${name}=1` });
      assert.equal(answer.status, 400, answer.text);
      const { violations } = answer.json as { violations: { in: string; name: string }[] };
      assert.deepEqual(
        violations.map(({ in: place, name }) => [place, name]),
        [["query", name]],
      );
    });

  for (const name of ["title", "title:eq", "id", "Limit", "constructor", "toString", "limi", "count:eq"])
    test(`called ${name} is a filter, that no resource fits`, async () => {
      check(await service.send({ path: `${list}?${name}=1` }), { status: 200, json: [] });
    });

  test("is refused by HEAD as by GET", async () => {
    const answer = await service.send({ method: "HEAD", path: `${list}?limit=0` });
    check(answer, { status: 400 });
  });

  test("is not there when the question mark is alone", async () => {
    check(await service.send({ path: `${list}?` }), { status: 200, json: bodies(0, 5) });
  });
});

describe("the ETag of a list", () => {
  test("is the same until something is written, and changes with every write", async () => {
    const path = "/api/v1/tagged";
    const seen = new Set<string>();
    const changed = async () => {
      const { headers } = await service.send({ path });
      assert.match(headers.etag ?? "", weak);
      assert.equal((await service.send({ path })).headers.etag, headers.etag);
      assert.ok(!seen.has(headers.etag ?? ""), `${headers.etag} was there before`);
      seen.add(headers.etag ?? "");
    };
    await changed();
    const made = await service.create("tagged", { n: 1 });
    await changed();
    await service.create("tagged", { n: 2 });
    await changed();
    await service.send({ method: "PUT", path: made.path, content: { id: made.id, n: 3 } });
    await changed();
    await service.send({ method: "PATCH", path: made.path, content: { n: 4 } });
    await changed();
    await service.send({ method: "DELETE", path: made.path });
    await changed();
  });

  test("does not change with writes to another collection", async () => {
    const before = await service.send({ path: list });
    await service.create("elsewhere", {});
    assert.equal((await service.send({ path: list })).headers.etag, before.headers.etag);
  });

  test("answers If-None-Match with a 304 that has ETag, Cache-Control and Vary alone", async () => {
    const { headers } = await service.send({ path: list });
    const etag = headers.etag ?? "";
    for (const match of [etag, etag.slice(2), `"x", ${etag}`, "*"])
      for (const method of ["GET", "HEAD"])
        check(await service.send({ method, path: list, headers: { "If-None-Match": match } }), {
          status: 304,
          headers: { ETag: etag, "Cache-Control": "no-cache", Vary: headers.vary },
        });
    for (const match of ['W/"0-x"', '"x"', etag.replaceAll('"', "")])
      check(await service.send({ path: list, headers: { "If-None-Match": match } }), { status: 200 });
  });
});
