/** How many requests one caller may make, over real sockets, and how they are counted. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { createKeyText } from "../../src/access/api-key.ts";
import { networkOf } from "../../src/access/networks.ts";
import { createQuotas, type Quota } from "../../src/http/admission/quotas.ts";
import type { Rate } from "../../src/http/settings.ts";
import { createPair, settingsFor } from "../access/issuer.ts";
import { check } from "./check.ts";
import { startFor } from "./service.ts";

const topics = "/api/v1/topics";

describe("a rate limit", () => {
  test("is told by every answer, and beyond it the answer is a 429 that says when to try again", async (t) => {
    const service = await startFor(t, { rate: { requests: 5, perSeconds: 60 } });
    const policy = '"default";q=5;w=60';
    const told = (remaining: number) => ({
      "RateLimit-Policy": policy,
      RateLimit: new RegExp(`^"default";r=${remaining};t=(60|5\\d)$`),
    });
    check(await service.send({ path: topics }), { status: 200, headers: told(4) });
    check(await service.send({ method: "POST", path: topics, content: {} }), {
      status: 201,
      headers: told(3),
    });
    check(await service.send({ path: `${topics}/nope` }), { status: 404, headers: told(2) });
    check(await service.send({ path: `${topics}?limit=x` }), { status: 400, headers: told(1) });
    check(await service.send({ method: "HEAD", path: topics }), { status: 200, headers: told(0) });
    for (let n = 0; n < 2; n++) {
      const answer = await service.send({ method: "POST", path: topics, content: {} });
      check(answer, { status: 429, problem: "QUOTA_EXCEEDED", headers: told(0) });
      assert.deepEqual((answer.json as Record<string, unknown>)["violated-policies"], ["default"]);
      const reset = Number(/t=(\d+)$/.exec(answer.headers.ratelimit ?? "")?.[1]);
      const seconds = Number(answer.headers["retry-after"]);
      assert.ok(seconds >= reset && seconds <= 60, `${seconds}`);
    }
    // Responses to unknown paths have the headers too.
    check(await service.send({ method: "DELETE", path: topics }), { status: 405, headers: told(0) });
  });

  test("is not there unless it is asked for", async (t) => {
    const service = await startFor(t, {});
    const { headers } = await service.send({ path: topics });
    assert.equal(headers.ratelimit, undefined);
    assert.equal(headers["ratelimit-policy"], undefined);
  });

  test("does not count health and what browsers ask before they ask", async (t) => {
    const service = await startFor(t, { rate: { requests: 1, perSeconds: 60 } });
    const preflight = { Origin: "http://localhost:5173", "Access-Control-Request-Method": "GET" };
    const askAll = async () => {
      for (const path of ["/livez", "/readyz", "/healthz"])
        assert.equal((await service.send({ path })).status, 200, path);
      check(await service.send({ method: "OPTIONS", path: topics, headers: preflight }), { status: 204 });
    };
    await askAll();
    check(await service.send({ path: topics }), { status: 200, headers: { RateLimit: /r=0;/ } });
    check(await service.send({ path: topics }), { status: 429 });
    await askAll();
  });

  test("counts what the service says of itself, which is not small", async (t) => {
    const service = await startFor(t, { rate: { requests: 1, perSeconds: 60 } });
    assert.match(String((await service.send({ path: "/problems/unavailable" })).headers.ratelimit), /r=0;/);
    for (const path of [
      "/openapi.json",
      "/openapi-3.2.json",
      "/asyncapi.json",
      "/.well-known/api-catalog",
      "/docs",
      "/problems/unavailable",
    ])
      assert.equal((await service.send({ path })).status, 429, path);
  });

  test("counts every operation, whatever it would come to", async (t) => {
    const service = await startFor(t, { rate: { requests: 1, perSeconds: 60 } });
    check(await service.send({ path: topics }), { status: 200 });
    const refused = [
      "GET /topics",
      "QUERY /topics",
      "POST /topics",
      "GET /topics/1",
      "PUT /topics/1",
      "PATCH /topics/1",
      "DELETE /topics/1",
      "GET /topics/1/_changes",
      "POST /topics/1/_restore",
      "POST /topics/_bulk",
      "POST /topics/_import",
      "POST /_batch",
      "POST /_rewind",
    ];
    for (const each of refused) {
      const [method = "", path] = each.split(" ");
      const answer = await service.send({ method, path: `/api/v1${path}` });
      check(answer, { status: 429, problem: "QUOTA_EXCEEDED" });
    }
  });

  test("counts a request with an invalid credential once", async (t) => {
    const auth = { keys: true, jwt: settingsFor([createPair("ES256")]) };
    const service = await startFor(t, { auth, rate: { requests: 9, perSeconds: 60 } });
    const credentials = ["hf_short", createKeyText(), "not a token", "a.b.c"];
    for (const [n, credential] of credentials.entries()) {
      const answer = await service.send({ path: topics, headers: { Authorization: `Bearer ${credential}` } });
      check(answer, { status: 401, headers: { RateLimit: new RegExp(`;r=${8 - n};`) } });
    }
  });

  test("writes nothing beyond it", async (t) => {
    const service = await startFor(t, { rate: { requests: 3, perSeconds: 60 } });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => service.send({ method: "POST", path: topics, content: { n } })),
    );
    assert.equal(answers.filter(({ status }) => status === 201).length, 3);
    assert.equal(answers.filter(({ status }) => status === 429).length, 17);
  });

  test("goes by the address of the connection, whatever X-Forwarded-For says", async (t) => {
    const service = await startFor(t, { rate: { requests: 3, perSeconds: 60 } });
    const ask = (address: string) => service.send({ path: topics, headers: { "X-Forwarded-For": address } });
    for (let n = 1; n <= 3; n++) check(await ask(`192.0.2.${n}`), { status: 200 });
    for (let n = 4; n <= 6; n++) check(await ask(`192.0.2.${n}`), { status: 429 });
  });
});

/** The counts of a service with one thread: nothing waits. */
function countsOf(rate: Rate, { clock, maxCallers = 100 }: { clock: () => number; maxCallers?: number }) {
  const { addresses } = createQuotas(rate, { threads: 1, clock, maxCallers });
  return {
    take: (caller: string): Quota => {
      const quota = addresses.take(caller);
      assert.ok(!(quota instanceof Promise));
      return quota;
    },
    look: (caller: string) => addresses.look(caller),
    size: () => addresses.size,
  };
}

