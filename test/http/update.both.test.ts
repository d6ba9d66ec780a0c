/** Update operators: changes that need no reading. `npm run prove lost-updates` has more increments. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check } from "./check.ts";
import { runScenarios, type Scenario } from "./scenarios.ts";
import { type Answer, startServiceForFile } from "./service.ts";

/** Increments of each client. */
const rounds = Math.min(100, Number(process.env.HOLDFAST_TEST_ROUNDS ?? 10));

const service = await startServiceForFile();

const item = "/api/v1/topics/<id>";
const update = { "Content-Type": "application/vnd.holdfast.update+json" };
const given = {
  title: "Old",
  n: 1,
  half: 0.5,
  nothing: null,
  tags: ["a", "b"],
  items: [{ x: 1, y: [2] }, 1],
  author: { name: "Ann", age: 40 },
};

const accepted: [what: string, content: object, changed: object][] = [
  ["$increment adds", { n: { $increment: 2 }, half: { $increment: -0.25 } }, { n: 3, half: 0.25 }],
  ["$increment counts from 0", { fresh: { $increment: 5 } }, { fresh: 5 }],
  ["$increment of nothing counts from 0", { fresh: { $increment: 0 } }, { fresh: 0 }],
  ["$min keeps the smaller number", { n: { $min: -1 }, half: { $min: 7 } }, { n: -1, half: 0.5 }],
  ["$max keeps the larger number", { n: { $max: 7 }, half: { $max: 0 } }, { n: 7, half: 0.5 }],
  ["$min and $max count from 0", { low: { $min: 3 }, high: { $max: 3 } }, { low: 0, high: 3 }],
  ["$append adds at the end", { tags: { $append: ["b", "c"] } }, { tags: ["a", "b", "b", "c"] }],
  ["$append begins an array", { fresh: { $append: [1] } }, { fresh: [1] }],
  [
    "$addUnique adds what is not there, once",
    { tags: { $addUnique: ["b", "c", "c"] }, items: { $addUnique: [{ y: [2], x: 1 }, 1, { x: 1 }] } },
    { tags: ["a", "b", "c"], items: [{ x: 1, y: [2] }, 1, { x: 1 }] },
  ],
  [
    "$remove removes all equal items",
    { tags: { $remove: ["b", "z"] }, items: { $remove: [{ y: [2], x: 1 }] } },
    { tags: ["a"], items: [1] },
  ],
  ["$remove of nothing begins an array", { fresh: { $remove: ["x"] } }, { fresh: [] }],
  [
    "$set replaces, whatever the value",
    { title: { $set: null }, n: { $set: { $set: 1 } }, tags: { $set: "x" }, nothing: { $set: [] } },
    { title: null, n: { $set: 1 }, tags: "x", nothing: [] },
  ],
  ["$unset removes", { title: { $unset: true }, missing: { $unset: true } }, { title: undefined }],
  [
    "dotted paths reach into objects",
    { "author.age": { $increment: 1 }, "author.city": { $set: "Bern" }, "author.name": { $unset: true } },
    { author: { age: 41, city: "Bern" } },
  ],
  [
    "dotted paths make the objects that are missing",
    { "stats.views.today": { $increment: 1 }, "stats.views.all": { $max: 9 } },
    { stats: { views: { today: 1, all: 9 } } },
  ],
  ["$unset makes no objects", { "stats.views": { $unset: true }, n: { $increment: 1 } }, { n: 2 }],
  [
    "numbers reach the last safe integer",
    { n: { $increment: Number.MAX_SAFE_INTEGER - 1 } },
    { n: Number.MAX_SAFE_INTEGER },
  ],
  ["the id can be set to itself", { id: { $set: "<id>" }, n: { $increment: 1 } }, { n: 2 }],
  [
    "names that objects inherit are plain names",
    { constructor: { $increment: 1 }, "toString.x": { $set: 1 } },
    { constructor: 1, toString: { x: 1 } },
  ],
];

