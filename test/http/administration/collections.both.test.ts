/** What `_collections` shows to each caller. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { owner } from "../../../src/access/access-declaration.ts";
import { until } from "../../until.ts";
import { auth, sendWith } from "../access/callers.ts";
import { check } from "../check.ts";
import { type Answer, startFor, startServiceForFile } from "../service.ts";
import { refusesWithoutTlsAndTooOften } from "./refusals.ts";

const path = "/api/v1/_collections";
const ops = { sub: "olga", roles: ["ops"] };
const hr = { sub: "hans", roles: ["hr"] };
const ada = { sub: "ada" };

const service = await startServiceForFile({
  auth: { ...auth, administrators: [{ role: "ops" }] },
  collections: {
    people: {
      id: "integer",
      schema: {
        type: "object",
        required: ["name", "salary"],
        properties: {
          name: { type: "string", maxLength: 50 },
          salary: { $ref: "#/$defs/money" },
          pin: { type: "string", writeOnly: true },
          bossId: { type: "integer" },
          secretBossId: { type: "integer" },
        },
        examples: [{ name: "Ada", salary: 7 }],
        $defs: { money: { type: "integer", description: "In euros" } },
      },
      attributes: { salary: { roles: ["hr"] }, secretBossId: { roles: ["hr"] } },
      defaults: { salary: 100, pin: "7777" },
      indexes: ["name", ["-salary", "name"]],
      unique: ["name", "secretBossId"],
      search: ["name"],
      references: { bossId: "people", secretBossId: { collection: "people", as: "secretBoss" } },
      timestamps: true,
      access: { read: "authenticated", write: { role: "hr" } },
    },
    notes: { access: { read: owner("authorId"), create: "public" } },
    vault: { access: { read: { role: "ops" }, write: "nobody" } },
  },
});

type Details = Record<string, unknown> & { name: string };

async function collectionsFor(who?: Record<string, unknown>): Promise<Details[]> {
  const answer = who === undefined ? await service.send({ path }) : await sendWith(service, who, { path });
  assert.equal(answer.status, 200, answer.text);
  return (answer.json as { collections: Details[] }).collections;
}

const namesFor = async (who?: Record<string, unknown>) => (await collectionsFor(who)).map(({ name }) => name);

async function detailsOf(name: string, who: Record<string, unknown>): Promise<Details> {
  const found = (await collectionsFor(who)).find((each) => each.name === name);
  assert.ok(found);
  return found;
}

describe("the collections", () => {
  test("are those that the caller can list", async () => {
    assert.deepEqual(await namesFor(), []);
    assert.deepEqual(await namesFor(ada), ["notes", "people"]);
    assert.deepEqual(await namesFor(ops), ["notes", "people", "vault"]);
    assert.deepEqual(await namesFor({ ...ada, scope: "people:read" }), ["people"]);
  });

  test("have all options for a caller who sees all attributes", async () => {
    const people = await detailsOf("people", hr);
    const { schema, ...others } = people as Details & { schema: Record<string, unknown> };
    assert.deepEqual(others, {
      name: "people",
      href: "/api/v1/people",
      declared: true,
      id: "integer",
      defaults: { salary: 100 },
      timestamps: true,
      requirePreconditions: false,
      indexes: [["name"], ["-salary", "name"]],
      unique: [
        { attribute: "name", ignoreCase: false },
        { attribute: "secretBossId", ignoreCase: false },
      ],
      search: ["name"],
      references: [
        { attribute: "bossId", collection: "people", onDelete: "restrict" },
        { attribute: "secretBossId", collection: "people", onDelete: "restrict" },
      ],
      relations: [
        { name: "boss", kind: "reference", collection: "people", attribute: "bossId", list: false },
        {
          name: "secretBoss",
          kind: "reference",
          collection: "people",
          attribute: "secretBossId",
          list: false,
        },
      ],
      operations: ["list", "read", "create", "update", "delete"],
      count: 0,
    });
    assert.deepEqual(schema.required, ["name"]);
    assert.equal(schema.additionalProperties, false);
    assert.deepEqual(schema.examples, [{ name: "Ada", salary: 7 }]);
  });

  test("show nothing of attributes that are restricted to other roles", async () => {
    const people = await detailsOf("people", ada);
    assert.doesNotMatch(JSON.stringify(people), /salary|secretBoss|money|euros|"hr"/);
    const { properties, required } = people.schema as Record<string, object>;
    assert.deepEqual(Object.keys(properties ?? {}), ["name", "pin", "bossId"]);
    assert.deepEqual(required, ["name"]);
    assert.deepEqual(people.indexes, [["name"]]);
    assert.deepEqual(people.defaults, {});
    assert.deepEqual(people.operations, ["list", "read"]);
  });

  test("have a count only if the caller can list every resource, and rules only for administrators", async () => {
    await sendWith(service, hr, {
      method: "POST",
      path: "/api/v1/people",
      content: { name: "Bea", salary: 1 },
    });
    await sendWith(service, hr, { method: "POST", path: "/api/v1/notes", content: { authorId: "bea" } });
    assert.equal((await detailsOf("people", ada)).count, 1);
    assert.equal((await detailsOf("notes", ada)).count, undefined);
    assert.equal((await detailsOf("notes", ops)).count, undefined);
    assert.equal((await detailsOf("people", ada)).rules, undefined);
    for (const who of [ada, hr]) assert.ok(!("bytes" in (await detailsOf("people", who))));
    assert.deepEqual((await detailsOf("notes", ops)).rules, {
      list: [{ at: "collections.notes.access.read", rule: { where: { authorId: "$subject" } } }],
      read: [{ at: "collections.notes.access.read", rule: { where: { authorId: "$subject" } } }],
      create: [{ at: "collections.notes.access.create", rule: "public" }],
      update: [],
      delete: [],
    });
  });

  test("have a size for administrators", async () => {
    let all: Details[] = [];
    await until("all sizes are known", async () => {
      all = await collectionsFor(ops);
      return all.every(({ bytes }) => bytes !== undefined);
    });
    for (const { name, bytes } of all) assert.ok(Number.isInteger(bytes) && Number(bytes) > 0, name);
  });

  test("are hidden together with what only a schema as a whole can say", async (t) => {
    const own = await startFor(t, {
      auth,
      collections: {
        a: {
          schema: {
            type: "object",
            properties: { x: { type: "integer" }, y: { type: "integer" } },
            not: { required: ["x", "y"] },
          },
          attributes: { y: { roles: ["hr"] } },
        },
      },
    });
    const schemaFor = async (who: Record<string, unknown>) =>
      ((await sendWith(own, who, { path })).json as { collections: Details[] }).collections[0]?.schema;
    assert.equal(await schemaFor(ada), null);
    assert.notEqual(await schemaFor(hr), null);
  });
});

describe("in open mode, the list", () => {
  test("has the collections that exist, in pages", async (t) => {
    const open = await startFor(t);
    for (const name of ["b", "C", "a", "d"]) await open.create(name, { n: 1 });
    const pages: string[][] = [];
    let next: string | undefined = `${path}?limit=3`;
    while (next !== undefined) {
      const answer: Answer = await open.send({ path: next });
      const body = answer.json as { collections: Details[]; next?: string };
      pages.push(body.collections.map(({ name }) => name));
      next = body.next;
    }
    assert.deepEqual(pages, [["C", "a", "b"], ["d"]]);
    const [first] = ((await open.send({ path })).json as { collections: Details[] }).collections;
    assert.deepEqual([first?.declared, first?.schema, first?.count, first?.rules], [false, null, 1, null]);
  });

  test("has only reads if the service is read-only", async (t) => {
    const open = await startFor(t, { collections: { a: {} }, seeds: { a: [] }, readOnly: true });
    const body = (await open.send({ path })).json as { collections: Details[] };
    assert.deepEqual(body.collections[0]?.operations, ["list", "read"]);
  });
});

describe("the path", () => {
  test("supports conditional requests", async (t) => {
    const open = await startFor(t);
    await open.create("a", { n: 1 });
    let etag = "";
    await until("the size is known, so that it no longer changes the ETag", async () => {
      const { headers, json } = await open.send({ path });
      etag = String(headers.etag);
      return (json as { collections: Details[] }).collections[0]?.bytes !== undefined;
    });
    check(await open.send({ path, headers: { "If-None-Match": etag } }), {
      status: 304,
      headers: { ETag: etag },
    });
    await open.create("a", { n: 2 });
    check(await open.send({ path, headers: { "If-None-Match": etag } }), { status: 200 });
    check(await open.send({ path, headers: { "If-Match": etag } }), {
      status: 412,
      problem: "PRECONDITION_FAILED",
      headers: { "Cache-Control": "no-store" },
    });
  });

  test("refuses other methods, formats, parameters and credentials", async (t) => {
    for (const query of ["limit=0", "limit=501", "limit=1&limit=2", "page=2"])
      check(await service.send({ path: `${path}?${query}` }), { status: 400, problem: "INVALID_PARAMETER" });
    check(await service.send({ path, headers: { Accept: "image/png" } }), {
      status: 406,
      problem: "NOT_ACCEPTABLE",
    });
    check(await service.send({ path, headers: { Authorization: "Bearer x" } }), {
      status: 401,
      problem: "INVALID_TOKEN",
    });
    check(await service.send({ method: "DELETE", path }), {
      status: 405,
      problem: "METHOD_NOT_ALLOWED",
      headers: { Allow: "GET, HEAD, OPTIONS" },
    });
    check(await service.send({ method: "OPTIONS", path }), {
      status: 204,
      headers: { Allow: "GET, HEAD, OPTIONS" },
    });
    check(await service.send({ method: "HEAD", path }), {
      status: 200,
      headers: { "Cache-Control": "private, no-cache" },
    });
    check(await service.send({ path: `${path}/people` }), { status: 404 });
    await refusesWithoutTlsAndTooOften(t, { path });
  });
});
