/** Authentication: the responses with every kind of credential, and without one. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { createKeyText, prefixOf } from "../../src/access/api-key.ts";
import { hashCredential } from "../../src/access/credential-ring.ts";
import type { ProblemCode } from "../../src/errors.ts";
import { openKeys } from "../../src/store/open.ts";
import { claimsAt, createPair, hmacTokenOf, settingsFor, tokenOf, unsignedToken } from "../access/issuer.ts";
import { machineTime, until } from "../until.ts";
import { check } from "./check.ts";
import { type Request, startFor, startServiceForFile } from "./service.ts";

const pair = createPair("ES256");
const rsa = createPair("RS256");
const challenge = 'Bearer realm="api"';

const jwt = settingsFor([pair, rsa]);
const service = await startServiceForFile({
  auth: { keys: true, jwt },
  corsOrigins: ["https://app.example.org"],
});
const key = await makeKey("lee");

/** Makes a key as the command line does, beside the service. */
async function makeKey(subject: string, ends: { expiresAt?: number } = {}): Promise<string> {
  const text = createKeyText();
  const keys = await openKeys(service.store);
  await keys.add({
    prefix: prefixOf(text),
    hash: hashCredential(text).toString("base64url"),
    name: subject,
    subject,
    roles: [],
    scopes: undefined,
    createdAt: machineTime(),
    expiresAt: ends.expiresAt,
    revokedAt: undefined,
    lastUsedAt: undefined,
  });
  await keys.close();
  return text;
}

const token = (more?: Record<string, unknown>) => tokenOf(pair, claimsAt(machineTime(), more));
const as = (credential: string) => ({ authorization: `Bearer ${credential}` });
const create = (headers: Request["headers"] = {}): Request => ({
  method: "POST",
  path: "/api/v1/topics",
  headers,
  content: { a: 1 },
});

async function refused(request: Request, code: ProblemCode, challenged: string | RegExp): Promise<void> {
  const answer = await service.send(request);
  assert.equal(answer.status, 401, answer.text);
  const sent = answer.headers["www-authenticate"] ?? "";
  if (typeof challenged === "string") assert.equal(sent, challenged);
  else assert.match(sent, challenged);
  assert.equal(answer.headers["cache-control"], "no-store");
  if (request.method === "HEAD") return;
  check(answer, { status: 401, problem: code });
}

