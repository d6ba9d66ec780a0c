import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ceilingMs, machineTime, until } from "../until.ts";
import { check, readDated, unknownId } from "./check.ts";
import { jsonType, startServiceForFile } from "./service.ts";

const service = await startServiceForFile();

const topics = "/api/v1/topics";

describe("a read", () => {
  test("answers 200 with the whole resource", async () => {
    const { id, path } = await service.create("topics", {
      title: "One",
      nested: { a: [1, 2] },
      nothing: null,
    });
    const answer = await service.send({ path });
    check(answer, {
      status: 200,
      headers: { "Content-Type": jsonType, ETag: '"1"', "Cache-Control": "no-cache", Location: undefined },
      json: { id, title: "One", nested: { a: [1, 2] }, nothing: null },
    });
  });

  test("has Last-Modified, rounded up to the second, once that is past", async () => {
    const earliest = Math.ceil(machineTime() / 1_000) * 1_000;
    const { path } = await service.create("topics", { title: "Timed" });
    const latest = Math.ceil(machineTime() / 1_000) * 1_000;
    const answer = await readDated(service, path);
    const lastModified = Date.parse(answer.headers["last-modified"] ?? "");
    check(answer, { status: 200, headers: { "Last-Modified": new Date(lastModified).toUTCString() } });
    assert.ok(earliest <= lastModified && lastModified <= latest);
    assert.ok(lastModified <= machineTime(), "it came before its time");
    const head = await service.send({ method: "HEAD", path });
    check(head, { status: 200, headers: { "Last-Modified": answer.headers["last-modified"] } });
  });

  test("has the same header lines as ever, with these names in this order", async () => {
    const { id } = await service.create("topics", { title: "Lines" });
    const connection = await service.connect();
    connection.write(`GET ${topics}/${id} HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: mine\r\n\r\n`);
    await until("the response is complete", () => connection.received.endsWith("}"));
    const [head = ""] = connection.received.split("\r\n\r\n");
    const lines = head.split("\r\n").filter((line) => !line.startsWith("last-modified: ")); // once it is past
    assert.deepEqual(
      lines.map((line) => line.replace(/^Date: .*/, "Date")),
      [
        "HTTP/1.1 200 OK",
        "content-type: application/json; charset=utf-8",
        "cache-control: no-cache",
        'etag: "1"',
        "content-length: 61",
        "x-request-id: mine",
        "x-content-type-options: nosniff",
        "content-security-policy: default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
        "referrer-policy: no-referrer",
        "vary: Accept, Accept-Encoding, Origin",
        "Date",
        "Connection: keep-alive",
        `Keep-Alive: timeout=${(2 * ceilingMs) / 1_000}`, // the services of the tests
      ],
    );
    connection.close();
  });

  test("by HEAD has the same fields as by GET, and no content", async () => {
    const { path } = await service.create("topics", { title: "Head — ü 😀" });
    const get = await readDated(service, path);
    const head = await service.send({ method: "HEAD", path });
    check(head, { status: 200 });
    assert.equal(head.headers["content-length"], String(Buffer.byteLength(get.text)));
    const same = (headers: typeof get.headers) => ({ ...headers, date: "", "x-request-id": "" });
    assert.deepEqual(same(head.headers), same(get.headers));
  });

  test("ignores content and its Content-Type", async () => {
    const { path, body } = await service.create("topics", { title: "Content" });
    const headers = { "Content-Type": "text/plain", "Content-Length": "5" };
    check(await service.send({ path, headers, body: "hello" }), { status: 200, json: body });
    check(await service.send({ path, headers: { "Content-Type": "image/png" } }), {
      status: 200,
      json: body,
    });
    check(await service.send({ path: topics, headers, body: "hello" }), { status: 200 });
    check(await service.send({ path }), { status: 200, json: body });
  });

  test("at a path with one trailing slash finds the resource", async () => {
    const { path, body } = await service.create("topics", { title: "Slash" });
    check(await service.send({ path: `${path}/` }), { status: 200, json: body });
  });

  test("takes the id as it is percent-encoded, once", async () => {
    const { id, body } = await service.create("topics", { title: "Encoded" });
    const encoded = id.replaceAll("-", "%2D").replace(/^0/, "%30");
    check(await service.send({ path: `${topics}/${encoded}` }), { status: 200, json: body });
    check(await service.send({ path: `${topics}/${encoded.replaceAll("%", "%25")}` }), { status: 404 });
  });

  test("of one collection does not find the resources of another", async () => {
    const { id } = await service.create("topics", { title: "Mine" });
    await service.create("users", { name: "Other" });
    check(await service.send({ path: `/api/v1/users/${id}` }), { status: 404 });
    check(await service.send({ path: `/api/v1/Topics/${id}` }), { status: 404 });
  });

  const odd = [
    unknownId,
    "1",
    "nope",
    "a%20b",
    "%00",
    "%2e",
    "%2e%2e",
    "%252e%252e",
    "..%2f..%2fusers",
    "%5c",
    "a%2fb",
    "%22",
    "'",
    ";drop",
    "%F0%9F%98%80",
    "x".repeat(101),
    "x".repeat(2_000),
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "null",
    "undefined",
    "NaN",
    "-1",
    "1e3",
    "*",
  ];
  for (const id of odd)
    test(`of the unknown id ${id.slice(0, 40)} is an empty 404, also by HEAD`, async () => {
      check(await service.send({ path: `${topics}/${id}` }), { status: 404, headers: { ETag: undefined } });
      const head = await service.send({ method: "HEAD", path: `${topics}/${id}` });
      assert.equal(head.status, 404);
      assert.equal(head.text, "");
      assert.equal(head.headers["content-type"], undefined);
    });

  test("of an id in upper case is a 404: ids are compared as text", async () => {
    const { id } = await service.create("topics", { title: "Case" });
    const upper = id.toUpperCase();
    if (upper !== id) check(await service.send({ path: `${topics}/${upper}` }), { status: 404 });
  });
});
