import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check, readDated, unknownId } from "./check.ts";
import { runScenarios, type Scenario } from "./scenarios.ts";
import { jsonType, startServiceForFile } from "./service.ts";

const service = await startServiceForFile();

const item = "/api/v1/topics/<id>";
const acceptPatch =
  "application/merge-patch+json, application/json-patch+json, application/vnd.holdfast.update+json, application/json";
const merge = { "Content-Type": "application/merge-patch+json" };
const jsonPatch = { "Content-Type": "application/json-patch+json" };
const patched = { "Content-Type": jsonType, "Content-Location": item, ETag: '"2"', Location: undefined };
const given = { title: "Old", n: 1, tags: ["a", "b"], author: { name: "Ann", age: 40 } };
const others = { n: 1, tags: ["a", "b"], author: { name: "Ann", age: 40 } };

const merges: Scenario[] = [
  "application/merge-patch+json",
  "application/json",
  jsonType,
  "Application/JSON",
].map((type) => ({
  name: `a merge patch as ${type} answers the whole updated resource`,
  path: item,
  headers: { "Content-Type": type },
  content: { title: "New", n: null, author: { age: null, city: "Bern" }, more: { a: { b: null, c: 1 } } },
  status: 200,
  responseHeaders: patched,
  json: {
    id: "<id>",
    title: "New",
    tags: ["a", "b"],
    author: { name: "Ann", city: "Bern" },
    more: { a: { c: 1 } },
  },
}));

const operations: Scenario[] = [
  {
    name: "a JSON Patch answers the whole updated resource",
    content: [
      { op: "test", path: "/id", value: "<id>" },
      { op: "replace", path: "/title", value: "New" },
      { op: "add", path: "/tags/-", value: "c" },
      { op: "remove", path: "/n" },
      { op: "move", from: "/author/name", path: "/writer" },
      { op: "copy", from: "/tags/0", path: "/first" },
    ],
    json: { id: "<id>", title: "New", tags: ["a", "b", "c"], author: { age: 40 }, writer: "Ann", first: "a" },
  },
  {
    name: "a JSON Patch may replace the whole resource when the id stays",
    content: [{ op: "replace", path: "", value: { id: "<id>", only: true } }],
    json: { id: "<id>", only: true },
  },
  {
    name: "a JSON Patch may take the id away and put it back",
    content: [
      { op: "remove", path: "/id" },
      { op: "add", path: "/id", value: "<id>" },
      { op: "add", path: "/x", value: 1 },
    ],
    json: { id: "<id>", title: "Old", ...others, x: 1 },
  },
  {
    name: "a JSON Patch ignores members of an operation that it does not know",
    content: [{ op: "add", path: "/x", value: 1, note: "why" }],
    json: { id: "<id>", title: "Old", ...others, x: 1 },
  },
  {
    name: "a JSON Patch unescapes ~1 before ~0",
    content: [
      { op: "add", path: "/a~1b", value: 1 },
      { op: "add", path: "/m~0n", value: 2 },
      { op: "add", path: "/~01", value: 3 },
    ],
    json: { id: "<id>", title: "Old", ...others, "a/b": 1, "m~n": 2, "~1": 3 },
  },
].map((scenario) => ({
  ...scenario,
  path: item,
  headers: jsonPatch,
  status: 200,
  responseHeaders: patched,
}));

