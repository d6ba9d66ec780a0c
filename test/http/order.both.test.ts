import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check, unknownId } from "./check.ts";
import { runScenarios, type Scenario } from "./scenarios.ts";
import { jsonType, startServiceForFile } from "./service.ts";

const service = await startServiceForFile({ limits: { bodyBytes: 2_000 } });

const collection = "/api/v1/topics";
const item = "/api/v1/topics/<id>";
const unknown = `/api/v1/topics/${unknownId}`;
const foreign = { Host: "example.org" };
const html = { Accept: "text/html" };
const text = { "Content-Type": "text/plain" };
const typed = { "Content-Type": jsonType };
const stale = { "If-Match": '"7"' };
const big = `{"a":"${"x".repeat(3_000)}"}`;

/** Two things are wrong with each request; the name says which one wins. */
const scenarios: Scenario[] = [
  {
    name: "a foreign Host before a long target",
    path: `/${"x".repeat(8_000)}`,
    headers: foreign,
    status: 421,
  },
  { name: "a foreign Host before an undecodable path", path: "/%zz", headers: foreign, status: 421 },
  { name: "a foreign Host before an unknown path", path: "/nowhere", headers: foreign, status: 421 },
  { name: "a long target before an undecodable path", path: `/%zz${"x".repeat(8_000)}`, status: 414 },
  { name: "an undecodable path before an unknown path", path: "/nowhere/%zz", status: 400 },
  { name: "an undecodable path before a wrong method", method: "TRACE", path: "/api/v1/%zz", status: 400 },
  { name: "an unknown path before a wrong method", method: "TRACE", path: "/nowhere", status: 404 },
  { name: "an unknown path before an unknown parameter", path: "/nowhere?_x=1", status: 404 },
  { name: "an unknown path before Expect", path: "/nowhere", headers: { Expect: "banana" }, status: 404 },
  { name: "an unknown path before Accept", path: "/nowhere", headers: { Accept: "text/csv" }, status: 404 },
  { name: "an unknown path below the prefix before Accept", path: "/api/v1/_x", headers: html, status: 404 },
  {
    name: "a wrong method before Content-Type",
    method: "PUT",
    path: collection,
    headers: text,
    body: "x",
    status: 405,
  },
  { name: "a wrong method before Accept", method: "PUT", path: collection, headers: html, status: 405 },
  { name: "a wrong method before a parameter", method: "DELETE", path: `${collection}?_x=1`, status: 405 },
  {
    name: "a wrong method before Expect",
    method: "PUT",
    path: collection,
    headers: { Expect: "x" },
    status: 405,
  },
  { name: "a wrong method before the lookup", method: "POST", path: unknown, content: {}, status: 405 },
  {
    name: "Expect before Content-Type",
    method: "POST",
    path: collection,
    headers: { ...text, Expect: "banana" },
    body: "x",
    status: 417,
  },
  {
    name: "Expect before Accept and the lookup",
    method: "GET",
    path: unknown,
    headers: { ...html, Expect: "banana" },
    status: 417,
  },
  {
    name: "Content-Type before Accept",
    method: "POST",
    path: collection,
    headers: { ...text, ...html },
    body: "x",
    status: 415,
  },
  {
    name: "Content-Type before a parameter",
    method: "POST",
    path: `${collection}?_x=1`,
    headers: text,
    body: "x",
    status: 415,
  },
  {
    name: "Content-Type of a PUT before the lookup",
    method: "PUT",
    path: unknown,
    headers: text,
    body: "x",
    status: 415,
  },
  {
    name: "Content-Type of a PATCH before the lookup",
    method: "PATCH",
    path: unknown,
    headers: text,
    body: "x",
    status: 415,
  },
  {
    name: "Content-Encoding before the lookup",
    method: "PUT",
    path: unknown,
    headers: { ...typed, "Content-Encoding": "gzip" },
    body: "{}",
    status: 415,
  },
  {
    name: "Content-Type before preconditions",
    given: {},
    method: "PUT",
    path: item,
    headers: { ...text, ...stale },
    body: "x",
    status: 415,
    unchanged: true,
  },
  {
    name: "a long body before the lookup",
    method: "PUT",
    path: unknown,
    headers: typed,
    body: big,
    status: 413,
  },
  {
    name: "a long body before Accept",
    method: "POST",
    path: collection,
    headers: { ...typed, ...html },
    body: big,
    status: 413,
  },
  { name: "Accept before a parameter", path: `${collection}?_x=1`, headers: html, status: 406 },
  { name: "Accept before the lookup", path: unknown, headers: html, status: 406 },
  {
    name: "Accept of a PUT before the lookup",
    method: "PUT",
    path: unknown,
    headers: html,
    content: {},
    status: 406,
  },
  {
    name: "Accept before preconditions",
    given: {},
    path: item,
    headers: { ...html, "If-None-Match": "*" },
    status: 406,
  },
  {
    name: "Accept before bad content",
    method: "POST",
    path: collection,
    headers: { ...typed, ...html },
    body: "{",
    status: 406,
  },
  {
    name: "a parameter before the lookup",
    path: `${unknown}?_x=1`,
    status: 400,
    problem: "INVALID_PARAMETER",
  },
  {
    name: "a parameter before the lookup of a DELETE",
    method: "DELETE",
    path: `${unknown}?_x=1`,
    status: 400,
    problem: "INVALID_PARAMETER",
  },
  {
    name: "a parameter before preconditions",
    given: {},
    method: "DELETE",
    path: `${item}?_x=1`,
    headers: stale,
    status: 400,
    problem: "INVALID_PARAMETER",
    unchanged: true,
  },
  {
    name: "a parameter before bad content",
    method: "POST",
    path: `${collection}?_x=1`,
    headers: typed,
    body: "{",
    status: 400,
    problem: "INVALID_PARAMETER",
  },
  { name: "the lookup before preconditions", method: "DELETE", path: unknown, headers: stale, status: 404 },
  {
    name: "the lookup before bad content",
    method: "PUT",
    path: unknown,
    headers: typed,
    body: "{",
    status: 404,
  },
  {
    name: "the lookup before another id",
    method: "PUT",
    path: unknown,
    content: { id: "other" },
    status: 404,
  },
  { name: "the lookup before no content", method: "PATCH", path: unknown, status: 404 },
  {
    name: "the lookup before Content-Range",
    method: "PUT",
    path: unknown,
    headers: { "Content-Range": "bytes 0-1/2" },
    content: { id: unknownId },
    status: 404,
  },
  ...["PUT", "PATCH"].map(
    (method): Scenario => ({
      name: `preconditions of a ${method} before bad content`,
      given: {},
      method,
      path: item,
      headers: { ...typed, ...stale },
      body: "{",
      status: 412,
      unchanged: true,
    }),
  ),
  {
    name: "preconditions before Content-Range",
    given: {},
    method: "PUT",
    path: item,
    headers: { ...stale, "Content-Range": "bytes 0-1/2" },
    content: { id: "<id>" },
    status: 412,
    unchanged: true,
  },
  {
    name: "preconditions before a missing id",
    given: {},
    method: "PUT",
    path: item,
    headers: stale,
    content: {},
    status: 412,
    unchanged: true,
  },
  {
    name: "Content-Range before bad content",
    given: {},
    method: "PUT",
    path: item,
    headers: { ...typed, "Content-Range": "bytes 0-1/2" },
    body: "{",
    status: 400,
    problem: "INVALID_PARAMETER",
    unchanged: true,
  },
  {
    name: "OPTIONS before Accept and parameters",
    method: "OPTIONS",
    path: `${item}?_x=1`,
    headers: html,
    status: 204,
  },
  {
    name: "a missing Content-Type and no content before the lookup is not a 415",
    method: "PUT",
    path: unknown,
    status: 404,
  },
];

