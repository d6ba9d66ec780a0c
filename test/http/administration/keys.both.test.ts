/** API keys over HTTP: who can manage them, what they can have, and that only one response contains a key. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { addKey } from "../../../src/access/api-key.ts";
import { openKeys } from "../../../src/store/open.ts";
import { machineTime } from "../../until.ts";
import { auth, sendWith } from "../access/callers.ts";
import { check } from "../check.ts";
import { type Answer, type Request, startFor, startServiceForFile } from "../service.ts";

const path = "/api/v1/_keys";
/** The clock of the service goes ahead, so the token must not expire. */
const ops = { sub: "olga", roles: ["ops"], exp: 4_000_000_000 };
const year = 31_536_000_000;
const keyText = /^hf_[0-9a-z]{8}_[0-9a-z]{50}$/;

const options = {
  auth: {
    ...auth,
    keys: true,
    administrators: [{ role: "ops" }, { subject: "deploy" }],
    keyRoles: ["editor", "reader"],
  },
  collections: { articles: { access: { read: { role: "reader" }, write: { role: "editor" } } } },
} as const;

interface Key {
  prefix: string;
  key: string;
  name: string;
  roles: string[];
  valid: boolean;
  createdAt: string;
  expiresAt: string | null;
}

let now = machineTime();
const service = await startServiceForFile({ ...options, now: () => now });

const as = (who: Record<string, unknown>, request: Request): Promise<Answer> =>
  sendWith(service, who, request);
const send = (method: string, at: string, content?: unknown) =>
  as(ops, { method, path: at, ...(content === undefined ? {} : { content }) });
const withKey = (key: string, request: Request) =>
  service.send({ ...request, headers: { ...request.headers, Authorization: `Bearer ${key}` } });

async function create(content: object): Promise<Key> {
  const answer = await send("POST", path, content);
  check(answer, { status: 201 });
  return answer.json as Key;
}

async function listed(): Promise<Key[]> {
  return ((await send("GET", `${path}?limit=1000`)).json as { keys: Key[] }).keys;
}

describe("an administrator", () => {
  test("creates a key, which works, and no other response contains it", async () => {
    const answer = await send("POST", path, { name: "site", roles: ["reader", "reader"] });
    const { key, ...made } = answer.json as Key;
    check(answer, {
      status: 201,
      headers: { Location: `${path}/${made.prefix}`, "Cache-Control": "no-store" },
      json: {
        prefix: key.slice(0, 11),
        name: "site",
        subject: "site",
        roles: ["reader"],
        scopes: null,
        valid: true,
        createdAt: new Date(now).toISOString(),
        expiresAt: null,
        revokedAt: null,
        lastUsedAt: null,
        key,
      },
    });
    assert.match(key, keyText);
    const one = await send("GET", `${path}/${made.prefix}`);
    check(one, { status: 200, json: made, headers: { "Cache-Control": "no-store" } });
    const all = await send("GET", path);
    assert.deepEqual((all.json as { keys: Key[] }).keys, [made]);
    const secret = key.slice(12);
    for (const { text } of [one, all]) assert.ok(!text.includes(secret) && !text.includes('"hash"'));
    check(await withKey(key, { path: "/api/v1/articles" }), {
      status: 200,
      headers: { "Cache-Control": "private, no-cache" },
    });
    assert.equal((await withKey(key, { method: "POST", path: "/api/v1/articles", content: {} })).status, 403);
  });

  test("cannot get the key again with an Idempotency-Key", async () => {
    const request = { method: "POST", path, content: { name: "once" }, headers: { "Idempotency-Key": "k1" } };
    assert.equal((await as(ops, request)).status, 201);
    check(await as(ops, request), { status: 409, problem: "KEY_UNAVAILABLE" });
  });

  test("limits a key to scopes and to a time", async () => {
    const expiresAt = new Date(now + 60_000).toISOString();
    const made = await create({
      name: "short",
      subject: "ada",
      roles: ["editor"],
      scopes: ["articles:write"],
      expiresAt,
    });
    assert.equal(made.expiresAt, expiresAt);
    assert.equal(
      (await withKey(made.key, { method: "POST", path: "/api/v1/articles", content: {} })).status,
      201,
    );
    assert.equal((await withKey(made.key, { path: "/api/v1/articles" })).status, 403);
    now += 60_000;
    assert.equal((await withKey(made.key, { path: "/api/v1/articles" })).status, 401);
    assert.equal(((await send("GET", `${path}/${made.prefix}`)).json as Key).valid, false);
    check(await send("POST", `${path}/${made.prefix}/_rotate`), { status: 409, problem: "KEY_UNAVAILABLE" });
  });

  test("rotates a key: both work for a while, with the same properties and lifetime", async () => {
    const old = await create({
      name: "turn",
      roles: ["reader"],
      expiresAt: new Date(now + year).toISOString(),
    });
    now += 3_600_000;
    const answer = await send("POST", `${path}/${old.prefix}/_rotate`, { overlapSeconds: 60 });
    check(answer, { status: 201, headers: { "Cache-Control": "no-store" } });
    const made = answer.json as Key;
    assert.notEqual(made.prefix, old.prefix);
    assert.deepEqual([made.name, made.roles], ["turn", ["reader"]]);
    assert.equal(made.expiresAt, new Date(now + year).toISOString());
    for (const { key } of [old, made])
      assert.equal((await withKey(key, { path: "/api/v1/articles" })).status, 200);
    now += 60_000;
    assert.equal(((await send("GET", `${path}/${old.prefix}`)).json as Key).valid, false);
    const last = (
      await send("POST", `${path}/${made.prefix}/_rotate`, { overlapSeconds: 0, expiresAt: null })
    ).json as Key;
    assert.equal(last.expiresAt, null);
    assert.equal(
      ((await send("GET", `${path}/${made.prefix}`)).json as Key & { revokedAt: string }).revokedAt,
      new Date(now).toISOString(),
    );
  });

  test("revokes a key, more than once", async () => {
    const { prefix, key } = await create({ name: "gone", roles: ["reader"] });
    const first = await send("POST", `${path}/${prefix}/_revoke`);
    check(first, { status: 200, headers: { "Cache-Control": "no-store" } });
    assert.deepEqual(await send("POST", `${path}/${prefix}/_revoke`).then(({ json }) => json), first.json);
    assert.equal((first.json as Key).valid, false);
    assert.equal((await withKey(key, { path: "/api/v1/articles" })).status, 401);
    await create({ name: "gone" });
  });

  test("reads the keys in pages", async () => {
    const names: string[] = [];
    for (let next: string | undefined = `${path}?limit=2`; next !== undefined; ) {
      const page = (await send("GET", next)).json as { keys: Key[]; next?: string };
      assert.ok(page.keys.length <= 2);
      names.push(...page.keys.map(({ prefix }) => prefix));
      next = page.next;
    }
    assert.deepEqual(
      names,
      (await listed()).map(({ prefix }) => prefix),
    );
  });
});

