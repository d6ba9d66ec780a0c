import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check, unknownId } from "./check.ts";
import { type Answer, startFor, startServiceForFile } from "./service.ts";

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
  own: {
    schema: {
      type: "object",
      properties: { constructor: { type: "string" }, toString: { type: "string" } },
      required: ["toString"],
    },
  },
} as const;

const service = await startServiceForFile({ collections });

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

  test("springs into being beside declared ones where that is configured", async (t) => {
    const both = await startFor(t, { collections: { users: collections.users }, openCollections: true });
    await both.create("topics", { anything: 1 });
    const answer = await both.send({ method: "POST", path: "/api/v1/users", content: {} });
    checkInvalid(answer, ["#/email", "#/name"]);
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