describe("a patch", () => {
  runScenarios(
    () => service,
    [...merges, ...operations].map((scenario) => ({ ...scenario, method: "PATCH", given })),
  );

  test("that changes something is what the next read finds", async () => {
    const { path } = await service.create("topics", given);
    const answer = await service.send({ method: "PATCH", path, content: { title: "New" } });
    const read = await service.send({ path });
    assert.equal(read.text, answer.text);
    assert.equal(read.headers.etag, '"2"');
  });

  test("may carry the same id", async () => {
    const { id, path } = await service.create("topics", { title: "Old" });
    const answer = await service.send({ method: "PATCH", path, content: { id, title: "New" } });
    check(answer, { status: 200, headers: { ETag: '"2"' }, json: { id, title: "New" } });
  });

  test("has Last-Modified when that is past", async () => {
    const { path } = await service.create("topics", given);
    const before = await readDated(service, path);
    const answer = await service.send({ method: "PATCH", path, content: {} });
    check(answer, { status: 200, headers: { "Last-Modified": before.headers["last-modified"] } });
  });

  for (const [what, headers, content] of [
    ["an empty merge patch", merge, {}],
    ["an empty object as application/json", { "Content-Type": jsonType }, {}],
    ["an empty JSON Patch", jsonPatch, []],
    ["a merge patch that sets what is there", merge, { title: "Old", author: { age: 40 }, absent: null }],
    [
      "a JSON Patch of a true test",
      jsonPatch,
      [{ op: "test", path: "/author", value: { age: 40.0, name: "Ann" } }],
    ],
    ["a JSON Patch that replaces a value by itself", jsonPatch, [{ op: "replace", path: "/n", value: 1 }]],
  ] as const)
    test(`of nothing (${what}) raises nothing`, async () => {
      const { path, body } = await service.create("topics", given);
      const list = await service.send({ path: "/api/v1/topics?limit=1" });
      const answer = await service.send({ method: "PATCH", path, headers, content });
      check(answer, { status: 200, headers: { ETag: '"1"', "Content-Location": path }, json: body });
      const listAfter = await service.send({ path: "/api/v1/topics?limit=1" });
      assert.equal(listAfter.headers.etag, list.headers.etag);
    });
});

const unsupported = [
  ["no Content-Type", {}],
  ["text/plain", { "Content-Type": "text/plain" }],
  ["application/xml", { "Content-Type": "application/xml" }],
  ["application/vnd.api+json", { "Content-Type": "application/vnd.api+json" }],
  ["charset utf-16", { "Content-Type": "application/json; charset=utf-16" }],
  ["a form", { "Content-Type": "application/x-www-form-urlencoded" }],
] as const;

const typeScenarios: Scenario[] = [
  ...unsupported.map(([what, headers]) => ({
    name: `of ${what} is a 415 that says what is taken`,
    path: item,
    headers,
    body: '{"title":"x"}',
    status: 415,
    problem: "UNSUPPORTED_MEDIA_TYPE" as const,
    responseHeaders: { "Accept-Patch": acceptPatch, "Accept-Encoding": undefined },
  })),
  {
    name: "of compressed content is a 415 that says that no coding is taken",
    path: item,
    headers: { ...merge, "Content-Encoding": "gzip" },
    body: "{}",
    status: 415,
    problem: "UNSUPPORTED_CONTENT_CODING",
    responseHeaders: { "Accept-Encoding": "identity", "Accept-Patch": undefined },
  },
];