describe("a key made over HTTP", () => {
  const refused: [string, object][] = [
    ["the role of administrators", { name: "a", roles: ["ops"] }],
    ["a role that is not listed", { name: "a", roles: ["reader", "hr"] }],
    ["the subject of an administrator", { name: "a", subject: "deploy" }],
    ["the subject of an administrator, by its name", { name: "deploy", scopes: ["articles:read"] }],
    ["no name", {}],
    ["the name of a key", { name: "hf_x" }],
    ["a name with a space at the end", { name: "a " }],
    ["a subject that cannot be printed", { name: "a", subject: "a\n" }],
    ["a scope of an unknown collection", { name: "a", scopes: ["nowhere:read"] }],
    ["a scope that is none", { name: "a", scopes: ["read"] }],
    ["too many roles", { name: "a", roles: Array(101).fill("reader") }],
    ["an expiry in the past", { name: "a", expiresAt: "2001-01-01" }],
    ["an expiry that is not a time", { name: "a", expiresAt: 9_999_999_999_999 }],
    ["an unknown member", { name: "a", role: "reader" }],
  ];
  for (const [what, content] of refused)
    test(`cannot have ${what}`, async () => {
      const count = (await listed()).length;
      check(await send("POST", path, content), { status: 400, problem: "INVALID_PARAMETER" });
      assert.equal((await listed()).length, count);
    });

  for (const [content, pointers] of [
    [{ name: "a ", subject: "deploy" }, ["#/name"]],
    [{ name: "deploy", subject: "a " }, ["#/subject"]],
    [{ name: "deploy", subject: "deploy" }, ["#/subject"]],
    [{ name: "deploy", roles: ["hr"] }, ["#/name", "#/roles/0"]],
    [{ roles: ["hr"] }, ["#/name", "#/roles/0"]],
  ] as const)
    test(`names the wrong members of ${JSON.stringify(content)}`, async () => {
      const { violations } = (await send("POST", path, content)).json as {
        violations: { pointer: string }[];
      };
      assert.deepEqual(
        violations.map(({ pointer }) => pointer),
        pointers,
      );
    });

  test("replaces no key that it could not be", async () => {
    const keys = await openKeys(service.store);
    const properties = { scopes: undefined, expiresAt: undefined };
    const strong = await addKey(keys, { ...properties, name: "strong", subject: "s", roles: ["ops"] }, now);
    const named = await addKey(keys, { ...properties, name: "named", subject: "deploy", roles: [] }, now);
    await keys.close();
    for (const { key } of [strong, named]) {
      check(await send("POST", `${path}/${key.prefix}/_rotate`), { status: 409, problem: "KEY_UNAVAILABLE" });
      assert.equal((await send("POST", `${path}/${key.prefix}/_revoke`)).status, 200);
    }
  });
});