describe("of two things that are wrong, the answer is about", () => {
  runScenarios(() => service, scenarios);
});

describe("an answer that needs no content", () => {
  const heads: [name: string, head: string, status: number][] = [
    ["404", `PUT ${unknown} HTTP/1.1\r\nContent-Type: application/json\r\n`, 404],
    ["405", `PUT ${collection} HTTP/1.1\r\nContent-Type: application/json\r\n`, 405],
    ["406", `POST ${collection} HTTP/1.1\r\nContent-Type: application/json\r\nAccept: text/html\r\n`, 406],
    ["415", `POST ${collection} HTTP/1.1\r\nContent-Type: text/plain\r\n`, 415],
  ];
  for (const [name, head, status] of heads)
    test(`(${name}) does not wait for it`, async () => {
      for (const framing of ["Content-Length: 1000", "Transfer-Encoding: chunked"]) {
        const connection = await service.connect();
        connection.write(`${head}Host: localhost\r\n${framing}\r\n\r\n`);
        const answer = await connection.answer("PUT");
        assert.equal(answer.status, status);
        connection.close();
      }
    });

  test("(412) does not wait for it", async () => {
    const { path } = await service.create("topics", {});
    const connection = await service.connect();
    connection.write(
      `PUT ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nIf-Match: "7"\r\n` +
        "Content-Length: 100\r\n\r\n",
    );
    assert.equal((await connection.answer("PUT")).status, 412);
    connection.close();
  });
});

describe("a version that changes while the content is on its way", () => {
  /** Sends a PUT as far as into its content. */
  async function beginPut(path: string, resource: unknown, fields = "") {
    const content = JSON.stringify(resource);
    const connection = await service.connect();
    connection.write(
      `PUT ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${fields}` +
        `Content-Length: ${content.length}\r\n\r\n${content.slice(0, 10)}`,
    );
    return { connection, rest: content.slice(10) };
  }

  test("fails If-Match all the same: it is judged again when it is written", async () => {
    const { id, path } = await service.create("topics", { n: 0 });
    const { connection, rest } = await beginPut(path, { id, n: 1 }, 'If-Match: "1"\r\n');
    await service.send({ path });
    check(await service.send({ method: "PATCH", path, content: { n: 2 } }), { status: 200 });
    connection.write(rest);
    const answer = await connection.answer("PUT");
    assert.equal(answer.status, 412);
    assert.equal(answer.headers.etag, '"2"');
    connection.close();
    check(await service.send({ path }), { status: 200, json: { id, n: 2 } });
  });

  test("is replaced when the client did not ask for the old one", async () => {
    const { id, path } = await service.create("topics", { n: 0 });
    const { connection, rest } = await beginPut(path, { id, n: 1 });
    await service.send({ path });
    await service.send({ method: "PATCH", path, content: { n: 2 } });
    connection.write(rest);
    const answer = await connection.answer("PUT");
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.etag, '"3"');
    connection.close();
  });

  test("is a 404 when the resource is gone", async () => {
    const { id, path } = await service.create("topics", { n: 0 });
    const { connection, rest } = await beginPut(path, { id, n: 1 });
    await service.send({ path });
    await service.send({ method: "DELETE", path });
    connection.write(rest);
    assert.equal((await connection.answer("PUT")).status, 404);
    connection.close();
  });
});