describe("the counts", () => {
  const rate = { requests: 2, perSeconds: 10 };

  test("begin anew when the window of their caller is over, and not before", () => {
    let now = 5_000;
    const counts = countsOf(rate, { clock: () => now });
    assert.deepEqual(counts.look("a"), { remaining: 2, resetSeconds: 10, isExceeded: false });
    assert.deepEqual(counts.take("a"), { remaining: 1, resetSeconds: 10, isExceeded: false });
    now += 9_001;
    assert.deepEqual(counts.take("a"), { remaining: 0, resetSeconds: 1, isExceeded: false });
    assert.deepEqual(counts.take("a"), { remaining: 0, resetSeconds: 1, isExceeded: true });
    assert.deepEqual(counts.take("b"), { remaining: 1, resetSeconds: 10, isExceeded: false });
    now += 999;
    assert.deepEqual(counts.look("a"), { remaining: 2, resetSeconds: 10, isExceeded: false });
    assert.deepEqual(counts.take("a"), { remaining: 1, resetSeconds: 10, isExceeded: false });
  });

  test("of any run of requests never let more through in a window than it has", () => {
    const steps = fc.array(fc.record({ caller: fc.nat(3), waitMs: fc.nat(4_000) }), { maxLength: 100 });
    fc.assert(
      fc.property(steps, (all) => {
        let now = 0;
        const counts = countsOf(rate, { clock: () => now });
        const windows = new Map<number, { begin: number; requests: number }>();
        for (const { caller, waitMs } of all) {
          now += waitMs;
          let window = windows.get(caller);
          if (window === undefined || now - window.begin >= 10_000) window = { begin: now, requests: 0 };
          windows.set(caller, window);
          window.requests++;
          const quota = counts.take(String(caller));
          assert.equal(quota.isExceeded, window.requests > 2);
          assert.equal(quota.remaining, Math.max(0, 2 - window.requests));
          assert.equal(quota.resetSeconds, Math.ceil((window.begin + 10_000 - now) / 1000));
        }
      }),
    );
  });

  test("of a million callers take no more room than those of the most that are counted", () => {
    const counts = countsOf(rate, { clock: () => 0, maxCallers: 1_000 });
    for (let n = 0; n < 1_000_000; n++) counts.take(`caller ${n}`);
    assert.equal(counts.size(), 1_000);
    assert.equal(counts.look("caller 999999").remaining, 1);
    assert.equal(counts.look("caller 999000").remaining, 1);
    assert.equal(counts.look("caller 998999").remaining, 2);
  });

  test("that are over make room before those that are not", () => {
    let now = 0;
    const counts = countsOf(rate, { clock: () => now, maxCallers: 3 });
    counts.take("old");
    counts.take("other");
    now = 10_000;
    counts.take("old"); // a new window
    counts.take("third");
    assert.equal(counts.size(), 2);
    assert.equal(counts.look("old").remaining, 1);
  });
});

describe("an address", () => {
  for (const [address, key] of [
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002::9", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:db8::1:2:3:4:5", "2001:db8:0:1::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["192.0.2.7:50123", "192.0.2.7"],
    ["[2001:db8::1]", "2001:db8:0:0::/64"],
    ["[2001:db8::1]:443", "2001:db8:0:0::/64"],
    ["[::ffff:192.0.2.7]:443", "192.0.2.7"],
    ["::ffff:c000:207", "192.0.2.7"],
    ["1::3:4:5:6:192.0.2.7", "1:0:3:4::/64"],
    ["64:ff9b::192.0.2.7", "64:ff9b:0:0::/64"],
    ["300.0.2.7:80", "unknown"],
    ["192.0.2.7:", "unknown"],
    ["192.0.2.7:443:443", "unknown"],
    ["[192.0.2.7]:443", "unknown"],
    ["[[::1]]", "unknown"],
    ["_hidden:1", "unknown"],
    ["", "unknown"],
    ["unix:", "unknown"],
    ["x".repeat(30_000), "unknown"],
  ] as const)
    test(`${address.slice(0, 30)} is counted as ${key}`, () => assert.equal(networkOf(address), key));

  test("of IPv6 is counted as the same in every spelling", () => {
    const groups = fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(groups, (all) => {
        fc.pre(all.slice(0, 5).some((group) => group !== 0) || all[5] !== 0xffff);
        const written = all.map((group) => group.toString(16).padStart(4, "0"));
        const [a = 0, b = 0] = all.slice(6);
        const dotted = [...written.slice(0, 6), [a >> 8, a & 255, b >> 8, b & 255].join(".")].join(":");
        const shortest = new URL(`http://[${written.join(":")}]`).hostname;
        const key = `${all
          .slice(0, 4)
          .map((group) => group.toString(16))
          .join(":")}::/64`;
        for (const spelling of [
          written.join(":"),
          dotted,
          shortest,
          `${shortest}:443`,
          shortest.slice(1, -1),
        ])
          assert.equal(networkOf(spelling), key, spelling);
      }),
    );
  });
});
