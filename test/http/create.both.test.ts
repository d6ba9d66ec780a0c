import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { machineTime } from "../until.ts";
import { check, uuid7 } from "./check.ts";
import { runScenarios, type Scenario } from "./scenarios.ts";
import { jsonType, startServiceForFile } from "./service.ts";

const service = await startServiceForFile();

const topics = "/api/v1/topics";
const refused = { "Accept-Encoding": undefined, "Accept-Patch": undefined };

describe("a create", () => {
  test("answers 201 with the whole resource and where it is", async () => {
    const answer = await service.send({
      method: "POST",
      path: topics,
      content: { title: "One", tags: ["a", null] },
    });
    const { id } = answer.json as { id: string };
    assert.match(id, uuid7);
    check(answer, {
      status: 201,
      headers: {
        "Content-Type": jsonType,
        Location: `${topics}/${id}`,
        "Content-Location": `${topics}/${id}`,
        ETag: '"1"',
      },
      json: { id, title: "One", tags: ["a", null] },
    });
    assert.equal(answer.text, `{"id":"${id}","title":"One","tags":["a",null]}`);
  });

  test("is readable at its Location at once", async () => {
    const created = await service.send({ method: "POST", path: topics, content: { title: "Two" } });
    const read = await service.send({ path: created.headers.location ?? "" });
    check(read, { status: 200, headers: { ETag: created.headers.etag }, json: created.json });
    assert.equal(read.text, created.text);
  });

  test("does not say Last-Modified while that would be in the future", async () => {
    for (let n = 0; n < 20; n++) {
      const answer = await service.send({ method: "POST", path: topics, content: { n } });
      const lastModified = answer.headers["last-modified"];
      if (lastModified !== undefined) assert.ok(Date.parse(lastModified) <= machineTime(), lastModified);
    }
  });

  test("gives ids that ascend, also within a millisecond", async () => {
    const ids: string[] = [];
    for (let n = 0; n < 50; n++) ids.push((await service.create("ascending", { n })).id);
    assert.deepEqual(ids, ids.toSorted());
    assert.equal(new Set(ids).size, 50);
    for (const id of ids) assert.match(id, uuid7);
  });

  test("gives each of many at the same time an id of its own", async () => {
    const made = await Promise.all(Array.from({ length: 100 }, (_, n) => service.create("together", { n })));
    assert.equal(new Set(made.map(({ id }) => id)).size, 100);
    const list = await service.send({ path: "/api/v1/together" });
    assert.equal(list.headers["x-total-count"], "100");
  });

  test("at a path with one trailing slash has a Location without it", async () => {
    const answer = await service.send({ method: "POST", path: `${topics}/`, content: { title: "Slash" } });
    const { id } = answer.json as { id: string };
    check(answer, {
      status: 201,
      headers: { Location: `${topics}/${id}`, "Content-Location": `${topics}/${id}`, ETag: '"1"' },
      json: { id, title: "Slash" },
    });
  });

  const ids = ["mine", "", 5, 5.5, null, true, [], ["a"], {}, { a: 1 }];
  for (const sent of ids)
    test(`ignores the id ${JSON.stringify(sent)} in the content`, async () => {
      const answer = await service.send({
        method: "POST",
        path: topics,
        content: { id: sent, title: "Named" },
      });
      const { id } = answer.json as { id: string };
      assert.match(id, uuid7);
      assert.notEqual(id, sent);
      check(answer, {
        status: 201,
        headers: { Location: `${topics}/${id}`, "Content-Location": `${topics}/${id}`, ETag: '"1"' },
        json: { id, title: "Named" },
      });
    });

  test("with the id of an existing resource makes a new one and leaves that one alone", async () => {
    const first = await service.create("topics", { title: "First" });
    const second = await service.create("topics", { id: first.id, title: "Second" });
    assert.notEqual(second.id, first.id);
    check(await service.send({ path: first.path }), {
      status: 200,
      headers: { ETag: '"1"' },
      json: first.body,
    });
  });

  test("keeps the members in the order sent, id first", async () => {
    const answer = await service.send({
      method: "POST",
      path: topics,
      headers: { "Content-Type": jsonType },
      body: '{"zebra":1,"id":7,"apple":{"z":1,"a":2},"mango":[]}',
    });
    const { id } = answer.json as { id: string };
    assert.equal(answer.text, `{"id":"${id}","zebra":1,"apple":{"z":1,"a":2},"mango":[]}`);
  });

  test("accepts a resource without attributes", async () => {
    const answer = await service.send({ method: "POST", path: topics, content: {} });
    const { id } = answer.json as { id: string };
    check(answer, { status: 201, json: { id } });
  });
});

