import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseMediaType } from "../../src/http/protocol/media-types.ts";
import { check, unknownId, vary } from "./check.ts";
import { jsonType, startServiceForFile } from "./service.ts";

const service = await startServiceForFile();
const made = await service.create("topics", { title: "Here" });

const topics = "/api/v1/topics";

const acceptable = [
  "*/*",
  "application/*",
  "application/json",
  "APPLICATION/JSON",
  "application/json; charset=utf-8",
  'application/json; charset="UTF-8"; version=1',
  "application/json;q=0.9",
  "application/json;q=0.001",
  "application/json ; q=1.000",
  "application/vnd.api+json",
  "application/hal+json;q=0.1",
  "application/problem+json",
  "text/json",
  "application/json, text/plain, */*",
  "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "text/html, application/*;q=0.5",
  "text/html;level=1, application/json",
  'text/plain; x="a, b", application/json',
];
const unacceptable = [
  "text/html",
  "application/xml",
  "image/*",
  "application/json;q=0",
  "application/json;q=0.000",
  "application/json; charset=utf-8; q=0",
  "*/*;q=0",
  "text/html, application/xml;q=0.9",
  "application/jsonx",
  "application/xhtml+xml",
  'text/plain; x="application/json"',
];

describe("Accept", () => {
  for (const accept of acceptable)
    test(`${accept} takes JSON`, async () => {
      const headers = { Accept: accept };
      check(await service.send({ path: made.path, headers }), { status: 200, json: made.body });
      check(await service.send({ path: topics, headers }), { status: 200 });
      check(await service.send({ method: "POST", path: "/api/v1/accepted", headers, content: {} }), {
        status: 201,
      });
    });

  for (const accept of unacceptable)
    test(`${accept} rules JSON out`, async () => {
      const headers = { Accept: accept };
      for (const path of [made.path, topics])
        check(await service.send({ path, headers }), { status: 406, problem: "NOT_ACCEPTABLE" });
      check(await service.send({ method: "HEAD", path: made.path, headers }), { status: 406 });
    });

  test("that rules JSON out stops a write before it is done", async () => {
    const headers = { Accept: "text/html" };
    check(await service.send({ method: "POST", path: "/api/v1/unwritten", headers, content: {} }), {
      status: 406,
      problem: "NOT_ACCEPTABLE",
    });
    check(await service.send({ path: "/api/v1/unwritten" }), { status: 200, json: [] });
    const { id, path, body } = await service.create("topics", { title: "Old" });
    check(await service.send({ method: "PUT", path, headers, content: { id } }), {
      status: 406,
      problem: "NOT_ACCEPTABLE",
    });
    check(await service.send({ method: "PATCH", path, headers, content: { title: "New" } }), {
      status: 406,
      problem: "NOT_ACCEPTABLE",
    });
    check(await service.send({ path }), { status: 200, headers: { ETag: '"1"' }, json: body });
    const operations = [{ method: "DELETE", path: path.slice("/api/v1".length) }];
    check(await service.send({ method: "POST", path: "/api/v1/_batch", headers, content: { operations } }), {
      status: 406,
      problem: "NOT_ACCEPTABLE",
    });
    check(await service.send({ path }), { status: 200, json: body });
  });

  test("in two lines is one list", async () => {
    const headers = { Accept: ["text/html", "application/json"] };
    check(await service.send({ path: made.path, headers }), { status: 200, json: made.body });
  });

  test("that names application/problem+json gives problems of that type, and JSON on success", async () => {
    for (const accept of ["application/problem+json", "application/json, application/problem+json;q=0.5"]) {
      const headers = { Accept: accept };
      check(await service.send({ path: made.path, headers }), { status: 200, json: made.body });
      check(await service.send({ path: `${topics}?_x=1`, headers }), {
        status: 400,
        problem: "INVALID_PARAMETER",
        headers: { "Content-Type": "application/problem+json" },
      });
      check(await service.send({ method: "PUT", path: topics, headers }), {
        status: 405,
        problem: "METHOD_NOT_ALLOWED",
        headers: { "Content-Type": "application/problem+json" },
      });
      check(await service.send({ path: `${topics}/${unknownId}`, headers }), { status: 404 });
    }
  });

  test("otherwise gives problems as the interface's JSON", async () => {
    for (const headers of [
      {},
      { Accept: "*/*" },
      { Accept: "application/*" },
      { Accept: "application/json" },
    ])
      check(await service.send({ path: `${topics}?_x=1`, headers }), {
        status: 400,
        problem: "INVALID_PARAMETER",
        headers: { "Content-Type": jsonType },
      });
  });

  test("is what an answer varies by", async () => {
    for (const path of [made.path, topics]) {
      const names = vary(await service.send({ path }));
      assert.ok(names.has("accept") && names.has("accept-encoding"), [...names].join());
    }
  });

  test("and Accept-Encoding never get a coded answer", async () => {
    const headers = { "Accept-Encoding": "gzip, br, zstd" };
    const answer = await service.send({ path: made.path, headers });
    check(answer, { status: 200, headers: { "Content-Encoding": undefined, ETag: '"1"' }, json: made.body });
  });
});