const invalid: [what: string, headers: Record<string, string>, body: string][] = [
  ["no content", {}, ""],
  ["no merge patch", merge, ""],
  ["no JSON Patch", jsonPatch, ""],
  ["a merge patch that is not JSON", merge, "{"],
  ["a JSON Patch that is not JSON", jsonPatch, "["],
  ["a merge patch that is an array", merge, "[]"],
  [
    "an array of operations as application/json",
    { "Content-Type": jsonType },
    '[{"op":"remove","path":"/n"}]',
  ],
  ["a merge patch that is a string", merge, '"x"'],
  ["a merge patch that is null", merge, "null"],
  ["a JSON Patch that is an object", jsonPatch, "{}"],
  ["an operation that is no object", jsonPatch, "[1]"],
  ["an operation that is null", jsonPatch, "[null]"],
  ["an operation without op", jsonPatch, '[{"path":"/x","value":1}]'],
  ["an unknown op", jsonPatch, '[{"op":"spam","path":"/x","value":1}]'],
  ["an op that objects inherit", jsonPatch, '[{"op":"constructor","path":"/x","value":1}]'],
  ["an op in upper case", jsonPatch, '[{"op":"ADD","path":"/x","value":1}]'],
  ["an operation without path", jsonPatch, '[{"op":"add","value":1}]'],
  ["a path that is no string", jsonPatch, '[{"op":"add","path":1,"value":1}]'],
  ["a path without its slash", jsonPatch, '[{"op":"add","path":"x","value":1}]'],
  ["a path with a bad escape", jsonPatch, '[{"op":"add","path":"/a~2","value":1}]'],
  ["a path with a lone tilde", jsonPatch, '[{"op":"add","path":"/a~","value":1}]'],
  ["an add without value", jsonPatch, '[{"op":"add","path":"/x"}]'],
  ["a test without value", jsonPatch, '[{"op":"test","path":"/n"}]'],
  ["a move without from", jsonPatch, '[{"op":"move","path":"/x"}]'],
  ["a copy whose from is no pointer", jsonPatch, '[{"op":"copy","from":"n","path":"/x"}]'],
  ["a good operation before a bad one", jsonPatch, '[{"op":"remove","path":"/n"},{"op":"spam","path":"/x"}]'],
];

const conflicts: [what: string, content: unknown][] = [
  ["a test that is false", [{ op: "test", path: "/title", value: "Other" }]],
  ["a test of a number against its text", [{ op: "test", path: "/n", value: "1" }]],
  ["a test of what is missing", [{ op: "test", path: "/missing", value: null }]],
  ["the removal of what is missing", [{ op: "remove", path: "/missing" }]],
  ["the replacement of what is missing", [{ op: "replace", path: "/missing", value: 1 }]],
  ["a move of what is missing", [{ op: "move", from: "/missing", path: "/x" }]],
  ["a copy of what is missing", [{ op: "copy", from: "/missing", path: "/x" }]],
  ["the removal of a member that objects inherit", [{ op: "remove", path: "/constructor" }]],
  ["a test of a member that objects inherit", [{ op: "test", path: "/toString", value: {} }]],
  ["the removal past the end of an array", [{ op: "remove", path: "/tags/2" }]],
];

const identities: [what: string, headers: Record<string, string>, content: unknown][] = [
  ["a merge patch that removes the id", merge, { id: null }],
  ["a merge patch of another id", merge, { id: unknownId }],
  ["a merge patch of a number as id", merge, { id: 1 }],
  ["a merge patch of an array of the id", merge, { id: ["<id>"] }],
  ["a JSON Patch that removes the id", jsonPatch, [{ op: "remove", path: "/id" }]],
  ["a JSON Patch of another id", jsonPatch, [{ op: "replace", path: "/id", value: "x" }]],
  ["a JSON Patch to a resource without id", jsonPatch, [{ op: "replace", path: "", value: {} }]],
];

