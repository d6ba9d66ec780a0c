import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import { check, linkTo } from "./check.ts";
import { type Made, type Service, startFor, startService } from "./service.ts";

let service: Service;
let made: Made;
before(async () => {
  service = await startService();
  made = await service.create("topics", { title: "Here" });
});
after(() => service.stop());

/** Sends a request target that no HTTP client would let through. */
async function target(path: string, method = "GET") {
  const connection = await service.connect();
  connection.write(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  return connection.answer(method).finally(() => connection.close());
}

describe("a path that is neither a collection nor a resource", () => {
  for (const path of [
    ...["/", "//", "/topics", "/api", "/api/", "/api/v1//", "/api/v2/topics", "/api/v10/topics"],
    ...["/API/v1/topics", "/api/V1/topics", "/api/v1/topics//", "/api/v1//topics", "//api/v1/topics"],
    ...[
      "/api//v1/topics",
      "/api/v1/topics/a/b",
      "/api/v1/topics/a//",
      "/api/v1/topics//a",
      "/api/v1/topics/a/b/c/d",
    ],
    ...[
      "//evil.example/api/v1/topics",
      "/api/v1/../v1/topics",
      "/api/v1/./topics",
      "/api/v1/users/../topics",
    ],
    ...[
      "/api/v1/%2e%2e/topics",
      "/api%2fv1/topics",
      "/api/v1%2ftopics",
      "/api/v1/topics;x=1",
      "/api/v1\\topics",
    ],
    ...["/api/v1/_event", "/api/v1/_webhook", "/api/v1/_", "/api/v1/_x/1", "/api/v1/__proto__"],
    ...["/api/v1/__proto__/x", "/api/v1/1abc", "/api/v1/-abc", "/api/v1/a.b", "/api/v1/a~b", "/api/v1/a%20b"],
    ...["/api/v1/%00", "/api/v1/t%2fopics", "/api/v1/caf%C3%A9", "/api/v1/a:b", "/api/v1/a,b", "/api/v1/*"],
    ...[
      `/api/v1/${"a".repeat(64)}`,
      "/api/v1/%5Fevent",
      "/favicon.ico",
      "/openapi.yaml",
      "/api/v1/%74%6fpics%2f",
    ],
  ])
    test(`${path.slice(0, 50)} is an empty 404 for every method`, async () => {
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
        check(await service.send({ method, path }), { status: 404, headers: { Allow: undefined } });
      assert.equal((await service.send({ method: "HEAD", path })).status, 404);
    });
});

describe("a path that cannot be decoded", () => {
  for (const path of [
    ...["/api/v1/topics/%zz", "/api/v1/%zz", "/%zz", "/nowhere/%zz", "/api/v1/topics/%", "/api/v1/topics/%2"],
    ...["/api/v1/topics/%ff", "/api/v1/topics/%c0%af", "/api/v1/topics/%ed%a0%80", "/api/v1/topics/a/%zz"],
  ])
    test(`${path} is a 400 for every method`, async () => {
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "TRACE"])
        check(await service.send({ method, path }), { status: 400, problem: "INVALID_PARAMETER" });
    });
});

describe("a collection's name", () => {
  for (const name of [
    ...["topics", "blogPosts", "blog_posts", "blog-posts", "T", "a1", "a_", "a-", "a".repeat(63)],
    ...[
      "constructor",
      "toString",
      "hasOwnProperty",
      "prototype",
      "valueOf",
      "null",
      "undefined",
      "size",
      "get",
    ],
    ...["livez", "problems", "id"],
  ])
    test(`may be ${name.slice(0, 30)}`, async () => {
      const path = `/api/v1/${name}`;
      if (name !== "topics") check(await service.send({ path }), { status: 200, json: [] });
      check(await service.send({ path: `${path}/constructor` }), { status: 404 });
      const one = await service.create(name, { constructor: 1, toString: { a: 2 } });
      check(await service.send({ path: one.path }), { status: 200, json: one.body });
      const list = await service.send({ path });
      assert.equal(list.headers["content-range"], name === "topics" ? "topics 0-1/2" : `${name} 0-0/1`);
      check(await service.send({ method: "DELETE", path: one.path }), { status: 205 });
    });

  test("is decoded once, and keeps its case", async () => {
    check(await service.send({ path: "/api/v1/%74opics" }), { status: 200, json: [made.body] });
    check(await service.send({ path: "/api/v1/%2574opics" }), { status: 404 });
    check(await service.send({ path: "/api/v1/TOPICS" }), { status: 200, json: [] });
  });

  test("in a Location is as it was asked for, decoded", async () => {
    const answer = await service.send({ method: "POST", path: "/api/v1/%75sers", content: {} });
    const { id } = answer.json as { id: string };
    check(answer, { status: 201, headers: { Location: `/api/v1/users/${id}` } });
  });
});

