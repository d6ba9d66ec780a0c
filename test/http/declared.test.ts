import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { check, unknownId } from "./check.ts";
import { type Answer, type Service, startService } from "./service.ts";

const collections = {
  notes: {},
  users: {
    schema: {
      type: "object",
      required: ["name", "email"],
      properties: {
        name: { type: "string", minLength: 1, maxLength: 10 },
        email: { type: "string", format: "email" },
        age: { type: "integer", minimum: 0 },
        tags: { type: "array", items: { type: "string" } },
        address: {
          type: "object",
          required: ["city"],
          properties: { city: { type: "string" }, "a/b~c": { type: "string" } },
        },
        free: { type: "object" },
      },
    },
  },
  events: {
    schema: {
      type: "object",
      properties: {
        day: { type: "string", format: "date" },
        at: { type: "string", format: "date-time" },
        millis: { type: "integer", format: "unix-millis" },
        any: { format: "date-value" },
      },
    },
  },
  numbers: { id: "integer" },
  own: {
    schema: { type: "object", properties: { constructor: { type: "string" } }, required: ["toString"] },
  },
} as const;

let service: Service;
before(async () => {
  service = await startService({ collections });
});
after(() => service.stop());

const ann = { name: "Ann", email: "ann@example.org" };
const post = (collection: string, content: unknown) =>
  service.send({ method: "POST", path: `/api/v1/${collection}`, content });

interface Invalid {
  violations: { in: string; pointer: string; code: string }[];
  errors: Record<string, string>;
}

/** Checks for a 400 whose violations are at these pointers. */
function checkInvalid(answer: Answer, pointers: readonly string[]): void {
  check(answer, { status: 400, problem: "VALIDATION_FAILED" });
  const { violations } = answer.json as Invalid;
  for (const violation of violations) assert.equal(violation.in, "body");
  assert.deepEqual([...new Set(violations.map(({ pointer }) => pointer))].sort(), [...pointers].sort());
}

describe("a collection that nobody declared", () => {
  test("is an empty 404 for every method and path", async () => {
    for (const path of ["/api/v1/topics", "/api/v1/topics/", `/api/v1/topics/${unknownId}`, "/api/v1/Users"])
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY"])
        check(await service.send({ method, path }), { status: 404, headers: { Allow: undefined } });
    for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty", "valueOf"])
      check(await service.send({ path: `/api/v1/${name}` }), { status: 404 });
    check(await post("topics", {}), { status: 404 });
  });

  test("springs into being beside declared ones where that is configured", async () => {
    const both = await startService({ collections: { users: collections.users }, openCollections: true });
    try {
      await both.create("topics", { anything: 1 });
      const answer = await both.send({ method: "POST", path: "/api/v1/users", content: {} });
      checkInvalid(answer, ["#/email", "#/name"]);
    } finally {
      await both.stop();
    }
  });
});

describe("a declared collection", () => {
  test("is an empty list before its first create", async () => {
    check(await service.send({ path: "/api/v1/notes" }), {
      status: 200,
      headers: { "X-Total-Count": "0", "Content-Range": "notes */0" },
      json: [],
    });
  });

  test("without a schema takes any attributes", async () => {
    const { path, body } = await service.create("notes", { a: [1, { b: null }] });
    check(await service.send({ path }), { status: 200, json: body });
  });

  test("with a schema takes what fits, and gives it back unchanged", async () => {
    const sent = { ...ann, age: 40, tags: ["a"], address: { city: "Bern" }, free: { any: { thing: [1] } } };
    const answer = await post("users", sent);
    const { id } = answer.json as { id: string };
    check(answer, { status: 201, headers: { Location: `/api/v1/users/${id}` }, json: { id, ...sent } });
  });

  test("ignores an id of any type on create, as every collection does", async () => {
    for (const id of [5, null, {}, [], "x"]) check(await post("users", { id, ...ann }), { status: 201 });
  });
});