const unknown = `${path}/hf_00000000`;
const operations: Request[] = [
  { method: "GET", path },
  { method: "POST", path, content: { name: "x" } },
  { method: "GET", path: unknown },
  { method: "POST", path: `${unknown}/_rotate`, content: {} },
  { method: "POST", path: `${unknown}/_revoke` },
];

describe("the paths of keys", () => {
  const others: [string, Record<string, unknown> | undefined][] = [
    ["without a credential", undefined],
    ["without the role", { ...ops, sub: "ada", roles: ["admin"] }],
    ["with scopes", { ...ops, scope: "articles:read" }],
  ];
  for (const [what, who] of others)
    test(`do not exist for a caller ${what}`, async () => {
      for (const request of [...operations, { method: "DELETE", path }, { path: `${path}?limit=0` }]) {
        const answer = who === undefined ? await service.send(request) : await as(who, request);
        assert.deepEqual([answer.status, answer.text], [404, ""], `${request.method} ${request.path}`);
      }
    });

  test("do not exist without API keys, without administrators, and without auth", async (t) => {
    const { auth: complete, collections } = options;
    const { administrators: _, ...without } = complete;
    for (const own of [
      { auth: { ...complete, keys: false }, collections },
      { auth: without, collections },
    ]) {
      const started = await startFor(t, own);
      assert.equal((await sendWith(started, ops, { path })).status, 404);
    }
    const open = await startFor(t);
    assert.equal((await open.send({ path })).status, 404);
  });

  test("refuse requests that do not fit", async (t) => {
    for (const each of operations) {
      check(await as(ops, { ...each, path: `${each.path}?x=1` }), {
        status: 400,
        problem: "INVALID_PARAMETER",
      });
      check(await as(ops, { ...each, headers: { Accept: "image/png" } }), { status: 406 });
      check(await service.send({ ...each, headers: { Authorization: "Bearer hf_x" } }), { status: 401 });
      if (each.method !== "POST") continue;
      check(await as(ops, { ...each, content: { x: "x".repeat(1_100_000) } }), { status: 413 });
      const { method } = each;
      check(
        await as(ops, { method, path: each.path, body: "x", headers: { "Content-Type": "text/plain" } }),
        {
          status: 415,
        },
      );
    }
    for (const each of operations.slice(2)) check(await as(ops, each), { status: 404 });
    check(await send("GET", `${path}?after=hf_00000000`), { status: 400 });
    check(await send("POST", `${unknown}/_revoke`, {}), { status: 400 });
    for (const content of [
      { overlapSeconds: -1 },
      { overlapSeconds: 2_592_001 },
      { expiresAt: "2001-01-01" },
      { x: 1 },
    ])
      check(await send("POST", `${unknown}/_rotate`, content), { status: 400, problem: "INVALID_PARAMETER" });
    for (const odd of ["", "/%00", "/hf_0000000%00", "/hf_00000000/_test", "/hf_00000000/_rotate/x"])
      if (odd !== "") assert.equal((await send("GET", `${path}${odd}`)).status, 404, odd);
    check(await send("DELETE", path), { status: 405, headers: { Allow: "GET, HEAD, POST, OPTIONS" } });
    check(await send("GET", `${unknown}/_revoke`), { status: 405, headers: { Allow: "POST, OPTIONS" } });
    check(await service.send({ method: "OPTIONS", path }), {
      status: 204,
      headers: { Allow: "GET, HEAD, POST, OPTIONS", "Accept-Post": "application/json" },
    });
    const secure = await startFor(t, { ...options, requireTls: true, trustProxy: ["127.0.0.1"] });
    for (const each of operations) {
      check(await secure.send(each), { status: 403, problem: "TLS_REQUIRED" });
      const limited = await startFor(t, { ...options, rate: { requests: 1, perSeconds: 60 } });
      await sendWith(limited, ops, { path: "/api/v1" });
      assert.equal((await sendWith(limited, ops, each)).status, 429);
    }
  });

  test("only show keys if the service is read-only", async (t) => {
    const own = await startFor(t, { ...options, seeds: { articles: [] }, readOnly: true });
    const mayFail = { ...own, send: (request: Request) => own.send(request, { mayFail: true }) };
    assert.equal((await sendWith(own, ops, { path })).status, 200);
    for (const each of operations.filter(({ method }) => method === "POST"))
      check(await sendWith(mayFail, ops, each), {
        status: 503,
        problem: "UNAVAILABLE",
      });
  });
});