describe("without a credential", () => {
  const id = "0190f5a0-7c3e-7b1a-9c54-3f1de3a4b5c6";
  const requests: Request[] = [
    { path: "/api/v1/topics" },
    { method: "HEAD", path: "/api/v1/topics" },
    { method: "QUERY", path: "/api/v1/topics", content: {} },
    create(),
    { path: `/api/v1/topics/${id}` },
    { method: "HEAD", path: `/api/v1/topics/${id}` },
    { method: "PUT", path: `/api/v1/topics/${id}`, content: { id } },
    { method: "PATCH", path: `/api/v1/topics/${id}`, content: {} },
    { method: "DELETE", path: `/api/v1/topics/${id}` },
    { path: `/api/v1/topics/${id}/_changes` },
    { method: "POST", path: `/api/v1/topics/${id}/_restore`, content: { version: 1 } },
    { method: "POST", path: "/api/v1/_batch", content: { operations: [] } },
  ];
  for (const request of requests) {
    test(`${request.method ?? "GET"} ${request.path} is 401 and says how to come again`, () =>
      refused(request, "UNAUTHENTICATED", challenge));
  }

  test("health, problem documents, OPTIONS and preflights are answered", async () => {
    for (const path of ["/livez", "/readyz", "/problems/unauthenticated"])
      assert.equal((await service.send({ path })).status, 200, path);
    assert.equal((await service.send({ method: "OPTIONS", path: "*" })).status, 204);
    const options = await service.send({ method: "OPTIONS", path: "/api/v1/topics" });
    assert.equal(options.status, 204);
    const preflight = await service.send({
      method: "OPTIONS",
      path: "/api/v1/topics",
      headers: {
        origin: "https://app.example.org",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization",
      },
    });
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers["access-control-allow-origin"], "https://app.example.org");
    assert.match(preflight.headers["access-control-allow-headers"] ?? "", /Authorization/);
  });

  test("they are answered with a bad credential too", async () => {
    for (const path of ["/livez", "/readyz"])
      assert.equal((await service.send({ path, headers: as("hf_x") })).status, 200);
    const options = { method: "OPTIONS", path: "/api/v1/topics", headers: as("hf_x") };
    assert.equal((await service.send(options)).status, 204);
    assert.equal((await service.send({ path: "/nothing", headers: as("hf_x") })).status, 404);
  });

  test("a path that is not there is 404, and a method that is not there 405", async () => {
    assert.equal((await service.send({ path: "/nothing" })).status, 404);
    assert.equal((await service.send({ method: "DELETE", path: "/api/v1/topics" })).status, 405);
  });

  test("nothing else of the request is looked at", async () => {
    await refused({ path: "/api/v1/topics?limit=x" }, "UNAUTHENTICATED", challenge);
    const xml = { "content-type": "text/xml", expect: "100-continue" };
    await refused({ ...create(xml), content: undefined, body: "<a/>" }, "UNAUTHENTICATED", challenge);
  });

  test("a page of an origin that may call can read the 401", async () => {
    const origin = "https://app.example.org";
    const answer = await service.send({ path: "/api/v1/topics", headers: { origin } });
    assert.equal(answer.status, 401);
    assert.equal(answer.headers["access-control-allow-origin"], origin);
    assert.match(answer.headers["access-control-expose-headers"] ?? "", /WWW-Authenticate/);
  });
});

describe("what is no usable credential", () => {
  for (const authorization of [
    "Basic a2ltOnNlY3JldA==",
    "Bearer",
    "Bearer ",
    "Bearer a b",
    "Bearer a,b",
    'Bearer "a"',
    "Bearer \u00e9",
    "Bearer=abc",
    "Bearertoken",
    "Digest username=kim",
    "abc",
    "",
  ]) {
    test(`${JSON.stringify(authorization)} is 401 without an error`, () =>
      refused({ path: "/api/v1/topics", headers: { authorization } }, "UNAUTHENTICATED", challenge));
  }

  test("a token in the query string, in a cookie or in the content is not read", async () => {
    const good = token();
    await refused({ path: `/api/v1/topics?access_token=${good}` }, "UNAUTHENTICATED", challenge);
    const cookie = `access_token=${good}; token=${good}; Authorization=Bearer ${good}`;
    await refused({ path: "/api/v1/topics", headers: { cookie } }, "UNAUTHENTICATED", challenge);
    const form = { "content-type": "application/x-www-form-urlencoded" };
    await refused(
      { ...create(form), content: undefined, body: `access_token=${good}` },
      "UNAUTHENTICATED",
      challenge,
    );
    await refused({ path: "/api/v1/topics", headers: { "x-api-key": key } }, "UNAUTHENTICATED", challenge);
  });
});

const broken = (description: RegExp) =>
  new RegExp(`^Bearer realm="api", error="invalid_token", error_description="${description.source}"$`);