const invalid: [what: string, attributes: unknown, pointers: string[]][] = [
  ["nothing at all", {}, ["#/email", "#/name"]],
  ["an attribute that is missing", { name: "Ann" }, ["#/email"]],
  ["a string that is too short", { ...ann, name: "" }, ["#/name"]],
  ["a string that is too long", { ...ann, name: "x".repeat(11) }, ["#/name"]],
  ["a wrong type", { ...ann, name: 5 }, ["#/name"]],
  ["a null", { ...ann, name: null }, ["#/name"]],
  ["a text of a number, which is not turned into one", { ...ann, age: "40" }, ["#/age"]],
  ["a number that is no integer", { ...ann, age: 1.5 }, ["#/age"]],
  ["a number that is too small", { ...ann, age: -1 }, ["#/age"]],
  ["a bad format", { ...ann, email: "ann" }, ["#/email"]],
  ["a scalar for an array", { ...ann, tags: "a" }, ["#/tags"]],
  ["an item of the wrong type", { ...ann, tags: ["a", 1] }, ["#/tags/1"]],
  ["a nested attribute that is missing", { ...ann, address: {} }, ["#/address/city"]],
  [
    "a nested attribute with signs in its name",
    { ...ann, address: { city: "x", "a/b~c": 1 } },
    ["#/address/a~1b~0c"],
  ],
  ["an attribute that nobody declared", { ...ann, extra: 1 }, ["#/extra"]],
  ["a nested attribute that nobody declared", { ...ann, address: { city: "x", zip: 1 } }, ["#/address/zip"]],
  ["an undeclared attribute that objects inherit", { ...ann, constructor: 1 }, ["#/constructor"]],
  ["several at once", { name: "", email: 1, age: -1, extra: 1 }, ["#/age", "#/email", "#/extra", "#/name"]],
];

describe("a resource that does not fit the schema", () => {
  for (const [what, attributes, pointers] of invalid) {
    test(`for ${what} is refused by create with all that is wrong`, async () => {
      checkInvalid(await post("users", attributes), pointers);
    });

    test(`for ${what} is refused by PUT, which changes nothing`, async () => {
      const { id, path, body } = await service.create("users", ann);
      const content = { ...(attributes as object), id };
      checkInvalid(await service.send({ method: "PUT", path, content }), pointers);
      check(await service.send({ path }), { status: 200, headers: { ETag: '"1"' }, json: body });
    });
  }

  test("after a patch is refused, and stays as it was", async () => {
    const { path, body } = await service.create("users", ann);
    checkInvalid(await service.send({ method: "PATCH", path, content: { email: null, extra: 1 } }), [
      "#/email",
      "#/extra",
    ]);
    const headers = { "Content-Type": "application/json-patch+json" };
    const content = [{ op: "replace", path: "/name", value: 1 }];
    checkInvalid(await service.send({ method: "PATCH", path, headers, content }), ["#/name"]);
    check(await service.send({ path }), { status: 200, headers: { ETag: '"1"' }, json: body });
  });

  test("names at most 50 violations", async () => {
    const extra = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`m${n}`, n]));
    const answer = await post("users", { ...ann, ...extra });
    check(answer, { status: 400, problem: "VALIDATION_FAILED" });
    assert.equal((answer.json as Invalid).violations.length, 50);
  });

  test("names an undeclared attribute called __proto__", async () => {
    const answer = await service.send({
      method: "POST",
      path: "/api/v1/users",
      headers: { "Content-Type": "application/json" },
      body: '{"name":"Ann","email":"ann@example.org","__proto__":1}',
    });
    checkInvalid(answer, ["#/__proto__"]);
  });

  test("does not pass by what every object inherits", async () => {
    checkInvalid(await post("own", {}), ["#/toString"]);
  });
});

