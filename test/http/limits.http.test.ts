import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before, describe, test } from "node:test";
import { check } from "./check.ts";
import { type Connection, parseAnswers } from "./connection.ts";
import { jsonType, type Service, startFor, startService } from "./service.ts";

const topics = "/api/v1/topics";
const typed = { "Content-Type": jsonType };
const head = `POST ${topics} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;

/** A JSON object of exactly this many bytes. */
function objectOf(bytes: number): string {
  return `{"a":"${"x".repeat(bytes - 8)}"}`;
}

function problemCode(body: string): string {
  return (JSON.parse(body) as { code: string }).code;
}

describe("small limits", () => {
  let service: Service;
  before(async () => {
    service = await startService({
      limits: { bodyBytes: 1_000, page: 3, collections: 2, jsonDepth: 4, jsonMembers: 5, patchOperations: 3 },
    });
  });
  after(() => service.stop());

  test("content of the limit is taken, and one byte more is a 413 that closes", async () => {
    const fits = await service.send({ method: "POST", path: topics, headers: typed, body: objectOf(1_000) });
    check(fits, { status: 201 });
    const tooLarge = await service.send({
      method: "POST",
      path: topics,
      headers: typed,
      body: objectOf(1_001),
    });
    check(tooLarge, { status: 413, problem: "CONTENT_TOO_LARGE", headers: { Connection: "close" } });
  });

  test("a client that reads nothing before it has sent far too much still receives the 413", async () => {
    const socket = connect(service.port, "127.0.0.1").pause();
    await once(socket, "connect");
    socket.write(`${head}Content-Length: 8000000\r\n\r\n`);
    for (let sent = 0; sent < 8_000_000; sent += 100_000)
      await new Promise<void>((resolve, reject) =>
        socket.write("x".repeat(100_000), (error) => (error ? reject(error) : resolve())),
      );
    let received = "";
    for await (const part of socket.setEncoding("utf8")) received += part;
    assert.match(received, /^HTTP\/1\.1 413 .*CONTENT_TOO_LARGE/s);
  });

  test("content is measured in bytes", async () => {
    const body = `{"a":"${"ü".repeat(497)}"}`;
    const answer = await service.send({ method: "POST", path: topics, headers: typed, body });
    check(answer, { status: 413, problem: "CONTENT_TOO_LARGE" });
  });

  test("declared content over the limit is refused before it comes", async () => {
    const connection = await service.connect();
    connection.write(`${head}Content-Length: 1001\r\n\r\n`);
    const answer = await connection.answer("POST");
    assert.equal(answer.status, 413);
    assert.equal(answer.headers.connection, "close");
    assert.equal(problemCode(answer.body), "CONTENT_TOO_LARGE");
    await connection.untilClosed();
  });

  test("declared content over the limit is refused without 100 Continue", async () => {
    const connection = await service.connect();
    connection.write(`${head}Content-Length: 1001\r\nExpect: 100-continue\r\n\r\n`);
    assert.equal((await connection.answer("POST")).status, 413);
    await connection.untilClosed();
  });

  test("content in chunks is cut off where it passes the limit", async () => {
    const connection = await service.connect();
    connection.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
    for (let n = 0; n < 11; n++) connection.write(`64\r\n${"x".repeat(100)}\r\n`);
    const answer = await connection.answer("POST");
    assert.equal(answer.status, 413);
    assert.equal(answer.headers.connection, "close");
    assert.equal(problemCode(answer.body), "CONTENT_TOO_LARGE");
    await connection.untilClosed();
  });

  test("content in chunks within the limit is taken", async () => {
    const content = objectOf(1_000);
    const chunks = `1f4\r\n${content.slice(0, 500)}\r\n1f4\r\n${content.slice(500)}\r\n0\r\n\r\n`;
    const text = await service.raw(`${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`);
    assert.match(text, /^HTTP\/1\.1 201 /);
  });

  test("nothing that follows refused content is read", async () => {
    const { path } = await service.create("topics", {});
    const hidden = `DELETE ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    const text = await service.raw(
      `${head}Content-Length: 1001\r\n\r\n${hidden}${"x".repeat(1_001)}${hidden}`,
    );
    assert.equal(parseAnswers(text, "POST").length, 1);
    check(await service.send({ path }), { status: 200 });
  });

  test("PUT and PATCH have the same limit", async () => {
    const { id, path, body } = await service.create("topics", {});
    const large = { id, a: "x".repeat(1_000) };
    for (const method of ["PUT", "PATCH"])
      check(await service.send({ method, path, content: large }), {
        status: 413,
        problem: "CONTENT_TOO_LARGE",
      });
    check(await service.send({ path }), { status: 200, headers: { ETag: '"1"' }, json: body });
  });

  test("JSON is limited in depth and members", async () => {
    const send = (body: string) => service.send({ method: "POST", path: topics, headers: typed, body });
    check(await send('{"a":[[[]]]}'), { status: 201 });
    check(await send('{"a":[[[[]]]]}'), { status: 400, problem: "BODY_TOO_DEEP" });
    check(await send('{"a":1,"b":2,"c":3,"d":4,"e":5}'), { status: 201 });
    check(await send('{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}'), { status: 400, problem: "BODY_TOO_DEEP" });
    check(await send('{"z":{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}}'), {
      status: 400,
      problem: "BODY_TOO_DEEP",
    });
  });

  test("a JSON Patch is limited in operations", async () => {
    const { path } = await service.create("topics", {});
    const headers = { "Content-Type": "application/json-patch+json" };
    const operation = { op: "add", path: "/a", value: 1 };
    const patch = (n: number) =>
      service.send({ method: "PATCH", path, headers, content: Array.from({ length: n }, () => operation) });
    check(await patch(4), { status: 400, problem: "INVALID_PATCH" });
    check(await patch(3), { status: 200 });
  });

  test("what a patch makes is limited like content", async () => {
    const { path, body } = await service.create("topics", { a: "x".repeat(600) });
    const headers = { "Content-Type": "application/json-patch+json" };
    const content = [{ op: "copy", from: "/a", path: "/b" }];
    check(await service.send({ method: "PATCH", path, headers, content }), {
      status: 413,
      problem: "CONTENT_TOO_LARGE",
    });
    const merged = await service.send({ method: "PATCH", path, content: { b: "x".repeat(600) } });
    check(merged, { status: 413, problem: "CONTENT_TOO_LARGE" });
    check(await service.send({ path }), { status: 200, headers: { ETag: '"1"' }, json: body });
  });

  test("a page is limited", async () => {
    for (let n = 0; n < 2; n++) await service.create("topics", {});
    for (const query of ["", "?limit=3", "?limit=max"]) {
      const answer = await service.send({ path: `${topics}${query}` });
      assert.equal((answer.json as unknown[]).length, 3, query);
      assert.match(answer.headers["content-range"] ?? "", /^topics 0-2\//);
    }
    check(await service.send({ path: `${topics}?limit=4` }), { status: 400, problem: "INVALID_PARAMETER" });
  });

  test("collections beyond the cap are a 400 on their first create, and readable all the same", async () => {
    await service.create("second", {});
    const answer = await service.send({ method: "POST", path: "/api/v1/third", content: {} });
    check(answer, { status: 400, problem: "TOO_MANY_COLLECTIONS" });
    check(await service.send({ path: "/api/v1/third" }), { status: 200, json: [] });
    await service.create("second", {});
  });
});