describe("a patch that is refused", () => {
  runScenarios(
    () => service,
    [
      ...typeScenarios,
      ...invalid.map(([what, headers, body]) => ({
        name: `for ${what} is a 400 INVALID_PATCH`,
        path: item,
        headers,
        ...(body === "" ? {} : { body }),
        status: 400,
        problem: "INVALID_PATCH" as const,
      })),
      ...conflicts.map(([what, content]) => ({
        name: `for ${what} is a 409`,
        path: item,
        headers: jsonPatch,
        content,
        status: 409,
        problem: "PATCH_CONFLICT" as const,
      })),
      {
        name: "for a conflict of the third operation points at that one",
        path: item,
        headers: jsonPatch,
        content: [
          { op: "replace", path: "/title", value: "New" },
          { op: "remove", path: "/n" },
          { op: "test", path: "/author/name", value: "Bob" },
        ],
        status: 409,
        problem: "PATCH_CONFLICT" as const,
        violations: [{ in: "body" as const, pointer: "#/2/path" }],
      },
      ...identities.map(([what, headers, content]) => ({
        name: `for ${what} is a 400 ID_MISMATCH`,
        path: item,
        headers,
        content,
        status: 400,
        problem: "ID_MISMATCH" as const,
      })),
    ].map((scenario) => ({ ...scenario, method: "PATCH", given, unchanged: true })),
  );

  for (const value of [[], "x", 1, null, true])
    test(`for a result that is ${JSON.stringify(value)} is a 400`, async () => {
      const { path, body } = await service.create("topics", given);
      const content = [{ op: "replace", path: "", value }];
      const answer = await service.send({ method: "PATCH", path, headers: jsonPatch, content });
      assert.equal(answer.status, 400, answer.text);
      check(await service.send({ path }), { status: 200, headers: { ETag: '"1"' }, json: body });
    });

  for (const [what, content] of [
    ["a leading zero", [{ op: "remove", path: "/tags/00" }]],
    ["- outside an add", [{ op: "remove", path: "/tags/-" }]],
    ["an add past the end", [{ op: "add", path: "/tags/3", value: "x" }]],
    ["a word as index", [{ op: "add", path: "/tags/length", value: 0 }]],
    ["an add below a missing member", [{ op: "add", path: "/no/where", value: 1 }]],
    ["an add below a string", [{ op: "add", path: "/title/x", value: 1 }]],
    ["a move into its own child", [{ op: "move", from: "/author", path: "/author/x" }]],
    ["a write through __proto__", [{ op: "add", path: "/__proto__/polluted", value: true }]],
    ["a write through constructor", [{ op: "add", path: "/constructor/prototype/polluted", value: true }]],
  ] as const)
    test(`for ${what} in a JSON Patch is a 400 or 409 and changes nothing`, async () => {
      const { path, body } = await service.create("topics", given);
      const answer = await service.send({ method: "PATCH", path, headers: jsonPatch, content });
      assert.ok(answer.status === 400 || answer.status === 409, `${answer.status} ${answer.text}`);
      assert.ok(["INVALID_PATCH", "PATCH_CONFLICT"].includes((answer.json as { code: string }).code));
      check(await service.send({ path }), { status: 200, headers: { ETag: '"1"' }, json: body });
      assert.equal(({} as Record<string, unknown>).polluted, undefined);
    });

  test("of an unknown id is an empty 404, whatever the content says", async () => {
    const path = `/api/v1/topics/${unknownId}`;
    for (const body of ["{}", "{", "[1]", '{"id":null}'])
      check(await service.send({ method: "PATCH", path, headers: merge, body }), { status: 404 });
    check(await service.send({ method: "PATCH", path }), { status: 404 });
  });

  test("has pointers with more names than all operations together can have", async () => {
    const { path } = await service.create("topics", {});
    const patchOf = (count: number, depth: number) =>
      Array.from({ length: count }, () => ({ op: "move", from: "/a".repeat(depth), path: "/b" }));
    const send = (content: unknown) => service.send({ method: "PATCH", path, headers: jsonPatch, content });
    check(await send(patchOf(1_000, 19)), { status: 409, problem: "PATCH_CONFLICT" });
    const { status, json } = await send([...patchOf(999, 19), ...patchOf(1, 20)]);
    assert.deepEqual([status, (json as { code: string }).code], [400, "INVALID_PATCH"]);
    assert.match((json as { detail: string }).detail, /have 20001 names together, but the limit is 20000/);
  });

  test("may use __proto__ as an ordinary member name", async () => {
    const { id, path } = await service.create("topics", {});
    const body = '{"__proto__":{"polluted":true}}';
    const answer = await service.send({ method: "PATCH", path, headers: merge, body });
    assert.equal(answer.text, `{"id":"${id}","__proto__":{"polluted":true}}`);
    assert.equal(({} as Record<string, unknown>).polluted, undefined);
  });
});
