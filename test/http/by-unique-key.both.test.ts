/** Writes by a unique key: PUT, PATCH and DELETE of a collection with the values of a unique attribute in the query. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { owner } from "../../src/access/access-declaration.ts";
import { machineTime, until } from "../until.ts";
import { auth, type Caller, sendAs } from "./access/callers.ts";
import { check } from "./check.ts";
import { batchesMakeOne, clientsMakeOne, clientsMeetNoConflict } from "./key-races.ts";
import { type Answer, type Request, startFor, startServiceForFile } from "./service.ts";
import { beforeRead, type HeldCommit, holdCommits } from "./store-spy.ts";

const text = { type: "string", maxLength: 100 } as const;
const service = await startServiceForFile({
  openCollections: true,
  collections: {
    people: {
      schema: {
        type: "object",
        additionalProperties: false,
        properties: {
          email: text,
          name: text,
          login: text,
          nick: { type: ["string", "null"], maxLength: 50 },
          visits: { type: "integer" },
          team: { type: "object", properties: { id: text, seat: { type: "integer" } } },
        },
      },
      unique: [
        { attribute: "email", ignoreCase: true },
        "login",
        "nick",
        ["team.id", "team.seat"],
        { attribute: "name", where: { visits: { gte: 100 } } },
      ],
    },
    counters: {
      id: "integer",
      schema: {
        properties: {
          number: { type: "integer" },
          isMain: { type: "boolean" },
          day: { type: "string", format: "date" },
          at: { type: "integer", format: "unix-millis" },
          n: { type: "integer" },
        },
      },
      unique: ["number", "isMain", "day", "at"],
      timestamps: true,
      defaults: { n: 7 },
    },
    careful: { schema: { properties: { code: text } }, unique: ["code"], requirePreconditions: true },
    partly: { schema: { properties: { code: text } }, unique: [{ attribute: "code", where: { code: "a" } }] },
    notes: { schema: { properties: { personId: text } }, references: { personId: "people" } },
  },
});

const base = "/api/v1";
let number = 0;
const fresh = () => `p${++number}@x.org`;
const request = (method: string, key: string, content?: unknown, headers: Record<string, string> = {}) =>
  ({ method, path: `${base}/${key}`, ...(content !== undefined && { content }), headers }) as Request;
const send = (...given: Parameters<typeof request>) => service.send(request(...given));
const at = (email: string) => `people?email=${encodeURIComponent(email)}`;
const idOf = ({ json }: Answer) => (json as { id: string }).id;
const listed = async (query: string) =>
  (await service.send({ path: `${base}/${query}` })).json as Record<string, unknown>[];

describe("a PUT by a unique key", () => {
  test("creates the resource, and then replaces it", async () => {
    const email = fresh();
    const made = await send("PUT", at(email), { email, name: "Ada" });
    const id = idOf(made);
    const path = `${base}/people/${id}`;
    check(made, {
      status: 201,
      headers: { Location: path, "Content-Location": path, ETag: '"1"' },
      json: { id, email, name: "Ada" },
    });
    const changed = await send("PUT", at(email), { email, visits: 1 });
    check(changed, {
      status: 200,
      headers: { Location: undefined, "Content-Location": path, ETag: '"2"' },
      json: { id, email, visits: 1 },
    });
    const same = await send("PUT", at(email), { id, email, visits: 1 });
    check(same, { status: 200, headers: { ETag: '"2"' }, json: { id, email, visits: 1 } });
    check(await send("PUT", at(email), { email }, { Prefer: "return=minimal" }), { status: 204 });
    assert.equal((await listed(at(email))).length, 1);
  });

  test("is a POST in the history where it creates, and an update where it replaces", async () => {
    const email = fresh();
    const { headers } = await send("PUT", at(email), { email });
    await send("PUT", at(email), { email, visits: 1 });
    const { json } = await service.send({ path: `${headers.location}/_changes` });
    assert.deepEqual(
      (json as { kind: string }[]).map(({ kind }) => kind),
      ["updated", "created"],
    );
  });

  test("ignores an id where it creates, and needs that of the resource where it replaces", async () => {
    const email = fresh();
    const id = idOf(await send("PUT", at(email), { id: "mine", email }));
    assert.notEqual(id, "mine");
    check(await send("PUT", at(email), { id: "mine", email }), { status: 400, problem: "ID_MISMATCH" });
    check(await send("PUT", at(email), { email, id }), { status: 200, json: { email, id } });
  });

  test("needs the same values in the body", async () => {
    const email = fresh();
    for (const content of [{}, { email: fresh() }, { email: null }, { email: 5 }]) {
      const answer = await send("PUT", at(email), content);
      check(answer, {
        status: 400,
        problem: "VALIDATION_FAILED",
        violations: [{ in: "body", pointer: "#/email", code: "uniqueKey" }],
      });
      await send("PUT", at("all@x.org"), { email: "all@x.org" });
      check(await send("PUT", at("all@x.org"), content), { status: 400, problem: "VALIDATION_FAILED" });
    }
  });

  test("compares as the unique attribute does", async () => {
    const email = fresh();
    const id = idOf(await send("PUT", at(email), { email }));
    const upper = email.toUpperCase();
    check(await send("PUT", at(upper), { email: upper }), { status: 200, json: { id, email: upper } });
    check(await send("PUT", at(email), { email: upper }), { status: 200, json: { id, email: upper } });
    check(await send("PATCH", at(email), { visits: 3 }), {
      status: 200,
      json: { id, email: upper, visits: 3 },
    });
  });

  test("by a combination, in any order", async () => {
    const team = { id: `t${++number}`, seat: 4 };
    const made = await send("PUT", `people?team.id=${team.id}&team.seat=4`, { team });
    check(made, { status: 201, json: { id: idOf(made), team } });
    const changed = await send("PUT", `people/?team.seat=4&team.id=${team.id}`, { team, name: "Bo" });
    check(changed, { status: 200, json: { id: idOf(made), team, name: "Bo" } });
    check(await send("PUT", `people?team.seat=5&team.id=${team.id}`, { team }), {
      status: 400,
      problem: "VALIDATION_FAILED",
      violations: [{ pointer: "#/team/id" }, { pointer: "#/team/seat" }],
    });
  });

  for (const [query, value, same] of [
    ["number=5", { number: 5 }, "number=5e0"],
    ["isMain=true", { isMain: true }, "isMain=true"],
    ["day=2026-01-31", { day: "2026-01-31" }, "day=2026-01-31T00:00Z"],
    ["at=1769848200000", { at: 1769848200000 }, "at=2026-01-31T08:30Z"],
  ] as const)
    test(`by ${query}`, async () => {
      const made = await send("PUT", `counters?${query}`, value);
      check(made, { status: 201, headers: { ETag: undefined } });
      const { createdAt: _, updatedAt: __, ...rest } = made.json as Record<string, unknown>;
      assert.deepEqual(rest, { id: idOf(made), ...value, n: 7 });
      const changed = await send("PUT", `counters?${same}`, { ...value, n: 8 });
      check(changed, { status: 200, headers: { ETag: undefined } });
      assert.equal(idOf(changed), idOf(made));
    });

  test("checks what a create and a replace check", async () => {
    const [a, b] = [fresh(), fresh()];
    check(await send("PUT", at(a), { email: a, more: 1 }), { status: 400, problem: "VALIDATION_FAILED" });
    check(await send("PUT", at(a), { email: a, login: "ada" }), { status: 201 });
    const taken = {
      status: 409,
      problem: "UNIQUE_VIOLATION",
      violations: [{ pointer: "#/login" }],
      more: ["holder"],
    } as const;
    check(await send("PUT", at(b), { email: b, login: "ada" }), taken);
    assert.deepEqual(await listed(at(b)), []);
    check(await send("PUT", at(b), { email: b }), { status: 201 });
    check(await send("PUT", at(b), { email: b, login: "ada" }), taken);
    const part = { "Content-Range": "bytes 0-1/2" };
    check(await send("PUT", at(b), { email: b }, part), { status: 400, problem: "INVALID_PARAMETER" });
    check(await send("PUT", at(fresh()), { email: b }, part), { status: 400, problem: "INVALID_PARAMETER" });
  });
});

describe("a PATCH or DELETE by a unique key", () => {
  test("changes and deletes the resource", async () => {
    const email = fresh();
    const id = idOf(await send("PUT", at(email), { email, visits: 1 }));
    const update = { "Content-Type": "application/vnd.holdfast.update+json" };
    const patched = await send("PATCH", at(email), { visits: { $increment: 2 } }, update);
    check(patched, {
      status: 200,
      headers: { "Content-Location": `${base}/people/${id}`, ETag: '"2"' },
      json: { id, email, visits: 3 },
    });
    check(await send("PATCH", at(email), { visits: 4 }, { Prefer: "return=minimal" }), { status: 204 });
    const next = fresh();
    check(await send("PATCH", at(email), { email: next }), {
      status: 200,
      json: { id, email: next, visits: 4 },
    });
    check(await send("PATCH", at(next), { id: "other" }), { status: 400, problem: "ID_MISMATCH" });
    check(await send("DELETE", at(email)), { status: 404 });
    check(await send("DELETE", at(next)), { status: 205 });
    check(await service.send({ path: `${base}/people/${id}` }), { status: 404 });
  });

  test("is a 404 if no resource has the key", async () => {
    check(await send("PATCH", at(fresh()), { visits: 1 }), { status: 404 });
    check(await send("DELETE", at(fresh())), { status: 404 });
  });

  test("is a 409 if other resources refer to the deleted one", async () => {
    const email = fresh();
    const personId = idOf(await send("PUT", at(email), { email }));
    await service.create("notes", { personId });
    check(await send("DELETE", at(email)), { status: 409, problem: "REFERENCED" });
  });
});

describe("the query", () => {
  const queries = [
    "name=Ada",
    "nobody=1",
    "email=a&login=b",
    "team.id=a",
    "email:eq=a",
    "email:in=a",
    "limit=1",
    "id=1",
    "=a",
  ];
  for (const query of queries)
    for (const method of ["PUT", "PATCH", "DELETE"])
      test(`${method} ?${query} is a 400 with the keys`, async () => {
        const answer = await send(method, `people?${query}`, method === "DELETE" ? undefined : {});
        check(answer, {
          status: 400,
          problem: "INVALID_PARAMETER",
          violations: [{ in: "query", code: "uniqueKey" }],
        });
        const { detail } = answer.json as { detail: string };
        assert.match(detail, /"email"; "login"; "nick"; "team.id" and "team.seat"\.$/);
      });

  for (const [query, code] of [
    ["email=a&email=a", "repeatedParameter"],
    ["nick=null", "value"],
    ["email=%FF", "encoding"],
    ["team.id=a&team.seat=b", "value"],
  ] as const)
    test(`?${query} is a 400`, async () => {
      const answer = await send("DELETE", `people?${query}`);
      check(answer, { status: 400, problem: "INVALID_PARAMETER", violations: [{ in: "query", code }] });
    });

  for (const query of ["number=x", "isMain=1", "day=null", "day=soon", "at=x", "number="])
    test(`?${query} is a 400, because it is no value of the attribute`, async () => {
      const answer = await send("DELETE", `counters?${query}`);
      check(answer, {
        status: 400,
        problem: "INVALID_PARAMETER",
        violations: [{ in: "query", code: "value" }],
      });
    });

  test("without a query, and without unique keys, the methods are a 405 as ever", async () => {
    const allow = "GET, HEAD, POST, QUERY, OPTIONS";
    for (const path of ["people", "people/", "people?", "notes?personId=1", "partly?code=a", "open?a=1"])
      for (const method of ["PUT", "PATCH", "DELETE"]) {
        const answer = await send(method, path, method === "DELETE" ? undefined : {});
        check(answer, { status: 405, problem: "METHOD_NOT_ALLOWED", headers: { Allow: allow } });
      }
    check(await send("OPTIONS", "people"), {
      status: 204,
      headers: { Allow: allow, "Accept-Patch": undefined },
    });
    check(await send("OPTIONS", at("a")), {
      status: 204,
      headers: {
        Allow: "GET, HEAD, POST, QUERY, PUT, PATCH, DELETE, OPTIONS",
        "Accept-Patch": /^application\/merge-patch\+json/,
      },
    });
    check(await service.send({ method: "POST", path: `${base}/${at("a")}`, content: {} }), {
      status: 400,
      problem: "INVALID_PARAMETER",
    });
  });

  test("a nested path has no such methods", async () => {
    const answer = await send("PUT", "people/a/notes?email=a", {});
    check(answer, { status: 405, problem: "METHOD_NOT_ALLOWED" });
  });
});

test("contents, formats and quotas are those of every write", async (t) => {
  const email = fresh();
  await send("PUT", at(email), { email });
  for (const method of ["PUT", "PATCH"]) {
    const as = (headers: Record<string, string>, more = {}) =>
      send(method, at(email), { email, ...more }, headers);
    check(await as({ Accept: "image/png" }), { status: 406, problem: "NOT_ACCEPTABLE" });
    check(await as({ "Content-Type": "text/plain" }), { status: 415, problem: "UNSUPPORTED_MEDIA_TYPE" });
    check(await as({}, { name: "x".repeat(2_000_000) }), { status: 413, problem: "CONTENT_TOO_LARGE" });
  }
  await send("PUT", at("taken@x.org"), { email: "taken@x.org" });
  check(await send("PATCH", at(email), { email: "taken@x.org" }), {
    status: 409,
    problem: "UNIQUE_VIOLATION",
    more: ["holder"],
  });
  const limited = await startFor(t, {
    collections: { people: { schema: { properties: { email: text } }, unique: ["email"] } },
    rate: { requests: 1, perSeconds: 600 },
  });
  await limited.send({ path: `${base}/people` });
  for (const method of ["PUT", "PATCH", "DELETE"])
    check(await limited.send(request(method, at("a"), method === "DELETE" ? undefined : { email: "a" })), {
      status: 429,
      problem: "QUOTA_EXCEEDED",
    });
});

describe("preconditions", () => {
  const failed = { status: 412, problem: "PRECONDITION_FAILED" } as const;

  test("If-None-Match: * only creates, and If-Match only replaces", async () => {
    const email = fresh();
    check(await send("PUT", at(email), { email }, { "If-Match": "*" }), failed);
    check(await send("PUT", at(email), { email }, { "If-Match": '"1"' }), failed);
    check(await send("PUT", at(email), { email }, { "If-None-Match": "*" }), { status: 201 });
    const etag = { ETag: '"1"' };
    check(await send("PUT", at(email), { email }, { "If-None-Match": "*" }), { ...failed, headers: etag });
    for (const method of ["PUT", "PATCH", "DELETE"]) {
      const content = method === "DELETE" ? undefined : { email };
      check(await send(method, at(email), content, { "If-Match": '"9"' }), { ...failed, headers: etag });
    }
    check(await send("PUT", at(email), { email }, { "If-Match": '"1"' }), { status: 200, headers: etag });
    check(await send("DELETE", at(email), undefined, { "If-Match": '"1"' }), { status: 205 });
  });

  test("where a collection requires them, a create needs none", async () => {
    const put = (headers = {}) => send("PUT", "careful?code=a", { code: "a" }, headers);
    check(await put(), { status: 201 });
    check(await put(), { status: 428, problem: "PRECONDITION_REQUIRED" });
    check(await put({ "If-Match": '"1"' }), { status: 200 });
    check(await send("PATCH", "careful?code=a", {}), { status: 428, problem: "PRECONDITION_REQUIRED" });
    check(await send("DELETE", "careful?code=a"), { status: 428, problem: "PRECONDITION_REQUIRED" });
  });
});

describe("with an Idempotency-Key", () => {
  test("a retry gets the kept answer", async () => {
    const email = fresh();
    const key = { "Idempotency-Key": `"${email}"` };
    const put = (content: object, place = at(email)) => send("PUT", place, content, key);
    const first = await put({ email });
    check(first, { status: 201, headers: { "Idempotent-Replayed": undefined } });
    const replayed = { status: 201, headers: { "Idempotent-Replayed": "true" }, json: first.json };
    check(await put({ email }), replayed);
    check(await put({ email }, `people?email=${email}`), replayed);
    check(await put({ email, visits: 1 }), { status: 422, problem: "IDEMPOTENCY_KEY_REUSED" });
    check(await send("PUT", at(email), { email, visits: 1 }), { status: 200 });
  });

  test("the key of another resource is another one", async () => {
    const [a, b] = [fresh(), fresh()];
    for (const email of [a, b]) await send("PUT", at(email), { email, visits: 1 });
    const headers = { "Idempotency-Key": `"${a}"`, "Content-Type": "application/vnd.holdfast.update+json" };
    for (const email of [a, a, b, b]) await send("PATCH", at(email), { visits: { $increment: 1 } }, headers);
    for (const email of [a, b]) assert.equal((await listed(at(email)))[0]?.visits, 2);
    const reused = await send("PATCH", at(a), { visits: { $increment: 2 } }, headers);
    check(reused, { status: 422, problem: "IDEMPOTENCY_KEY_REUSED" });
  });
});

describe("at once", () => {
  test("clients with one key make one resource, and no change is lost", () => clientsMakeOne(service, 20));

  test("batches with one key make one resource", () => batchesMakeOne(service, 20));

  /** A service whose commits wait until they are let go, with a PUT by a key that another resource gets before its commit. */
  async function overtakenPut(t: TestContext) {
    const own = await startFor(t, {
      collections: {
        people: { schema: { properties: { code: text, n: { type: "integer" } } }, unique: ["code"] },
      },
    });
    await own.create("people", { code: "first" }); // the collection exists from now on
    const { held, end } = holdCommits(t);
    /** The next commit, which waits. */
    const next = () => {
      const n = held.length;
      return async () => {
        await until("another commit comes", () => held.length > n);
        return held[n] as HeldCommit;
      };
    };
    const begin = async (asked: Request): Promise<[Promise<Answer>, HeldCommit]> => {
      const comes = next();
      const answer = own.send(asked);
      return [answer, await comes()];
    };
    const path = `${base}/people/x`;
    const create = async () => {
      const headers = { "If-None-Match": "*" };
      const [created, creating] = await begin({
        method: "PUT",
        path,
        content: { id: "x", code: "k" },
        headers,
      });
      creating.letGo();
      check(await created, { status: 201 });
    };
    const content = { code: "k", n: 1 };
    const [put, first] = await begin({ method: "PUT", path: `${base}/people?code=k`, content });
    await create();
    return { put, first, begin, next, create, end, path };
  }

  test("a PUT that finds its key taken, free and taken by the same resource again changes that one", async (t) => {
    const { put, first, begin, next, create, end, path } = await overtakenPut(t);
    const [deleted, deleting] = await begin({ method: "DELETE", path });
    const retried = next();
    first.letGo(); // the key is taken
    deleting.letGo();
    check(await deleted, { status: 205 });
    const second = await retried();
    await create();
    end();
    second.letGo(); // it is taken again
    const answer = await put;
    check(answer, { status: 200 });
    assert.deepEqual(answer.json, { id: "x", code: "k", n: 1 });
  });

  test("a PUT that finds its key taken by a resource that then gets another value creates one", async (t) => {
    const { put, first, begin, end, path } = await overtakenPut(t);
    const [renamed, renaming] = await begin({ method: "PATCH", path, content: { code: "other" } });
    end();
    first.letGo();
    renaming.letGo();
    check(await renamed, { status: 200 });
    check(await put, { status: 201 });
  });

  test("a PATCH whose resource gets another value before it is changed changes nothing", async (t) => {
    const { id, path } = await service.create("people", { email: fresh() });
    const email = String((await listed(`people?id=${id}`))[0]?.email);
    const other = JSON.stringify({ id, email: fresh() });
    // The first read finds the resource by its key, and the second one begins the change.
    beforeRead(t, 2, (store) =>
      store.commit({
        changes: [{ key: { collection: "people", id }, expect: 1, next: other }],
        at: machineTime(),
      }),
    );
    check(await send("PATCH", at(email), { visits: 7 }), { status: 404 });
    assert.deepEqual((await service.send({ path })).json, JSON.parse(other));
  });

  test("clients that create, change, rename and delete one key meet no 409 and no second resource", () =>
    clientsMeetNoConflict(service, { clients: 8, requests: 4 }));
});

