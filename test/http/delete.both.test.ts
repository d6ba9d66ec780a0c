import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check, unknownId } from "./check.ts";
import { startServiceForFile } from "./service.ts";

const service = await startServiceForFile();

const gone = {
  "Content-Length": "0",
  "Content-Type": undefined,
  ETag: undefined,
  "Cache-Control": "no-store",
};

describe("a delete", () => {
  test("answers 205 without content, and the resource is gone for every method", async () => {
    const { id, path } = await service.create("topics", { title: "Short-lived" });
    check(await service.send({ method: "DELETE", path }), { status: 205, headers: gone });
    for (const method of ["GET", "DELETE"])
      check(await service.send({ method, path }), { status: 404, headers: gone });
    for (const method of ["PUT", "PATCH"])
      check(await service.send({ method, path, content: { id } }), { status: 404, headers: gone });
    assert.equal((await service.send({ method: "HEAD", path })).status, 404);
  });

  test("takes the resource out of the list and the total", async () => {
    const { path } = await service.create("counted", { n: 1 });
    const { body } = await service.create("counted", { n: 2 });
    await service.send({ method: "DELETE", path });
    const list = await service.send({ path: "/api/v1/counted" });
    check(list, {
      status: 200,
      headers: { "X-Total-Count": "1", "Content-Range": "counted 0-0/1" },
      json: [body],
    });
  });

  test("of an unknown id is an empty 404", async () => {
    check(await service.send({ method: "DELETE", path: `/api/v1/topics/${unknownId}` }), {
      status: 404,
      headers: gone,
    });
    check(await service.send({ method: "DELETE", path: `/api/v1/never/${unknownId}` }), {
      status: 404,
      headers: gone,
    });
  });

  const ignored: [what: string, headers: Record<string, string>, body?: string][] = [
    ["Content-Type text/plain, as react-admin sends it", { "Content-Type": "text/plain" }],
    ["a Content-Type that is none", { "Content-Type": "what" }],
    ["text content", { "Content-Type": "text/plain", "Content-Length": "5" }, "hello"],
    ["broken JSON", { "Content-Type": "application/json", "Content-Length": "1" }, "{"],
    ["content without a Content-Type", { "Content-Length": "5" }, "hello"],
    ["Accept text/html", { Accept: "text/html" }],
    ["Accept application/problem+json", { Accept: "application/problem+json" }],
    ["Accept that rules out JSON", { Accept: "application/json;q=0" }],
  ];
  for (const [what, headers, body] of ignored)
    test(`ignores ${what}`, async () => {
      const { path } = await service.create("topics", {});
      const request = { method: "DELETE", path, headers, ...(body === undefined ? {} : { body }) };
      check(await service.send(request), { status: 205, headers: gone });
      check(await service.send(request), { status: 404, headers: gone });
    });

  test("at a path with one trailing slash deletes", async () => {
    const { path } = await service.create("topics", {});
    check(await service.send({ method: "DELETE", path: `${path}/` }), { status: 205, headers: gone });
  });

  test("never lets an id be used again", async () => {
    const first = await service.create("topics", {});
    await service.send({ method: "DELETE", path: first.path });
    const second = await service.create("topics", { id: first.id });
    assert.notEqual(second.id, first.id);
    check(await service.send({ path: first.path }), { status: 404 });
  });
});

describe("on one kept-alive connection", () => {
  test("the answer after a 205 or an empty 404 is read where it begins", async () => {
    const { path, body } = await service.create("topics", { title: "Still here" });
    const doomed = await service.create("topics", {});
    const connection = await service.connect();
    const request = (method: string, target: string) =>
      connection.write(`${method} ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    for (const status of [205, 404]) {
      request("DELETE", doomed.path);
      const answer = await connection.answer("DELETE");
      assert.equal(answer.status, status);
      assert.equal(answer.headers["content-length"], "0");
      assert.equal(answer.headers["transfer-encoding"], undefined);
      request("GET", path);
      const next = await connection.answer();
      assert.equal(next.status, 200);
      assert.deepEqual(JSON.parse(next.body), body);
    }
    connection.close();
  });
});