const taken = [
  "application/json",
  "application/json; charset=utf-8",
  "application/json;charset=utf-8",
  'application/json; charset="utf-8"',
  "application/json; charset=UTF-8",
  'application/json; Charset="Utf-8"',
  "APPLICATION/JSON",
  "Application/Json; CHARSET=utf-8",
  "application/json ; charset=utf-8",
  "application/json;version=1",
  'application/json; profile="a;b"; charset=utf-8',
];
const refused = [
  "application/json; charset=utf-16",
  "application/json; charset=latin1",
  'application/json; charset="iso-8859-1"',
  "application/json; charset=us-ascii",
  "application/vnd.api+json",
  "application/problem+json",
  "application/merge-patch+json",
  "application/json-patch+json",
  "text/json",
  "text/plain",
  "text/plain; charset=utf-8",
  "application/jsonx",
  "application/json, text/plain",
  "text/plain, application/json",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/*",
  "*/*",
  "json",
  "application/",
  "/json",
  "what is this",
  'text/plain; x="application/json"',
];

describe("Content-Type", () => {
  for (const type of taken)
    test(`${type} is JSON`, async () => {
      const headers = { "Content-Type": type };
      const answer = await service.send({ method: "POST", path: topics, headers, body: '{"title":"ü"}' });
      const { id } = answer.json as { id: string };
      check(answer, { status: 201, json: { id, title: "ü" } });
      const path = `${topics}/${id}`;
      check(await service.send({ method: "PUT", path, headers, body: `{"id":"${id}"}` }), {
        status: 200,
        json: { id },
      });
      check(await service.send({ method: "PATCH", path, headers, body: '{"a":1}' }), {
        status: 200,
        json: { id, a: 1 },
      });
    });

  for (const type of refused)
    test(`${type} is not`, async () => {
      const answer = await service.send({
        method: "POST",
        path: topics,
        headers: { "Content-Type": type },
        body: '{"title":"x"}',
      });
      check(answer, {
        status: 415,
        problem: "UNSUPPORTED_MEDIA_TYPE",
        headers: { Accept: "application/json", "Accept-Encoding": undefined },
      });
    });

  for (const [type, says] of [
    ["application/x-www-form-urlencoded", /"curl -d" send this type.* JSON object\. With curl, use --json/],
    ["Application/X-WWW-Form-Urlencoded; charset=utf-8", /-H 'Content-Type: application\/json'/],
    ["multipart/form-data; boundary=x", /"curl -F" send this type.* JSON object\. With curl, use --json/],
    ["text/plain;charset=UTF-8", /fetch\(\) sends this type .*"Content-Type": "application\/json"/],
  ] as const)
    test(`${type} is answered with what to send instead`, async () => {
      for (const [method, path] of [
        ["POST", topics],
        ["PUT", made.path],
        ["PATCH", made.path],
        ["QUERY", topics],
      ] as const) {
        const headers = { "Content-Type": type };
        const answer = await service.send({ method, path, headers, body: "title=x" });
        assert.equal(answer.status, 415, method);
        assert.match((answer.json as { detail: string }).detail, says);
      }
    });

  for (const types of [
    ["application/json", "text/plain"],
    ["text/plain", "application/json"],
    ["application/json", "application/json"],
  ])
    test(`in two lines (${types.join(" and ")}) is refused`, async () => {
      const answer = await service.send({
        method: "POST",
        path: topics,
        headers: { "Content-Type": types },
        body: '{"title":"x"}',
      });
      assert.ok(answer.status === 400 || answer.status === 415, `${answer.status} ${answer.text}`);
    });

  for (const type of [
    "application/merge-patch+json; charset=utf-8",
    'Application/Merge-Patch+JSON; charset="UTF-8"',
  ])
    test(`${type} is a merge patch`, async () => {
      const { id, path } = await service.create("topics", {});
      const headers = { "Content-Type": type };
      check(await service.send({ method: "PATCH", path, headers, body: '{"a":1}' }), {
        status: 200,
        json: { id, a: 1 },
      });
    });

  for (const coding of ["gzip", "br", "deflate", "zstd", "x-gzip", "gzip, identity", "what"])
    test(`does not matter under Content-Encoding: ${coding}`, async () => {
      const headers = { "Content-Type": jsonType, "Content-Encoding": coding };
      for (const [method, path] of [
        ["POST", topics],
        ["PUT", made.path],
        ["PATCH", made.path],
      ] as const)
        check(await service.send({ method, path, headers, body: "{}" }), {
          status: 415,
          problem: "UNSUPPORTED_CONTENT_CODING",
          headers: { "Accept-Encoding": "identity", Accept: undefined, "Accept-Patch": undefined },
        });
    });
});

test("a Content-Type made of blanks and semicolons is refused in no time", () => {
  for (const blanks of [";  ".repeat(40), `;${" ".repeat(15_000)}`.repeat(2), "; ".repeat(10_000)]) {
    const begin = process.cpuUsage();
    assert.equal(parseMediaType(`application/json${blanks}@`), undefined);
    const { user, system } = process.cpuUsage(begin); // in µs: one that runs away takes minutes
    assert.ok(user + system < 10_000_000, "a regular expression runs away");
  }
  assert.deepEqual(parseMediaType("application/json ;  ; charset=utf-8 ;"), {
    type: "application/json",
    charset: "utf-8",
  });
});
