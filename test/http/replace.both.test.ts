import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check, readDated, unknownId } from "./check.ts";
import { runScenarios } from "./scenarios.ts";
import { jsonType, startServiceForFile } from "./service.ts";

const service = await startServiceForFile();

const item = "/api/v1/topics/<id>";
const typed = { "Content-Type": jsonType };

describe("a replacement", () => {
  test("answers 200 with the whole new resource; members not sent are gone", async () => {
    const { id, path } = await service.create("topics", { title: "Old", extra: 1 });
    const answer = await service.send({ method: "PUT", path, content: { id, title: "New" } });
    check(answer, {
      status: 200,
      headers: {
        "Content-Type": jsonType,
        "Content-Location": path,
        ETag: '"2"',
        Location: undefined,
      },
      json: { id, title: "New" },
    });
    const read = await service.send({ path });
    check(read, { status: 200, headers: { ETag: '"2"' }, json: { id, title: "New" } });
    assert.equal(read.text, answer.text);
  });

  test("puts the id first wherever it was sent", async () => {
    const { id, path } = await service.create("topics", {});
    const answer = await service.send({ method: "PUT", path, content: { z: 1, a: 2, id } });
    assert.equal(answer.text, `{"id":"${id}","z":1,"a":2}`);
  });

  test("with the same content raises nothing: same ETag, same Last-Modified", async () => {
    const { path, body } = await service.create("topics", { title: "Same", n: [1, 2] });
    const before = await readDated(service, path);
    const list = await service.send({ path: "/api/v1/topics" });
    const answer = await service.send({ method: "PUT", path, content: body });
    check(answer, {
      status: 200,
      headers: {
        ETag: '"1"',
        "Last-Modified": before.headers["last-modified"] ?? "a date",
        "Content-Location": path,
      },
      json: body,
    });
    const listAfter = await service.send({ path: "/api/v1/topics" });
    assert.equal(listAfter.headers.etag, list.headers.etag, "no change of the collection");
  });

  test("with the same members in another order is a change of the text", async () => {
    const { id, path } = await service.create("topics", { a: 1, b: 2 });
    const answer = await service.send({ method: "PUT", path, content: { id, b: 2, a: 1 } });
    check(answer, { status: 200, headers: { ETag: '"2"' } });
    assert.equal(answer.text, `{"id":"${id}","b":2,"a":1}`);
  });

  test("raises the version by one each time", async () => {
    const { id, path } = await service.create("topics", { n: 0 });
    for (let n = 1; n <= 11; n++) {
      const answer = await service.send({ method: "PUT", path, content: { id, n } });
      assert.equal(answer.headers.etag, `"${n + 1}"`);
    }
  });

  test("at a path with one trailing slash names the path without it", async () => {
    const { id, path } = await service.create("topics", {});
    const answer = await service.send({ method: "PUT", path: `${path}/`, content: { id, a: 1 } });
    check(answer, { status: 200, headers: { "Content-Location": path }, json: { id, a: 1 } });
  });

  test("of an unknown id creates nothing", async () => {
    const path = `/api/v1/fresh/${unknownId}`;
    check(await service.send({ method: "PUT", path, content: { id: unknownId } }), { status: 404 });
    check(await service.send({ path: "/api/v1/fresh" }), { status: 200, json: [] });
  });
});

const mismatches: [what: string, id: unknown][] = [
  ["another id", unknownId],
  ["an empty id", ""],
  ["a number", 1],
  ["null", null],
  ["true", true],
  ["an array of the id", ["<id>"]],
  ["an object", { id: "<id>" }],
  ["the id with a blank", "<id> "],
];

describe("a replacement that is refused", () => {
  runScenarios(
    () => service,
    [
      ...[
        { what: "no Content-Type", headers: {} },
        { what: "Content-Type text/plain", headers: { "Content-Type": "text/plain" } },
        { what: "a merge patch", headers: { "Content-Type": "application/merge-patch+json" } },
        { what: "charset utf-16", headers: { "Content-Type": "application/json; charset=utf-16" } },
      ].map(({ what, headers }) => ({
        name: `for ${what} is a 415 that says what is taken`,
        headers,
        body: '{"id":"<id>"}',
        status: 415,
        problem: "UNSUPPORTED_MEDIA_TYPE" as const,
        responseHeaders: {
          Accept: "application/json",
          "Accept-Encoding": undefined,
          "Accept-Patch": undefined,
        },
      })),
      {
        name: "for a content coding is a 415 that says that none is taken",
        headers: { ...typed, "Content-Encoding": "br" },
        body: '{"id":"<id>"}',
        status: 415,
        problem: "UNSUPPORTED_CONTENT_CODING" as const,
        responseHeaders: { "Accept-Encoding": "identity", Accept: undefined },
      },
      {
        name: "for a Content-Range is a 400",
        headers: { "Content-Range": "bytes 0-3/10" },
        content: { id: "<id>" },
        status: 400,
        problem: "INVALID_PARAMETER" as const,
      },
      { name: "for no content is a 400", status: 400, problem: "BODY_REQUIRED" as const },
      { name: "for empty content is a 400", headers: typed, status: 400, problem: "BODY_REQUIRED" as const },
      {
        name: "for bad JSON is a 400",
        headers: typed,
        body: "{",
        status: 400,
        problem: "MALFORMED_JSON" as const,
      },
      { name: "for an array is a 400", content: [], status: 400, problem: "BODY_NOT_OBJECT" as const },
      {
        name: "for null is a 400",
        headers: typed,
        body: "null",
        status: 400,
        problem: "BODY_NOT_OBJECT" as const,
      },
      {
        name: "for a missing id is a 400 that points at it",
        content: { title: "x" },
        status: 400,
        problem: "ID_REQUIRED" as const,
        violations: [{ in: "body" as const, pointer: "#/id" }],
      },
      ...mismatches.map(([what, id]) => ({
        name: `for ${what} in the content is a 400`,
        content: { id, title: "x" },
        status: 400,
        problem: "ID_MISMATCH" as const,
      })),
    ].map((scenario) => ({
      ...scenario,
      given: { title: "kept" },
      unchanged: true,
      method: "PUT",
      path: item,
    })),
  );

  test("for an unknown id is an empty 404, whatever the content says", async () => {
    const path = `/api/v1/topics/${unknownId}`;
    for (const body of [`{"id":"${unknownId}"}`, "{", "[]", '{"id":"other"}'])
      check(await service.send({ method: "PUT", path, headers: typed, body }), { status: 404 });
    check(await service.send({ method: "PUT", path }), { status: 404 });
  });
});
