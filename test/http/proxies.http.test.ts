/** Proxies that are trusted, and those that are not, over real sockets: every connection here comes from 127.0.0.1. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check } from "./check.ts";
import { type Service, startFor } from "./service.ts";

const path = "/api/v1/topics";
const rate = { requests: 2, perSeconds: 60 };
const hsts = "strict-transport-security";

/** How many requests each of these values of X-Forwarded-For has left, one after the other. */
async function remaining(service: Service, values: readonly string[]): Promise<number[]> {
  const left: number[] = [];
  for (const value of values) {
    const { headers } = await service.send({ path, headers: { "X-Forwarded-For": value } });
    left.push(Number(/r=(\d+)/.exec(headers.ratelimit ?? "")?.[1]));
  }
  return left;
}

describe("the address of a caller", () => {
  test("is what a trusted proxy says", async (t) => {
    const service = await startFor(t, { rate, trustProxy: ["127.0.0.0/8"] });
    assert.deepEqual(
      await remaining(service, ["192.0.2.1", "192.0.2.2", "192.0.2.1", "2001:db8::1", "2001:db8::2:0:0:1"]),
      [1, 1, 0, 1, 0],
    );
  });

  test("is the last one that is no trusted proxy's, whatever the caller has put before it", async (t) => {
    const service = await startFor(t, { rate, trustProxy: ["127.0.0.1", "10.0.0.0/8"] });
    assert.deepEqual(
      await remaining(service, ["192.0.2.1", "6.6.6.6, 192.0.2.1", "7.7.7.7, 192.0.2.2, 10.0.0.1, 10.1.2.3"]),
      [1, 0, 1],
    );
  });

  test("is known by a proxy that writes the port behind it too", async (t) => {
    const service = await startFor(t, { rate, trustProxy: ["127.0.0.1"] });
    assert.deepEqual(
      await remaining(service, ["192.0.2.1:50000", "192.0.2.2:50000", "6.6.6.6, 192.0.2.1:50001"]),
      [1, 1, 0],
    );
  });

  test("is the connection's where the proxy is not trusted", async (t) => {
    const service = await startFor(t, { rate, trustProxy: ["10.0.0.0/8"] });
    assert.deepEqual(await remaining(service, ["192.0.2.1", "10.0.0.1"]), [1, 0]);
  });

  test("that is none counts as one, and fails nothing", async (t) => {
    const service = await startFor(t, { rate, trustProxy: ["127.0.0.1"] });
    assert.deepEqual(await remaining(service, ["unknown", "x".repeat(5_000)]), [1, 0]);
  });

  test("is not the business of the Host check", async (t) => {
    const service = await startFor(t, { trustProxy: ["127.0.0.1"] });
    const headers = { Host: "example.org", "X-Forwarded-Host": "localhost" };
    check(await service.send({ path, headers }), { status: 421 });
  });
});

describe("a service that requires encryption", () => {
  const behindProxy = { trustProxy: ["127.0.0.1"], requireTls: true };
  const ask = (service: Service, headers: Record<string, string>, method = "GET") =>
    service.send({ path, method, headers, ...(method === "POST" ? { content: {} } : {}) });

  test("takes what came to the proxy encrypted, and has browsers come back so", async (t) => {
    const service = await startFor(t, behindProxy);
    const answer = await ask(service, { "X-Forwarded-Proto": "https" }, "POST");
    assert.equal(answer.status, 201);
    assert.equal(answer.headers[hsts], "max-age=31536000");
  });

  test("with hsts, browsers use https for the subdomains too", async (t) => {
    const service = await startFor(t, { trustProxy: ["127.0.0.1"], hstsIncludesSubDomains: true });
    const encrypted = { "X-Forwarded-Proto": "https" };
    const answer = await service.send({ path: "/livez", headers: encrypted });
    assert.equal(answer.headers[hsts], "max-age=31536000; includeSubDomains");
  });

  test("refuses everything else, whatever credential it has", async (t) => {
    const service = await startFor(t, behindProxy);
    for (const headers of [
      {},
      { "X-Forwarded-Proto": "http" },
      { "X-Forwarded-Proto": "http", Authorization: "Bearer hf_x" },
      { "X-Forwarded-Proto": "https, http" },
      { "X-Forwarded-Proto": "HTTPS;x" },
      { Forwarded: "proto=https" },
    ])
      for (const method of ["GET", "HEAD", "POST"])
        check(await ask(service, headers, method), { status: 403, problem: "TLS_REQUIRED" });
    for (const below of [`${path}/_bulk`, `${path}/_import`, "/api/v1/_rewind"]) {
      const refused = await service.send({ path: below, method: "POST", content: [{}] });
      check(refused, { status: 403, problem: "TLS_REQUIRED" });
    }
    assert.equal((await ask(service, { "X-Forwarded-Proto": "https" })).text, "[]", "nothing was created");
  });

  test("tells its health to anybody", async (t) => {
    const service = await startFor(t, behindProxy);
    for (const name of ["/livez", "/readyz"]) assert.equal((await service.send({ path: name })).status, 200);
  });

  test("believes no proxy that is not trusted", async (t) => {
    const service = await startFor(t, { trustProxy: ["10.0.0.1"], requireTls: true });
    check(await ask(service, { "X-Forwarded-Proto": "https" }), { status: 403, problem: "TLS_REQUIRED" });
  });
});

test("without encryption no browser is told to come back encrypted", async (t) => {
  for (const trustProxy of [[], ["127.0.0.1"], ["10.0.0.1"]]) {
    const service = await startFor(t, { trustProxy });
    const proto = trustProxy[0] === "127.0.0.1" ? "http" : "https";
    const answer = await service.send({ path, headers: { "X-Forwarded-Proto": proto } });
    assert.equal(answer.headers[hsts], undefined);
  }
});
