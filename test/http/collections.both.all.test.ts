/** The list of collections at the prefix, over real sockets. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { databaseFor } from "../postgres/databases.ts";
import { auth, type Caller, outcome, sendAs, sendWith } from "./access/callers.ts";
import { check } from "./check.ts";
import { type Answer, type Service, startFor, startService } from "./service.ts";
import { isOnPostgres } from "./test-store.ts";

const prefix = "/api/v1";
const allow = "GET, HEAD, OPTIONS";
const serviceDesc = '</openapi.json>; rel="service-desc"';
const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/** The expected response with these collections. */
function listing(names: readonly string[], below = prefix) {
  return {
    status: 200,
    headers: { "Cache-Control": "no-store", Link: serviceDesc, ETag: undefined },
    json: { collections: names.map((name) => ({ name, href: `${below}/${name}` })) },
  };
}

function namesIn(answer: Answer): string[] {
  assert.equal(answer.status, 200, answer.text);
  return (answer.json as { collections: { name: string }[] }).collections.map(({ name }) => name);
}

describe("the list of collections", () => {
  test("of an open service has the collections that exist, sorted by name", async (t) => {
    const service = await startFor(t);
    check(await service.send({ path: prefix }), listing([]));
    check(await service.send({ path: `${prefix}/topics` }), { status: 200, json: [] });
    check(await service.send({ path: prefix }), listing([]));
    for (const name of ["users", "topics", "Users", "a_b", "a-b", "a1", "constructor"])
      await service.create(name);
    const sorted = ["Users", "a-b", "a1", "a_b", "constructor", "topics", "users"];
    check(await service.send({ path: prefix }), listing(sorted));
    const { path } = await service.create("gone");
    check(await service.send({ method: "DELETE", path }), { status: 205 });
    assert.ok(namesIn(await service.send({ path: prefix })).includes("gone"));
  });

  test("of a declared service has the declared collections, with or without resources", async (t) => {
    const collections = { users: {}, articles: { schema: { type: "object" } } };
    const url = await databaseFor(t);
    const store = { kind: "postgres", url } as const;
    const open = await startService({ store });
    await open.create("others");
    await open.create("users");
    await open.stop();
    const service = await startFor(t, { collections, store });
    check(await service.send({ path: prefix }), listing(["articles", "users"]));
    const both = await startFor(t, { collections, store, openCollections: true });
    check(await both.send({ path: prefix }), listing(["articles", "others", "users"]));
  });

  test("has the collections that another instance on the database has made", async (t) => {
    const url = await databaseFor(t);
    const store = { kind: "postgres", url } as const;
    const [first, second] = [await startFor(t, { store }), await startFor(t, { store })];
    check(await second.send({ path: prefix }), listing([]));
    await first.create("topics");
    check(await second.send({ path: prefix }), listing(["topics"]));
  });

  // A test database has no space for this many tables.
  if (!isOnPostgres)
    test("has a thousand of them", async (t) => {
      const names = Array.from({ length: 1_000 }, (_, n) => `c${String(n).padStart(4, "0")}`);
      const collections = Object.fromEntries(names.toReversed().map((name) => [name, {}]));
      // The schemas are compiled in the thread that is watched.
      const service = await startFor(t, { collections, auth });
      assert.deepEqual(namesIn(await sendAs(service, "ada", { path: prefix })), names);
      assert.deepEqual(namesIn(await service.send({ path: prefix })), []);
    });

  for (const [own, path] of [
    ["/v7", "/v7"],
    ["/a/b/c", "/a/b/c"],
    ["", "/"],
  ] as const)
    test(`is at "${path}" where the prefix is "${own}"`, async (t) => {
      const service = await startFor(t, { prefix: own });
      await service.create("topics");
      check(await service.send({ path }), listing(["topics"], own));
      if (own === "") return;
      check(await service.send({ path: `${path}/` }), listing(["topics"], own));
      check(await service.send({ path: prefix }), { status: 404 });
      check(await service.send({ path: `${path}x` }), { status: 404 });
    });

  test("has no Link if the service does not describe itself", async (t) => {
    const service = await startFor(t, { docs: false });
    check(await service.send({ path: prefix }), {
      status: 200,
      headers: { "Cache-Control": "no-store", Link: undefined },
      json: { collections: [] },
    });
  });
});