describe("in a batch", () => {
  const batch = (operations: object[]) => send("POST", "_batch", { operations });

  test("each operation sees the earlier ones", async () => {
    const [email, other] = [fresh(), fresh()];
    const answer = await batch([
      { method: "PUT", path: `/${at(email)}`, body: { email }, as: "ada" },
      { method: "PUT", path: `/${at(email)}`, body: { email, visits: 1 } },
      { method: "PATCH", path: `/${at(email)}`, body: { email: other } },
      { method: "DELETE", path: `/${at(other)}` },
      { method: "PUT", path: `/${at(email)}`, body: { email, visits: 2 }, as: "bo" },
      { method: "POST", path: "/notes", body: { personId: { $ref: "bo" } } },
    ]);
    check(answer, { status: 200 });
    const { results } = answer.json as {
      results: { status: number; body: { id: string; personId: string } }[];
    };
    assert.deepEqual(
      results.map(({ status }) => status),
      [201, 200, 200, 205, 201, 201],
    );
    assert.equal(results[5]?.body.personId, results[4]?.body.id);
    assert.notEqual(results[0]?.body.id, results[4]?.body.id);
    const again = await batch([{ method: "PUT", path: `/${at(email)}`, body: { email }, as: "bo" }]);
    assert.equal((again.json as typeof answer.json as { results: typeof results }).results[0]?.status, 200);
  });

  test("a name is for a POST and for a PUT by a unique key alone", async () => {
    for (const operation of [
      { method: "PATCH", path: `/${at("a")}`, body: {}, as: "a" },
      { method: "PUT", path: "/people/a", body: {}, as: "a" },
    ])
      check(await batch([operation]), { status: 400, problem: "INVALID_BATCH" });
  });

  test("a conflict with another unique value, and an unknown key, have the index of their operation", async () => {
    const [email, login] = [fresh(), `l${++number}`];
    await service.create("people", { login });
    const put = { method: "PUT", path: `/${at(email)}`, body: { email, login } };
    const first = { method: "POST", path: "/notes", body: {} };
    check(await batch([first, put]), {
      status: 409,
      problem: "UNIQUE_VIOLATION",
      more: ["operation", "holder"],
    });
    check(await batch([first, { method: "DELETE", path: `/${at(email)}` }]), {
      status: 400,
      problem: "OPERATION_NOT_FOUND",
      more: ["operation"],
    });
  });
});