describe("a token that does not hold", () => {
  const rsaPem = () => rsa.publicKey.export({ format: "pem", type: "spki" });
  const tokens: Record<string, [() => string, RegExp]> = {
    "of alg none": [
      () => unsignedToken(claimsAt(machineTime()), { alg: "none" }),
      /The token is signed with an algorithm that the service does not accept\./,
    ],
    "of HS256 with the RSA public key": [
      () => hmacTokenOf(rsaPem(), claimsAt(machineTime()), { kid: rsa.kid }),
      /The token is signed with an algorithm that the service does not accept\./,
    ],
    "of nobody's": [() => "abc.def.ghi", /The token is not a valid JSON Web Token\./],
    "that has expired": [() => token({ exp: 1 }), /The token has expired\./],
    "that never expires": [
      () => token({ exp: undefined }),
      /The token has no exp claim, which says when it expires\./,
    ],
    "for others": [() => token({ aud: "others" }), /The token is for another audience\./],
    "that begins as an API key": [() => "hf_abc", /The API key is unknown\./],
    "that is an API key of nobody's": [createKeyText, /The API key is unknown\./],
  };
  for (const [what, [make, description]] of Object.entries(tokens)) {
    test(`${what} is 401 and says why`, () =>
      refused({ path: "/api/v1/topics", headers: as(make()) }, "INVALID_TOKEN", broken(description)));
  }

  test("of 20 kB is 401, and one of 64 kB is too much for a header section", async () => {
    await refused({ path: "/api/v1/topics", headers: as("a".repeat(20_000)) }, "UNAUTHENTICATED", challenge);
    assert.equal(
      (await service.send({ path: "/api/v1/topics", headers: as("a".repeat(65_536)) })).status,
      431,
    );
  });

  test("has no effect", async () => {
    const before = (await service.send({ path: "/api/v1/topics", headers: as(key) })).headers[
      "x-total-count"
    ];
    await refused(create(as(token({ exp: 1 }))), "INVALID_TOKEN", /invalid_token/);
    const after = await service.send({ path: "/api/v1/topics", headers: as(key) });
    assert.equal(after.headers["x-total-count"], before);
  });

  test("two Authorization headers are a malformed request", async () => {
    for (const second of [key, token(), "x"]) {
      const lines = ["GET /api/v1/topics HTTP/1.1", "Host: localhost", `Authorization: Bearer ${key}`];
      const answer = await service.raw(`${lines.join("\r\n")}\r\nAUTHORIZATION: Bearer ${second}\r\n\r\n`);
      assert.match(answer, /^HTTP\/1\.1 400 /);
      assert.match(answer, /more than one Authorization header/);
    }
  });
});