const bad: Scenario[] = [
  {
    name: "a create without content and Content-Type is refused with BODY_REQUIRED",
    status: 400,
    problem: "BODY_REQUIRED",
    path: topics,
  },
  {
    name: "a create without content is refused with BODY_REQUIRED",
    headers: { "Content-Type": jsonType },
    status: 400,
    problem: "BODY_REQUIRED",
    path: topics,
  },
  {
    name: "content without a Content-Type is refused with 415",
    body: '{"title":"x"}',
    status: 415,
    problem: "UNSUPPORTED_MEDIA_TYPE",
    responseHeaders: { Accept: "application/json", ...refused },
    path: topics,
  },
  {
    name: "compressed content is refused with 415 that names the coding and not the media type",
    headers: { "Content-Type": jsonType, "Content-Encoding": "gzip" },
    body: "{}",
    status: 415,
    problem: "UNSUPPORTED_CONTENT_CODING",
    responseHeaders: { "Accept-Encoding": "identity", Accept: undefined },
    path: topics,
  },
];

const contents: [what: string, body: string | Uint8Array, problem: NonNullable<Scenario["problem"]>][] = [
  [
    "bytes that are not UTF-8",
    Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d]),
    "INVALID_UTF8",
  ],
  ["an overlong UTF-8 sequence", Buffer.from('{"a":"\xc0\xaf"}', "latin1"), "INVALID_UTF8"],
  ["a byte order mark", Buffer.from('\ufeff{"a":1}'), "INVALID_UTF8"],
  ["an unclosed object", '{"a":1', "MALFORMED_JSON"],
  ["a trailing comma", '{"a":1,}', "MALFORMED_JSON"],
  ["text after the object", '{"a":1} x', "MALFORMED_JSON"],
  ["two objects", "{}{}", "MALFORMED_JSON"],
  ["single quotes", "{'a':1}", "MALFORMED_JSON"],
  ["a comment", '{"a":1/**/}', "MALFORMED_JSON"],
  ["NaN", '{"a":NaN}', "MALFORMED_JSON"],
  ["a leading zero", '{"a":01}', "MALFORMED_JSON"],
  ["only blanks", "  \n ", "MALFORMED_JSON"],
  ["a raw control character in a string", '{"a":"\u0001"}', "MALFORMED_JSON"],
  ["two members of one name", '{"a":1,"a":1}', "DUPLICATE_MEMBER"],
  ["two members of one name deep inside", '{"a":[{"b":1,"b":2}]}', "DUPLICATE_MEMBER"],
  ["two members of one name, one escaped", '{"a":1,"\\u0061":2}', "DUPLICATE_MEMBER"],
  ["two ids", '{"id":1,"id":2}', "DUPLICATE_MEMBER"],
  ["a number that overflows", '{"a":1e400}', "NUMBER_OUT_OF_RANGE"],
  ["a negative number that overflows", '{"a":-1e999}', "NUMBER_OUT_OF_RANGE"],
  ["a number that underflows to zero", '{"a":1e-999}', "NUMBER_OUT_OF_RANGE"],
  ["an integer above 2^53-1", '{"a":9007199254740993}', "NUMBER_OUT_OF_RANGE"],
  ["an integer below -(2^53-1)", '{"a":-9007199254740992}', "NUMBER_OUT_OF_RANGE"],
  ["a lone surrogate", '{"a":"\\ud800"}', "INVALID_STRING"],
  ["a lone surrogate in a name", '{"\\udc00":1}', "INVALID_STRING"],
  ["an escaped null character", '{"a":"x\\u0000"}', "INVALID_STRING"],
  ["an escaped null character in a name", '{"\\u0000":1}', "INVALID_STRING"],
  ["65 levels", `{"a":${"[".repeat(64)}${"]".repeat(64)}}`, "BODY_TOO_DEEP"],
  ["100,000 levels", `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, "BODY_TOO_DEEP"],
  ["10,001 members in one object", JSON.stringify(manyMembers(10_001)), "BODY_TOO_DEEP"],
  ["an array", '[{"title":"x"}]', "BODY_NOT_OBJECT"],
  ["an empty array", "[]", "BODY_NOT_OBJECT"],
  ["a string", '"x"', "BODY_NOT_OBJECT"],
  ["a number", "1", "BODY_NOT_OBJECT"],
  ["null", "null", "BODY_NOT_OBJECT"],
  ["true", "true", "BODY_NOT_OBJECT"],
];

function manyMembers(n: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: n }, (_, index) => [`m${index}`, index]));
}

describe("content that cannot be kept", () => {
  runScenarios(
    () => service,
    [
      ...bad,
      ...contents.map(([what, body, problem]) => ({
        name: `a create of ${what} is refused with ${problem}`,
        headers: { "Content-Type": jsonType },
        path: topics,
        body,
        status: 400,
        problem,
      })),
    ].map((scenario) => ({ ...scenario, method: "POST" })),
  );

  test("creates nothing", async () => {
    for (const [, body] of contents)
      await service.send({
        method: "POST",
        path: "/api/v1/untouched",
        headers: { "Content-Type": jsonType },
        body,
      });
    const list = await service.send({ path: "/api/v1/untouched" });
    check(list, { status: 200, headers: { "X-Total-Count": "0" }, json: [] });
  });
});

const kept: [what: string, body: string, value: unknown][] = [
  ["64 levels", `{"a":${"[".repeat(63)}${"]".repeat(63)}}`, undefined],
  ["10,000 members in one object", JSON.stringify(manyMembers(10_000)), undefined],
  ["the largest and smallest integers", '{"a":9007199254740991,"b":-9007199254740991}', undefined],
  ["minus zero, as zero", '{"a":-0}', { a: 0 }],
  ["numbers in other spellings", '{"a":1.0,"b":1e2,"c":0.1000000000000000055}', { a: 1, b: 100, c: 0.1 }],
  ["an escaped surrogate pair", '{"a":"\\ud83d\\ude00"}', { a: "😀" }],
  ["blanks around the object", ' \r\n\t{"a":1}\n', { a: 1 }],
  ["names that objects inherit", '{"constructor":1,"toString":{"valueOf":[]},"prototype":null}', undefined],
];

describe("content that can be kept", () => {
  for (const [what, body, value] of kept)
    test(`may have ${what}`, async () => {
      const headers = { "Content-Type": jsonType };
      const answer = await service.send({ method: "POST", path: topics, headers, body });
      const { id, ...attributes } = answer.json as Record<string, unknown>;
      check(answer, { status: 201, headers: { ETag: '"1"' } });
      assert.deepEqual(attributes, value ?? JSON.parse(body));
      const read = await service.send({ path: `${topics}/${id}` });
      assert.equal(read.text, answer.text);
    });

  test("may have members called __proto__, which are only data", async () => {
    const body = '{"__proto__":{"polluted":true},"a":{"__proto__":1}}';
    const headers = { "Content-Type": jsonType };
    const answer = await service.send({ method: "POST", path: topics, headers, body });
    const { id } = answer.json as { id: string };
    assert.equal(answer.text, `{"id":"${id}","__proto__":{"polluted":true},"a":{"__proto__":1}}`);
    assert.equal(({} as Record<string, unknown>).polluted, undefined);
  });
});