const guarded = await startServiceForFile({
  auth,
  collections: {
    own: {
      schema: { properties: { code: text, authorId: text } },
      unique: ["code"],
      access: { read: owner("authorId"), write: owner("authorId") },
    },
    makes: {
      schema: { properties: { code: text } },
      unique: ["code"],
      access: { create: "authenticated", read: "authenticated" },
    },
    changes: {
      schema: { properties: { code: text } },
      unique: ["code"],
      access: { update: "authenticated", read: "authenticated" },
    },
    secret: {
      schema: { properties: { code: text, badge: text } },
      unique: ["code", "badge"],
      attributes: { badge: { roles: ["hr"] } },
      access: { read: "authenticated", write: "authenticated" },
    },
  },
  seeds: { changes: [{ id: "c1", code: "c1" }], makes: [{ id: "m1", code: "m1" }] },
});

describe("the rights of the caller", () => {
  const as = (who: Caller | undefined, ...given: Parameters<typeof request>) =>
    sendAs(guarded, who, request(...given));
  const put = (who: Caller | undefined, collection: string, code: string, more: object = {}) =>
    as(who, "PUT", `${collection}?code=${code}`, { code, ...more });

  test("a resource that the caller cannot see is a 409 for PUT, and a 404 for PATCH and DELETE", async () => {
    check(await put("ada", "own", "a", { authorId: "ada" }), { status: 201 });
    const answer = await put("bob", "own", "a", { authorId: "bob" });
    check(answer, { status: 409, problem: "UNIQUE_VIOLATION", more: ["holder"] });
    assert.equal((answer.json as { holder: unknown }).holder, null);
    const posted = await as("bob", "POST", "own", { code: "a", authorId: "bob" });
    assert.deepEqual(
      [answer, posted].map(({ json }) => ({ ...(json as object), instance: "" })),
      [0, 1].map(() => ({ ...(answer.json as object), instance: "" })),
    );
    check(await as("bob", "PATCH", "own?code=a", { code: "b" }), { status: 404 });
    check(await as("bob", "DELETE", "own?code=a"), { status: 404 });
    check(await put("ada", "own", "a", { authorId: "ada" }), { status: 200 });
    check(await put("ada", "own", "a", { authorId: "bob" }), { status: 403, problem: "INSUFFICIENT_SCOPE" });
    check(await put("bob", "own", "new", { authorId: "ada" }), {
      status: 403,
      problem: "INSUFFICIENT_SCOPE",
    });
    check(await put(undefined, "own", "a"), { status: 401, problem: "UNAUTHENTICATED" });
    for (const method of ["PATCH", "DELETE"])
      check(await as(undefined, method, "own?code=a", method === "PATCH" ? {} : undefined), {
        status: 401,
        problem: "UNAUTHENTICATED",
      });
  });

  test("who may create alone creates, and who may update alone replaces", async () => {
    check(await put("ada", "makes", "new"), { status: 201 });
    check(await put("ada", "makes", "m1"), { status: 403, problem: "INSUFFICIENT_SCOPE" });
    check(await put("ada", "changes", "c1"), { status: 200 });
    check(await put("ada", "changes", "new"), { status: 403, problem: "INSUFFICIENT_SCOPE" });
    for (const method of ["PATCH", "DELETE"])
      check(await as("ada", method, "makes?code=m1", method === "PATCH" ? {} : undefined), {
        status: 403,
        problem: "INSUFFICIENT_SCOPE",
      });
  });

  test("an attribute that the caller cannot see is no key", async () => {
    const answer = await as("ada", "PUT", "secret?badge=1", { badge: "1" });
    check(answer, { status: 400, problem: "INVALID_PARAMETER" });
    assert.match((answer.json as { detail: string }).detail, /keys, with "=": "code"\.$/);
    check(await as("hans", "PUT", "secret?badge=1", { badge: "1" }), { status: 201 });
    check(await as("hans", "PUT", "secret?badge=1", { badge: "1", code: "s" }), { status: 200 });
    const kept = await as("ada", "PUT", "secret?code=s", { code: "s" });
    check(kept, { status: 200 });
    const { json } = await as("hans", "GET", `secret/${idOf(kept)}`);
    assert.deepEqual(json, { id: idOf(kept), code: "s", badge: "1" });
  });
});