describe("the request target", () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  test("of 8,000 octets is read, and one more is a 414", async () => {
    const path = (length: number) => `${topics}/${"x".repeat(length - topics.length - 1)}`;
    check(await service.send({ path: path(8_000) }), { status: 404 });
    check(await service.send({ path: path(8_001) }), { status: 414, problem: "URI_TOO_LONG" });
    check(await service.send({ path: path(20_000) }), { status: 414, problem: "URI_TOO_LONG" });
  });

  test("counts with its query", async () => {
    const path = `${topics}?limit=${"1".repeat(8_000)}`;
    const answer = await service.send({ path });
    check(answer, { status: 414, problem: "URI_TOO_LONG" });
    assert.match(
      (answer.json as { detail: string }).detail,
      /To request a list with longer parameters, send them in the body of a QUERY request\./,
    );
  });

  test("is as long as it is in front of any method", async () => {
    const path = `${topics}/${"x".repeat(8_000)}`;
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"])
      check(await service.send({ method, path }), { status: 414, problem: "URI_TOO_LONG" });
  });

  test("may be over the limit together with the fields of a usual size", async () => {
    const headers = { Cookie: "x".repeat(20_000) };
    check(await service.send({ path: topics, headers }), { status: 200 });
  });
});

describe("the header section", () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  test("of more than 32 KiB is a 431 that closes", async () => {
    const text = await service.raw(
      `GET ${topics} HTTP/1.1\r\nHost: localhost\r\nX-Large: ${"x".repeat(40_000)}\r\n\r\n`,
    );
    const [answer] = parseAnswers(text);
    assert.equal(answer?.status, 431);
    assert.equal(answer?.headers.connection, "close");
    if (answer?.body !== "") assert.equal(problemCode(answer?.body ?? ""), "HEADERS_TOO_LARGE");
  });

  test("of thousands of fields never fails the service", async () => {
    const fields = Array.from({ length: 3_000 }, (_, n) => `X${n}: y\r\n`).join("");
    const text = await service.raw(
      `GET ${topics} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${fields}\r\n`,
    );
    assert.match(text, /^HTTP\/1\.1 (200|4\d\d) /);
  });
});

