import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check, unknownId } from "./check.ts";
import { parseAnswers } from "./connection.ts";
import { endpointTable } from "./endpoint-table.ts";
import { startServiceForFile } from "./service.ts";

const service = await startServiceForFile();

const collectionAllow = "GET, HEAD, POST, QUERY, OPTIONS";
const itemAllow = "GET, HEAD, PUT, PATCH, DELETE, OPTIONS";
const serviceDesc = '</openapi.json>; rel="service-desc"';
const acceptPatch =
  "application/merge-patch+json, application/json-patch+json, application/vnd.holdfast.update+json, application/json";

describe("OPTIONS", () => {
  for (const path of ["/api/v1/topics", "/api/v1/topics/", "/api/v1/topics?limit=1"])
    test(`of ${path} names what a collection takes`, async () => {
      check(await service.send({ method: "OPTIONS", path }), {
        status: 204,
        headers: {
          Allow: collectionAllow,
          "Accept-Post": "application/json",
          "Accept-Patch": undefined,
          "Accept-Query": "application/json",
          Link: serviceDesc,
        },
      });
    });

  test("of a resource names what it takes, whether it is there or not", async () => {
    const { path } = await service.create("topics", {});
    for (const target of [path, `${path}/`, `/api/v1/topics/${unknownId}`, "/api/v1/never/x"])
      check(await service.send({ method: "OPTIONS", path: target }), {
        status: 204,
        headers: {
          Allow: itemAllow,
          "Accept-Patch": acceptPatch,
          "Accept-Post": undefined,
          Link: serviceDesc,
        },
      });
  });

  test("of every path with lists names what QUERY takes, as each list does", () => {
    const withLists = endpointTable.paths.filter(({ methods }) => methods.get("GET")?.formats === "list");
    assert.ok(withLists.length >= 3);
    for (const { template, accept } of withLists)
      assert.equal(accept["accept-query"], "application/json", template);
  });

  test("of * answers for the whole service", async () => {
    const answer = await service.send({ method: "OPTIONS", path: "*" });
    check(answer, { status: 204 });
  });

  test("ignores Accept, content and its type", async () => {
    const headers = { Accept: "text/html", "Content-Type": "text/plain", "Content-Length": "2" };
    check(await service.send({ method: "OPTIONS", path: "/api/v1/topics", headers, body: "hi" }), {
      status: 204,
      headers: { Allow: collectionAllow },
    });
  });

  for (const path of ["/nowhere", "/api/v2/topics", "/api/v1/_nothing", "/api/v1/topics/a/b"])
    test(`of ${path}, which is nothing, is an empty 404`, async () => {
      check(await service.send({ method: "OPTIONS", path }), { status: 404, headers: { Allow: undefined } });
    });
});

describe("a method that the path does not have", () => {
  for (const method of ["PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "LOCK", "REPORT", "PURGE"])
    test(`${method} of a collection is a 405 with Allow`, async () => {
      for (const path of ["/api/v1/topics", "/api/v1/never/"])
        check(await service.send({ method, path }), {
          status: 405,
          problem: "METHOD_NOT_ALLOWED",
          headers: { Allow: collectionAllow, "Accept-Query": undefined },
        });
    });

  for (const method of ["POST", "QUERY", "TRACE", "PROPFIND", "MKCOL", "SEARCH"])
    test(`${method} of a resource is a 405 with Allow, whether it is there or not`, async () => {
      const { path } = await service.create("topics", {});
      for (const target of [path, `/api/v1/topics/${unknownId}`])
        check(await service.send({ method, path: target }), {
          status: 405,
          problem: "METHOD_NOT_ALLOWED",
          headers: { Allow: itemAllow },
        });
    });

  test("with content is a 405 all the same", async () => {
    check(await service.send({ method: "PUT", path: "/api/v1/topics", content: { id: "x" } }), {
      status: 405,
      problem: "METHOD_NOT_ALLOWED",
      headers: { Allow: collectionAllow },
    });
  });

  test("of nothing is an empty 404", async () => {
    for (const method of ["TRACE", "PROPFIND", "QUERY", "POST"])
      check(await service.send({ method, path: "/nowhere" }), { status: 404 });
  });

  for (const method of ["FROB", "get", "G=T"])
    test(`${method}, which is no method, is refused and the connection closed`, async () => {
      const text = await service.raw(`${method} /api/v1/topics HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      assert.match(text, /^HTTP\/1\.1 (400|501) /);
    });

  test("CONNECT is a 405, and what follows it is not read as a request", async () => {
    const next = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const text = await service.raw(
      `${next}CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n${next}`,
    );
    const [first, refused, ...others] = parseAnswers(text);
    assert.deepEqual([first?.status, refused?.status, others], [200, 405, []]);
    assert.match(refused?.headers.allow ?? "", /GET, .*DELETE/);
    assert.equal(refused?.headers.connection, "close");
    const { code, detail } = JSON.parse(refused?.body ?? "");
    assert.equal(code, "METHOD_NOT_ALLOWED");
    assert.match(detail, /is not a proxy/);
  });
});