const refused: [what: string, content: unknown, pointer: string, detail: RegExp][] = [
  ["a plain value", { n: 1 }, "#/n", /send \{"\$set":1\}/],
  ["a plain object", { author: { name: "Bob" } }, "#/author", /send \{"\$set":\{"name":"Bob"\}\}/],
  ["an empty object", { author: {} }, "#/author", /one operator/],
  ["null", { n: null }, "#/n", /send \{"\$set":null\}/],
  ["two operators", { n: { $min: 1, $max: 5 } }, "#/n", /exactly one operator/],
  ["an operator and a member", { n: { $min: 1, x: 5 } }, "#/n", /exactly one operator/],
  ["an unknown operator", { n: { $inc: 1 } }, "#/n/$inc", /\$increment, \$min/],
  ["an operator that objects inherit", { n: { constructor: 1 } }, "#/n", /one operator/],
  ["a path without a name", { "author.": { $set: 1 } }, "#/author.", /not the name/],
  ["an empty path", { "": { $set: 1 } }, "#/", /not the name/],
  ["a path that is too long", { [`${"a.".repeat(70)}b`]: { $set: 1 } }, `#/${"a.".repeat(70)}b`, /at most/],
  [
    "a path inside another one",
    { author: { $set: {} }, "author.name": { $set: 1 } },
    "#/author.name",
    /overlaps "author"/,
  ],
  ["a path around another one", { "a.b.c": { $set: 1 }, a: { $unset: true } }, "#/a.b.c", /overlaps "a"/],
  ["a text as increment", { n: { $increment: "1" } }, "#/n/$increment", /must be a number/],
  ["null as least", { n: { $min: null } }, "#/n/$min", /must be a number/],
  ["one item for an array", { tags: { $append: "c" } }, "#/tags/$append", /must be an array/],
  ["$unset of false", { n: { $unset: false } }, "#/n/$unset", /must be true/],
  ["an increment of a text", { title: { $increment: 1 } }, "#/title/$increment", /a string/],
  ["an increment of null", { nothing: { $increment: 1 } }, "#/nothing/$increment", /null/],
  ["a maximum of an array", { tags: { $max: 1 } }, "#/tags/$max", /an array/],
  ["an item for null", { nothing: { $append: [1] } }, "#/nothing/$append", /null/],
  ["an item for an object", { author: { $addUnique: [1] } }, "#/author/$addUnique", /an object/],
  ["the removal from a number", { n: { $remove: [1] } }, "#/n/$remove", /a number/],
  ["a path into a text", { "title.x": { $set: 1 } }, "#/title.x/$set", /needs an object at "title"/],
  ["a path into null", { "nothing.x": { $unset: true } }, "#/nothing.x/$unset", /which is null/],
  ["a path into an array", { "tags.0": { $set: 1 } }, "#/tags.0/$set", /objects, not arrays/],
  ["a sum that is not safe", { n: { $increment: Number.MAX_SAFE_INTEGER } }, "#/n/$increment", /exactly/],
  ["a sum that is too small", { n: { $increment: -1e300 } }, "#/n/$increment", /exactly/],
  ["an increment that is lost", { n: { $increment: 1e-300 } }, "#/n/$increment", /too small/],
];

const scenarios: Scenario[] = [
  ...accepted.map(([what, content, changed]) => ({
    name: what,
    content,
    status: 200,
    responseHeaders: { ETag: '"2"' },
    json: without({ id: "<id>", ...given, ...changed }),
  })),
  ...refused.map(([what, content, pointer]) => ({
    name: `${what} is a 400`,
    content,
    status: 400,
    problem: "INVALID_PATCH" as const,
    violations: [{ in: "body" as const, pointer: encodeURI(pointer) }],
    unchanged: true,
  })),
  ...[[], "x", null, 1].map((content) => ({
    name: `${JSON.stringify(content)} is a 400`,
    content,
    status: 400,
    problem: "INVALID_PATCH" as const,
    unchanged: true,
  })),
  {
    name: "another id is a 400",
    content: { id: { $set: "other" } },
    status: 400,
    problem: "ID_MISMATCH" as const,
    unchanged: true,
  },
  {
    name: "one fault refuses all",
    content: { n: { $increment: 1 }, title: { $increment: 1 } },
    status: 400,
    problem: "INVALID_PATCH" as const,
    unchanged: true,
  },
].map((scenario) => ({ ...scenario, method: "PATCH", path: item, headers: update, given }));

function without(json: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(json).filter(([, value]) => value !== undefined));
}

const send = (path: string, content: unknown, headers = {}): Promise<Answer> =>
  service.send({ method: "PATCH", path, content, headers: { ...update, ...headers } });