describe("a date", () => {
  const good: [attribute: string, values: unknown[]][] = [
    ["day", ["2024-02-29", "1970-01-01", "0001-01-01", "9999-12-31"]],
    ["at", ["2024-02-29T23:59:59.999Z", "1970-01-01T00:00:00.000Z"]],
    ["millis", [0, -1, 1_700_000_000_000, 8_640_000_000_000_000, -8_640_000_000_000_000]],
    ["any", ["2024-02-29", "2024-02-29T00:00:00.000Z", 1_700_000_000_000]],
  ];
  for (const [attribute, values] of good)
    for (const value of values)
      test(`${attribute} may be ${value}, and comes back as it was sent`, async () => {
        const answer = await post("events", { [attribute]: value });
        const { id } = answer.json as { id: string };
        check(answer, { status: 201, json: { id, [attribute]: value } });
      });

  const badDays = [
    "2024-02-30",
    "2023-02-29",
    "2024-13-01",
    "2024-00-10",
    "2024-1-1",
    "20240101",
    "2024-01-01 ",
    "",
  ];
  const badTimes = [
    ...[
      "2024-02-30T00:00:00.000Z",
      "2024-01-01T24:00:00.000Z",
      "2024-01-01T00:00:60.000Z",
      "2024-01-01T00:00:00Z",
    ],
    ...[
      "2024-01-01T00:00:00.0Z",
      "2024-01-01T00:00:00.0000Z",
      "2024-01-01t00:00:00.000z",
      "2024-01-01T00:00:00.000",
    ],
    ...["2024-01-01T00:00:00.000+00:00", "2024-01-01 00:00:00.000Z", "2024-01-01T23:60:00.000Z"],
  ];
  const badMillis = [1.5, 8_640_000_000_000_001, -8_640_000_000_000_001, "0", null, true];
  const bad: [attribute: string, values: unknown[]][] = [
    ["day", [...badDays, "2024-01-01T00:00:00.000Z", 0]],
    ["at", [...badTimes, "2024-01-01", 0]],
    ["millis", [...badMillis, "2024-01-01"]],
    ["any", [...badDays, ...badTimes, 1.5, null, true, [], {}, "0"]],
  ];
  for (const [attribute, values] of bad)
    for (const value of values)
      test(`${attribute} may not be ${JSON.stringify(value)}`, async () => {
        checkInvalid(await post("events", { [attribute]: value }), [`#/${attribute}`]);
      });
});

describe("a collection of integer ids", () => {
  test("gives ids that are JSON numbers and ascend", async () => {
    const ids: number[] = [];
    for (let n = 0; n < 12; n++) {
      const answer = await post("numbers", { n });
      const { id } = answer.json as { id: number };
      assert.ok(Number.isSafeInteger(id), answer.text);
      check(answer, {
        status: 201,
        headers: {
          Location: `/api/v1/numbers/${id}`,
          "Content-Location": `/api/v1/numbers/${id}`,
          ETag: '"1"',
        },
        json: { id, n },
      });
      ids.push(id);
    }
    assert.deepEqual(
      ids,
      ids.toSorted((a, b) => a - b),
    );
    assert.equal(new Set(ids).size, 12);
    const all: unknown[] = [];
    for (let path: string | undefined = "/api/v1/numbers?limit=5"; path !== undefined; ) {
      const page: Answer = await service.send({ path });
      all.push(...(page.json as { id: number }[]).map(({ id }) => id));
      path = /<([^>]*)>; rel="next"/.exec(page.headers.link ?? "")?.[1];
    }
    assert.deepEqual(all, ids, "2 comes before 10");
  });

  test("takes the id in a PUT as number or as its shortest text, and gives the number back", async () => {
    const { path, body } = await service.create("numbers", { n: 0 });
    const id = body.id as number;
    for (const [n, sent] of [id, String(id)].entries())
      check(await service.send({ method: "PUT", path, content: { id: sent, n: n + 1 } }), {
        status: 200,
        headers: { "Content-Location": path },
        json: { id, n: n + 1 },
      });
  });

  test("refuses every other id in a PUT or PATCH", async () => {
    const { path, body } = await service.create("numbers", { n: 0 });
    const id = body.id as number;
    for (const sent of [`0${id}`, `${id}.0`, ` ${id}`, `+${id}`, id + 1, id + 0.5, [id], true, null, {}, ""])
      for (const method of ["PUT", "PATCH"])
        check(await service.send({ method, path, content: { id: sent, n: 1 } }), {
          status: 400,
          problem: "ID_MISMATCH",
        });
    check(await service.send({ path }), { status: 200, headers: { ETag: '"1"' }, json: body });
  });

  test("knows a resource by the shortest text of its id alone", async () => {
    const { id } = await service.create("numbers", {});
    for (const odd of [
      `0${id}`,
      `${id}.0`,
      `+${id}`,
      `${id}e0`,
      `%20${id}`,
      `-${id}`,
      `0x${Number(id).toString(16)}`,
    ])
      check(await service.send({ path: `/api/v1/numbers/${odd}` }), { status: 404 });
    for (const odd of ["9007199254740993", "1e400", "abc", "99999999999999999999999"])
      check(await service.send({ path: `/api/v1/numbers/${odd}` }), { status: 404 });
  });

  test("never gives an id again", async () => {
    const first = await service.create("numbers", {});
    check(await service.send({ method: "DELETE", path: first.path }), { status: 205 });
    const second = await service.create("numbers", { id: Number(first.id) });
    assert.ok(Number(second.id) > Number(first.id));
    check(await service.send({ path: first.path }), { status: 404 });
  });
});