describe("a request target", () => {
  test("in absolute form is read", async () => {
    const answer = await target(`http://localhost:${service.port}${made.path}`);
    assert.equal(answer.status, 200);
    assert.deepEqual(JSON.parse(answer.body), made.body);
    const list = await target(`http://localhost:${service.port}/api/v1/topics?limit=1`);
    assert.equal(list.status, 200);
    const expected = linkTo('</api/v1/topics?limit=1>; rel="first"', "/api/v1/topics/_events");
    assert.match(list.headers.link ?? "", expected);
  });

  test("in absolute form without a path is a 404", async () => {
    assert.equal((await target("http://localhost")).status, 404);
    assert.equal((await target("http://localhost/")).status, 404);
  });

  test("in absolute form for another host is not ours, whatever Host says", async () => {
    assert.equal((await target(`http://evil.example${made.path}`)).status, 421);
  });

  for (const odd of [
    "topics",
    "http:",
    "http://",
    "http://[",
    "api/v1/topics",
    "*",
    "/api/v1/topics#x",
    "ftp://x/y",
  ])
    test(`${odd} never fails the service`, async () => {
      const text = await service.raw(`GET ${odd} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      assert.match(text, /^HTTP\/1\.1 4\d\d |^HTTP\/1\.1 200 /);
    });

  test("of any bytes gives an answer that is none of our faults", async () => {
    const piece = fc.constantFrom(
      ...[
        "/",
        "//",
        "api",
        "v1",
        "topics",
        "%",
        "%2",
        "%2f",
        "%2e",
        "%ff",
        "%00",
        "..",
        ".",
        "?",
        "&",
        "=",
        "limit",
      ],
      ...[
        "cursor",
        "#",
        ";",
        ":",
        "@",
        "__proto__",
        "constructor",
        "_",
        "\\",
        '"',
        "<",
        "{",
        "|",
        "^",
        "~",
        made.id,
      ],
    );
    const method = fc.constantFrom("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY");
    await fc.assert(
      fc.asyncProperty(
        method,
        fc.array(piece, { maxLength: 8 }),
        fc.boolean(),
        async (verb, pieces, below) => {
          const path = `${below ? "/api/v1/topics/" : "/"}${pieces.join("")}`;
          if (verb === "DELETE" && path.includes(made.id)) return;
          const answer = await service.send({ method: verb, path, headers: { "Content-Length": "0" } });
          assert.ok(answer.status < 500);
        },
      ),
      { numRuns: 300 },
    );
    check(await service.send({ path: made.path }), { status: 200 });
  });
});

describe("a parameter", () => {
  test("where none is taken is a 400 that names it", async () => {
    const { id } = made;
    const requests = [
      { path: made.path },
      { method: "PUT", path: made.path, content: { id } },
      { method: "PATCH", path: made.path, content: { a: 1 } },
      { method: "DELETE", path: made.path },
      { method: "POST", path: "/api/v1/topics", content: {} },
    ];
    for (const request of requests)
      for (const name of ["x", "limit", "field", "constructor"])
        check(await service.send({ ...request, path: `${request.path}?${name}=1` }), {
          status: 400,
          problem: "INVALID_PARAMETER",
          violations: [{ in: "query", name }],
        });
    check(await service.send({ method: "HEAD", path: `${made.path}?_x=1` }), { status: 400 });
    check(await service.send({ path: made.path }), {
      status: 200,
      headers: { ETag: '"1"' },
      json: made.body,
    });
  });
});

describe("another prefix", () => {
  for (const prefix of ["/v7", "", "/a/b/c"])
    test(`"${prefix}" is where the collections are, and what links begin with`, async (t) => {
      const other = await startFor(t, { prefix });
      const { id, path } = await other.create("topics", { a: 1 });
      await other.create("topics", { a: 2 });
      check(await other.send({ path: `${prefix}/topics/${id}` }), { status: 200, json: { id, a: 1 } });
      const list = await other.send({ path: `${prefix}/topics?limit=1` });
      assert.ok((list.headers.link ?? "").startsWith(`<${prefix}/topics?limit=1&cursor=`));
      check(await other.send({ method: "PUT", path, content: { id } }), {
        status: 200,
        headers: { "Content-Location": `${prefix}/topics/${id}` },
      });
      const created = await other.send({ method: "POST", path: `${prefix}/topics`, content: {} });
      assert.ok((created.headers.location ?? "").startsWith(`${prefix}/topics/`));
      check(await other.send({ path: "/api/v1/topics" }), { status: 404 });
      check(await other.send({ path: "/livez" }), {
        status: 200,
        headers: { "Cache-Control": "no-store" },
      });
    });
});