describe("a request to the prefix", () => {
  let service: Service;
  before(async () => {
    service = await startService({ collections: { topics: {} } });
  });
  after(() => service.stop());

  for (const path of [prefix, `${prefix}/`, `${prefix}?`])
    test(`${path} by HEAD has the fields of GET`, async () => {
      const got = await service.send({ path });
      const head = await service.send({ method: "HEAD", path });
      check(head, { status: 200, headers: { "Cache-Control": "no-store", Link: serviceDesc } });
      for (const name of Object.keys(got.headers))
        if (name !== "date" && name !== "x-request-id")
          assert.equal(head.headers[name], got.headers[name], name);
    });

  test("by OPTIONS names the methods", async () => {
    for (const path of [prefix, `${prefix}/`])
      check(await service.send({ method: "OPTIONS", path }), {
        status: 204,
        headers: { Allow: allow, Link: serviceDesc, "Accept-Post": undefined },
      });
  });

  for (const method of ["POST", "PUT", "PATCH", "DELETE", "QUERY", "TRACE"])
    test(`by ${method} is a 405`, async () => {
      for (const path of [prefix, `${prefix}/`])
        check(await service.send({ method, path }), {
          status: 405,
          problem: "METHOD_NOT_ALLOWED",
          headers: { Allow: allow },
        });
    });

  for (const accept of [undefined, "*/*", browser, "application/json", "application/*;q=0.1", "text/json"])
    test(`with Accept ${accept} is answered in JSON`, async () => {
      const headers = accept === undefined ? {} : { Accept: accept };
      check(await service.send({ path: prefix, headers }), listing(["topics"]));
    });

  for (const accept of ["text/html", "text/csv", "application/x-ndjson", "application/json;q=0"])
    test(`with Accept ${accept} is a 406`, async () => {
      check(await service.send({ path: prefix, headers: { Accept: accept } }), {
        status: 406,
        problem: "NOT_ACCEPTABLE",
      });
    });

  for (const name of ["limit", "q", "fields", "x", "envelope"])
    test(`with the parameter ${name} is a 400`, async () => {
      for (const path of [prefix, `${prefix}/`])
        check(await service.send({ path: `${path}?${name}=1` }), {
          status: 400,
          problem: "INVALID_PARAMETER",
          violations: [{ in: "query", name }],
        });
    });

  test("from a page of an allowed origin gets an answer that the page can read", async () => {
    const headers = { Origin: "http://localhost:5173" };
    const answer = await service.send({ path: prefix, headers });
    assert.equal(answer.headers["access-control-allow-origin"], headers.Origin);
  });

  for (const path of [`${prefix}//`, `${prefix}/%20`, `${prefix}/_nothing`, `${prefix}/nope`])
    for (const accept of [browser, "text/html", "*/*"])
      test(`to an unknown path below it is an empty 404: ${path} with Accept ${accept}`, async () => {
        check(await service.send({ path, headers: { Accept: accept } }), { status: 404 });
      });
});

describe("a caller", () => {
  const access = {
    open: { read: "public" },
    members: { read: "authenticated" },
    editors: { read: { role: "editor" } },
    owned: { read: { where: { by: "$subject" } } },
    public_drafts: { read: { where: { isDraft: false } } },
    unlisted: { list: "nobody", read: "public" },
    unread: { list: "public", read: "nobody" },
    dropped: { create: "public" },
    articles: { read: "authenticated" },
  } as const;
  const collections = {
    ...Object.fromEntries(Object.entries(access).map(([name, rules]) => [name, { access: rules }])),
    undeclared: {},
  };
  let service: Service;
  before(async () => {
    service = await startService({ collections, auth, docs: false });
  });
  after(() => service.stop());

  const anybody = ["open", "public_drafts"];
  const known = ["articles", "members", "open", "owned", "public_drafts", "undeclared"];
  const expected: readonly (readonly [Caller | undefined, readonly string[]])[] = [
    [undefined, anybody],
    ["ada", known],
    ["eve", [...known, "editors"].sort()],
    ["adaReads", ["articles"]],
    ["adaWrites", []],
  ];
  for (const [caller, names] of expected)
    test(`${caller ?? "without a credential"} finds exactly the collections that they may list`, async () => {
      assert.deepEqual(namesIn(await sendAs(service, caller, { path: prefix })), names);
      for (const name of Object.keys(collections)) {
        const { status } = await sendAs(service, caller, { path: `${prefix}/${name}` });
        assert.equal(status === 200, names.includes(name), `${name}: ${status}`);
      }
    });

  test("with an invalid credential is refused", async () => {
    for (const caller of ["bad", "expired"] as const)
      assert.equal(outcome(await sendAs(service, caller, { path: prefix })), "401 INVALID_TOKEN");
  });

  test("gets an answer that no cache may give to others", async () => {
    const { headers } = await sendAs(service, "ada", { path: prefix });
    assert.equal(headers["cache-control"], "no-store");
  });

  test("of an open service with auth finds its collections only with a credential", async (t) => {
    const open = await startFor(t, { auth });
    await sendWith(open, { sub: "ada" }, { method: "POST", path: `${prefix}/notes`, content: {} });
    assert.deepEqual(namesIn(await sendAs(open, "bob", { path: prefix })), ["notes"]);
    assert.deepEqual(namesIn(await sendAs(open, undefined, { path: prefix })), []);
    assert.deepEqual(namesIn(await sendWith(open, { scope: "notes:read" }, { path: prefix })), ["notes"]);
    assert.deepEqual(namesIn(await sendWith(open, { scope: "topics:read" }, { path: prefix })), []);
  });

  test("uses the rate limit as with any other request", async (t) => {
    const limited = await startFor(t, { rate: { requests: 1, perSeconds: 600 } });
    assert.equal((await limited.send({ path: prefix })).status, 200);
    check(await limited.send({ path: prefix }), { status: 429, problem: "QUOTA_EXCEEDED" });
  });

  test("without encryption is refused if the service requires it", async (t) => {
    const strict = await startFor(t, { requireTls: true, trustProxy: ["127.0.0.1"] });
    check(await strict.send({ path: prefix }), { status: 403, problem: "TLS_REQUIRED" });
    const headers = { "X-Forwarded-Proto": "https" };
    assert.equal((await strict.send({ path: prefix, headers })).status, 200);
  });
});