describe("somebody who is known", () => {
  test("gets in by API key and by token, whatever the case of the scheme", async () => {
    for (const credential of [key, token()])
      for (const scheme of ["Bearer", "bearer", "BEARER  "]) {
        const authorization = `${scheme} ${credential}`;
        assert.equal(
          (await service.send({ path: "/api/v1/topics", headers: { authorization } })).status,
          200,
        );
      }
  });

  test("may keep what they read for themselves, and no cache may keep it for others", async () => {
    const made = (await service.send(create(as(key)))).json as { id: string };
    for (const path of ["/api/v1/topics", `/api/v1/topics/${made.id}`]) {
      const answer = await service.send({ path, headers: as(key) });
      assert.equal(answer.headers["cache-control"], "private, no-cache");
      const again = await service.send({
        path,
        headers: { ...as(token()), "if-none-match": answer.headers.etag ?? "" },
      });
      assert.deepEqual([again.status, again.headers["cache-control"]], [304, "private, no-cache"]);
    }
  });

  test("is named in the changes of what they wrote", async () => {
    const made = (await service.send(create(as(key)))).json as { id: string };
    const path = `/api/v1/topics/${made.id}`;
    await service.send({ method: "PATCH", path, headers: as(token()), content: { a: 2 } });
    await service.send({ method: "DELETE", path, headers: as(token({ sub: "max" })) });
    const { json } = await service.send({ path: `${path}/_changes`, headers: as(key) });
    assert.deepEqual(
      (json as { principal: string }[]).map(({ principal }) => principal),
      ["max", "kim", "lee"],
    );
  });

  test("is named in the changes of a batch", async () => {
    const operations = [{ method: "POST", path: "/topics", body: { n: 1 } }];
    const batch = { method: "POST", path: "/api/v1/_batch", headers: as(token({ sub: "max" })) };
    const answer = await service.send({ ...batch, content: { operations } });
    assert.equal(answer.status, 200, answer.text);
    const [made] = (answer.json as { results: { headers: { Location: string } }[] }).results;
    const { json } = await service.send({ path: `${made?.headers.Location}/_changes`, headers: as(key) });
    assert.deepEqual(
      (json as { principal: string }[]).map(({ principal }) => principal),
      ["max"],
    );
  });

  test("has Idempotency-Keys of their own", async () => {
    const keyed = (credential: string, a = 1) => ({
      ...create({ ...as(credential), "idempotency-key": '"same"' }),
      content: { a },
    });
    const idOf = (answer: { json: unknown }) => (answer.json as { id: string }).id;
    const [lee, kim, again, byToken] = [
      await service.send(keyed(key)),
      await service.send(keyed(token(), 2)),
      await service.send(keyed(await makeKey("lee"))),
      await service.send(keyed(token({ sub: "lee" }))),
    ];
    for (const { status } of [lee, kim, again, byToken]) assert.equal(status, 201);
    assert.notEqual(idOf(kim), idOf(lee));
    assert.equal(idOf(again), idOf(lee), "another key of the same person is the same person");
    assert.equal(again.headers["idempotent-replayed"], "true");
    assert.equal(idOf(byToken), idOf(lee), "and so is a token of that subject");
  });

  test("has Idempotency-Keys of their own, however long the name that they are known by", async () => {
    const name = randomBytes(3_000).toString("base64");
    const make = (sub: string) =>
      service.send(create({ ...as(token({ sub })), "idempotency-key": '"long"' }));
    const [first, again, other] = [await make(name), await make(name), await make(`${name}.`)];
    assert.deepEqual([first.status, again.status, other.status], [201, 201, 201]);
    assert.equal(again.headers["idempotent-replayed"], "true");
    assert.equal(other.headers["idempotent-replayed"], undefined);
  });

  test("is refused by the same connection once the key is revoked or has expired", async () => {
    const doomed = await makeKey("pat");
    const short = await makeKey("sam");
    const read = (credential: string) => service.send({ path: "/api/v1/topics", headers: as(credential) });
    assert.deepEqual([(await read(doomed)).status, (await read(short)).status], [200, 200]);
    const keys = await openKeys(service.store);
    await keys.invalidate(prefixOf(doomed), { revokedAt: machineTime() });
    await keys.invalidate(prefixOf(short), { expiresAt: machineTime() });
    await keys.close();
    // `test/access/credential-ring` tests the exact time with its own clock.
    await until("the revoked key is refused", async () => (await read(doomed)).status !== 200);
    await until("the expired key is refused", async () => (await read(short)).status !== 200);
    await refused(
      { path: "/api/v1/topics", headers: as(doomed) },
      "INVALID_TOKEN",
      broken(/The API key was revoked\./),
    );
    await refused(
      { path: "/api/v1/topics", headers: as(short) },
      "INVALID_TOKEN",
      broken(/The API key has expired\./),
    );
  });

  test("may call by whatever name the service has, but not by one that is no name", async () => {
    const headers = { ...as(key), host: "api.example.org" };
    assert.equal((await service.send({ path: "/api/v1/topics", headers })).status, 200);
    const bad = await service.send({ path: "/api/v1/topics", headers: { ...as(key), host: "a b" } });
    assert.equal(bad.status, 400);
  });
});

test("credentials of a kind that the service does not take are invalid tokens", async (t) => {
  const bare = await startFor(t, { auth: { keys: false, jwt: settingsFor([pair]) } });
  const answer = await bare.send({ path: "/api/v1/topics", headers: as(key) });
  assert.equal(answer.status, 401);
  assert.match(answer.text, /The service does not accept this kind of credential\./);
});

test("where nobody is asked who they are, credentials are left alone", async (t) => {
  const open = await startFor(t);
  for (const authorization of ["Bearer nonsense", "Basic x"])
    assert.equal((await open.send({ path: "/api/v1/topics", headers: { authorization } })).status, 200);
});