describe("update operators:", () => {
  runScenarios(() => service, scenarios);

  for (const [what, content, , detail] of refused)
    test(`the message about ${what} says what would be right`, async () => {
      const { path } = await service.create("topics", given);
      const { violations } = (await send(path, content)).json as { violations: { detail: string }[] };
      assert.match(String(violations[0]?.detail), detail);
    });

  for (const content of [
    {},
    { n: { $increment: 0 } },
    { tags: { $addUnique: ["a"] } },
    { x: { $unset: true } },
  ])
    test(`${JSON.stringify(content)} changes nothing`, async () => {
      const { path, body } = await service.create("topics", given);
      check(await send(path, content), { status: 200, headers: { ETag: '"1"' }, json: body });
    });

  test("a member called __proto__ is data", async () => {
    const { id, path } = await service.create("topics", {});
    const body = '{"__proto__.polluted":{"$set":true}}';
    const answer = await service.send({ method: "PATCH", path, headers: update, body });
    assert.equal(answer.text, `{"id":"${id}","__proto__":{"polluted":true}}`);
    assert.equal(({} as Record<string, unknown>).polluted, undefined);
  });

  test("more operations than a patch can have are a 400", async () => {
    const { path } = await service.create("topics", {});
    const content = Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`a${n}`, { $set: n }]));
    check(await send(path, content), { status: 400, problem: "INVALID_PATCH" });
  });

  test("more parts of names than all operations together can have are a 400", async () => {
    const { path } = await service.create("topics", {});
    const deep = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`${"a.".repeat(19)}b${n}`, { $set: n }]));
    check(await send(path, deep(1_000)), { status: 200 });
    const { status, json } = await send(path, { ...deep(999), [`${"a.".repeat(20)}c`]: { $set: 1 } });
    assert.deepEqual([status, (json as { code: string }).code], [400, "INVALID_PATCH"]);
    assert.match((json as { detail: string }).detail, /have 20001 parts together, but the limit is 20000/);
  });

  test("If-Match holds for them", async () => {
    const { path } = await service.create("topics", { n: 1 });
    const stale = await send(path, { n: { $increment: 1 } }, { "If-Match": '"7"' });
    check(stale, { status: 412, problem: "PRECONDITION_FAILED" });
    check(await send(path, { n: { $increment: 1 } }, { "If-Match": '"1"' }), { status: 200 });
  });

  test("a retry with the same Idempotency-Key has no second effect", async () => {
    const { path } = await service.create("topics", { n: 1 });
    const key = { "Idempotency-Key": "once" };
    const first = await send(path, { n: { $increment: 1 } }, key);
    const second = await send(path, { n: { $increment: 1 } }, key);
    assert.deepEqual([first.text, second.headers["idempotent-replayed"]], [second.text, "true"]);
    assert.equal(((await service.send({ path })).json as { n: number }).n, 2);
  });

  test("a batch takes them, and each sees what the one before did", async () => {
    const { id, path } = await service.create("topics", { n: 1 });
    const one = {
      method: "PATCH",
      path: `/topics/${id}`,
      headers: update,
      body: { n: { $increment: 2 }, tags: { $append: ["x"] } },
    };
    const answer = await service.send({
      method: "POST",
      path: "/api/v1/_batch",
      content: { operations: [one, one, one] },
    });
    assert.equal(answer.status, 200, answer.text);
    check(await service.send({ path }), {
      status: 200,
      headers: { ETag: '"2"' },
      json: { id, n: 7, tags: ["x", "x", "x"] },
    });
  });

  test("a result that is larger than a request is refused", async () => {
    const { path } = await service.create("topics", { long: ["x".repeat(600_000)] });
    const answer = await send(path, { long: { $append: ["y".repeat(600_000)] } });
    check(answer, { status: 413, problem: "CONTENT_TOO_LARGE" });
  });
});

describe("update operators without If-Match", () => {
  test(`are exact: 64 clients add 1, ${rounds} times each`, async () => {
    const { id, path } = await service.create("topics", {});
    const connections = await Promise.all(Array.from({ length: 64 }, () => service.connect()));
    const body = '{"n":{"$increment":1}}';
    const head = `PATCH ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${update["Content-Type"]}`;
    await Promise.all(
      connections.map(async (connection) => {
        for (let n = 0; n < rounds; n++) {
          connection.write(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
          assert.equal((await connection.answer("PATCH")).status, 200);
        }
        connection.close();
      }),
    );
    check(await service.send({ path }), {
      status: 200,
      headers: { ETag: `"${64 * rounds + 1}"` },
      json: { id, n: 64 * rounds },
    });
  });
});

describe("an operator in a patch of plain JSON", () => {
  const stored = { n: 1, list: [1], text: "a", object: { n: 1, operators: {} }, none: null };
  const refused: [object, string, string][] = [
    [{ n: { $increment: 1 } }, "#/n", "n"],
    [{ text: "b", n: { $max: 4 } }, "#/n", "n"],
    [{ list: { $append: [2] } }, "#/list", "list"],
    [{ text: { $set: "b" } }, "#/text", "text"],
    [{ none: { $unset: true } }, "#/none", "none"],
    [{ object: { n: { $min: 0 } } }, "#/object/n", "object.n"],
  ];
  for (const [content, pointer, name] of refused)
    test(`is refused over a value that it works on: ${JSON.stringify(content)}`, async () => {
      const { path, body } = await service.create("plain", stored);
      const answer = await service.send({ method: "PATCH", path, content });
      check(answer, { status: 400, problem: "INVALID_PATCH", violations: [{ in: "body", pointer }] });
      const { detail } = answer.json as { detail: string };
      assert.ok(detail.startsWith(`"${name}" would be replaced`), detail);
      assert.match(detail, /application\/vnd\.holdfast\.update\+json/);
      assert.deepEqual((await service.send({ path })).json, body);
      const headers = { "Content-Type": "application/merge-patch+json" };
      check(await service.send({ method: "PATCH", path, headers, content }), { status: 200 });
    });

  const kept: object[] = [
    { text: { $increment: 1 } },
    { n: { $append: [1] } },
    { n: { $increment: 1, other: 2 } },
    { n: { $count: 1 } },
    { fresh: { $increment: 1 } },
    { object: { $set: 1 } },
    { object: { operators: { $set: 1 } } },
  ];
  for (const content of kept)
    test(`is stored where nothing else can be meant: ${JSON.stringify(content)}`, async () => {
      const { path } = await service.create("plain", stored);
      check(await service.send({ method: "PATCH", path, content }), { status: 200 });
    });
});