describe("time", { concurrency: true }, () => {
  let service: Service;
  before(async () => {
    service = await startService({
      limits: { headersTimeoutMs: 600, requestTimeoutMs: 1_200, keepAliveTimeoutMs: 1_500 },
    });
  });
  after(async () => {
    const list = await service.send({ path: topics });
    await service.stop();
    assert.equal(list.text, "[]", "what ran out wrote nothing");
  });

  /** What came until the service closed: without the limits it would stay open for longer than the test waits. */
  async function cut(connection: Connection): Promise<string> {
    return connection.untilClosed().finally(() => connection.close());
  }

  function checkTimeout(text: string): void {
    const [answer] = parseAnswers(text);
    assert.equal(answer?.status, 408, text);
    assert.equal(answer?.headers.connection?.toLowerCase(), "close");
    if (answer?.body !== "") assert.equal(problemCode(answer?.body ?? ""), "REQUEST_TIMEOUT");
  }

  test("runs out for headers that do not end", async () => {
    const connection = await service.connect();
    connection.write(`GET ${topics} HTTP/1.1\r\nHost: local`);
    checkTimeout(await cut(connection));
  });

  test("runs out for headers that drip", async () => {
    const connection = await service.connect();
    connection.write(`GET ${topics} HTTP/1.1\r\nHost: localhost\r\n`);
    const drip = setInterval(() => connection.write("X: y\r\n"), 100);
    checkTimeout(await cut(connection).finally(() => clearInterval(drip)));
  });

  test("runs out for content that does not come", async () => {
    const connection = await service.connect();
    connection.write(`${head}Content-Length: 100\r\n\r\n{"a":`);
    checkTimeout(await cut(connection));
  });

  test("runs out for content that drips", async () => {
    const connection = await service.connect();
    connection.write(`${head}Transfer-Encoding: chunked\r\n\r\n2\r\n{ \r\n`);
    const drip = setInterval(() => connection.write("1\r\n \r\n"), 100);
    checkTimeout(await cut(connection).finally(() => clearInterval(drip)));
  });

  test("runs out for a connection that never says anything", async () => {
    const connection = await service.connect();
    await cut(connection);
  });

  test("runs out for a connection that is idle between requests, not before its own limit", async () => {
    const connection = await service.connect();
    const read = `GET ${topics} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    connection.write(read);
    assert.equal((await connection.answer()).status, 200);
    const asked = performance.now();
    connection.write(read);
    assert.equal((await connection.answer()).status, 200);
    await cut(connection);
    assert.ok(performance.now() - asked >= 1_500);
  });
});

test("a response repeats a long name of the request only a few times", async (t) => {
  const inner = { type: "object", properties: { n: { type: "number" } }, additionalProperties: false };
  const schema = { type: "object", additionalProperties: inner };
  const service = await startFor(t, { collections: { maps: { schema } } });
  const content = {
    ["y".repeat(300_000)]: Object.fromEntries(Array.from({ length: 90 }, (_, n) => [`o${n}`, 1])),
  };
  for (const request of [
    { method: "POST", path: "/api/v1/maps", content },
    { method: "QUERY", path: "/api/v1/maps", content: { filter: content } },
  ]) {
    const { status, text, json } = await service.send(request);
    assert.equal(status, 400);
    assert.ok(text.length < 6 * 300_000, `${text.length} characters`);
    assert.equal((json as { violations: unknown[] }).violations.length, 1);
  }
});
