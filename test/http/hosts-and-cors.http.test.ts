import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check, unknownId, vary } from "./check.ts";
import { type Answer, startServiceForFile } from "./service.ts";

const topics = "/api/v1/topics";
const exposed =
  "Content-Range, X-Total-Count, Page-Limit, Link, Location, Content-Location, ETag, Allow, Accept-Patch, Retry-After, " +
  "RateLimit, RateLimit-Policy, Preference-Applied, Idempotent-Replayed, Deprecation, Sunset, WWW-Authenticate, " +
  "Holdfast-Hint, X-Request-Id";
const allowedHeaders =
  "Authorization, Content-Type, Accept, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, " +
  "Idempotency-Key, Prefer, Range, Last-Event-ID, X-Request-Id, traceparent, tracestate";

const service = await startServiceForFile();
const named = await startServiceForFile({
  hosts: ["api.example.org"],
  corsOrigins: ["https://app.example.org"],
});
const anywhere = await startServiceForFile({ corsOrigins: ["*"] });
const made = await service.create("topics", { title: "Here" });

describe("the Host check", () => {
  for (const host of [
    ...[
      "localhost",
      "LOCALHOST",
      "localhost:1",
      "127.0.0.1",
      "127.0.0.1:65535",
      "127.8.9.10",
      "[::1]",
      "[::1]:3000",
    ],
  ])
    test(`lets ${host} in`, async () => {
      check(await service.send({ path: made.path, headers: { Host: host } }), {
        status: 200,
        json: made.body,
      });
    });

  for (const host of [
    ...[
      "example.org",
      "api.example.org",
      "localhost.example.org",
      "127.0.0.1.example.org",
      "0.0.0.0",
      "10.0.0.1",
    ],
    ...["192.168.1.1:3000", "[2001:db8::1]", "xlocalhost", "128.0.0.1", "1270.0.0.1", "127.0.0.256"],
  ])
    test(`refuses ${host} with 421, on every path and method`, async () => {
      const headers = { Host: host };
      for (const path of [made.path, topics, "/nowhere", "/livez"])
        check(await service.send({ path, headers }), { status: 421, problem: "MISDIRECTED" });
      check(await service.send({ method: "DELETE", path: made.path, headers }), {
        status: 421,
        problem: "MISDIRECTED",
      });
      check(await service.send({ method: "POST", path: topics, headers, content: {} }), {
        status: 421,
        problem: "MISDIRECTED",
      });
      const preflight = {
        ...headers,
        Origin: "http://localhost:5173",
        "Access-Control-Request-Method": "PUT",
      };
      check(await service.send({ method: "OPTIONS", path: made.path, headers: preflight }), {
        status: 421,
        problem: "MISDIRECTED",
      });
      check(await service.send({ path: made.path }), { status: 200, json: made.body });
    });

  test("lets the configured names in, in any case and with any port, beside the loopback ones", async () => {
    for (const host of ["api.example.org", "API.Example.Org", "api.example.org:8443", "localhost"])
      check(await named.send({ path: topics, headers: { Host: host } }), { status: 200, json: [] });
    for (const host of ["example.org", "x.api.example.org", "api.example.org.evil.example"])
      check(await named.send({ path: topics, headers: { Host: host } }), {
        status: 421,
        problem: "MISDIRECTED",
      });
  });
});

function corsNames(answer: Answer): string[] {
  return Object.keys(answer.headers).filter((name) => name.startsWith("access-control-"));
}

const origins = ["http://localhost:5173", "https://localhost", "http://127.0.0.1:8080", "https://[::1]:3000"];
const strangers = [
  "https://example.org",
  "null",
  "http://localhost.example.org",
  "http://127.0.0.1.example.org",
  "http://xlocalhost:5173",
  "http://localhost:5173.example.org",
  "http://localhost@example.org",
  "ftp://localhost",
  "http://10.0.0.1",
  "chrome-extension://localhost",
  "localhost",
];

describe("a preflight", () => {
  for (const origin of origins)
    test(`from ${origin} says what is allowed, on collections and resources, there or not`, async () => {
      for (const path of [topics, made.path, `${topics}/${unknownId}`]) {
        const headers = {
          Origin: origin,
          "Access-Control-Request-Method": "PUT",
          "Access-Control-Request-Headers": "content-type,if-match",
        };
        const answer = await service.send({ method: "OPTIONS", path, headers });
        check(answer, {
          status: 204,
          headers: {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE, QUERY",
            "Access-Control-Allow-Headers": allowedHeaders,
            "Access-Control-Max-Age": "7200",
            "Access-Control-Allow-Credentials": undefined,
            Vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
          },
        });
      }
    });

  for (const origin of strangers)
    test(`from ${origin} allows nothing`, async () => {
      const headers = { Origin: origin, "Access-Control-Request-Method": "PUT" };
      const answer = await service.send({ method: "OPTIONS", path: topics, headers });
      check(answer, { status: 204, headers: { "Access-Control-Allow-Origin": undefined } });
      assert.ok(vary(answer).has("origin"));
    });

  test("of an unknown path is a 404", async () => {
    const headers = { Origin: origins[0] ?? "", "Access-Control-Request-Method": "GET" };
    check(await service.send({ method: "OPTIONS", path: "/nowhere", headers }), { status: 404 });
  });
});

/** One request for each kind of answer. */
function everyAnswer(): {
  status: number;
  method?: string;
  path: string;
  headers?: Record<string, string>;
}[] {
  return [
    { status: 200, path: made.path },
    { status: 200, path: topics },
    { status: 200, method: "HEAD", path: topics },
    { status: 304, path: made.path, headers: { "If-None-Match": "*" } },
    { status: 400, path: `${topics}?_x=1` },
    { status: 400, path: `${topics}/%zz` },
    { status: 400, method: "POST", path: topics },
    { status: 404, path: `${topics}/${unknownId}` },
    { status: 404, path: "/nowhere" },
    { status: 405, method: "PUT", path: topics },
    { status: 406, path: topics, headers: { Accept: "text/html" } },
    { status: 412, path: made.path, headers: { "If-Match": '"7"' } },
    { status: 414, path: `/${"x".repeat(8_000)}` },
  ];
}

describe("an answer", () => {
  test("to an allowed origin may be read by it, errors too", async () => {
    for (const origin of origins)
      for (const { status, ...request } of everyAnswer()) {
        const answer = await service.send({ ...request, headers: { ...request.headers, Origin: origin } });
        check(answer, {
          status,
          headers: {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Expose-Headers": exposed,
            "Access-Control-Allow-Credentials": undefined,
          },
        });
        assert.ok(vary(answer).has("origin"), `Vary of ${status}: ${answer.headers.vary}`);
      }
  });

  test("to another origin may not", async () => {
    for (const origin of strangers)
      for (const { status, ...request } of everyAnswer()) {
        const answer = await service.send({ ...request, headers: { ...request.headers, Origin: origin } });
        check(answer, { status });
        assert.deepEqual(corsNames(answer), [], `${origin} ${status}`);
        assert.ok(vary(answer).has("origin"), `Vary of ${status}: ${answer.headers.vary}`);
      }
  });

  test("to no origin has no CORS fields", async () => {
    for (const { status, ...request } of everyAnswer()) {
      const answer = await service.send(request);
      check(answer, { status });
      assert.deepEqual(corsNames(answer), []);
    }
  });

  test("of a create, a replacement and a delete may be read too", async () => {
    const cors = {
      "Access-Control-Allow-Origin": "http://localhost:5173",
      "Access-Control-Expose-Headers": exposed,
      Vary: /\bOrigin\b/,
    };
    const headers = { Origin: "http://localhost:5173" };
    const created = await service.send({ method: "POST", path: topics, headers, content: {} });
    check(created, { status: 201, headers: cors });
    const path = created.headers.location ?? "";
    check(await service.send({ method: "PUT", path, headers, content: created.json }), {
      status: 200,
      headers: cors,
    });
    check(await service.send({ method: "PATCH", path, headers, content: {} }), {
      status: 200,
      headers: cors,
    });
    check(await service.send({ method: "DELETE", path, headers }), { status: 205, headers: cors });
  });

  test("goes by the configured origins alone where there are any", async () => {
    const ask = (origin: string) => named.send({ path: topics, headers: { Origin: origin } });
    const answer = await ask("https://app.example.org");
    check(answer, { status: 200, headers: { "Access-Control-Allow-Origin": "https://app.example.org" } });
    for (const origin of [
      ...["http://app.example.org", "https://app.example.org:444", "https://x.app.example.org"],
      ...[
        "https://evilapp.example.org",
        "https://app.example.org.evil.example",
        "null",
        "http://localhost:5173",
      ],
    ])
      assert.deepEqual(corsNames(await ask(origin)), [], origin);
  });

  test("goes to every origin where that is configured", async () => {
    for (const origin of ["https://example.org", "http://localhost:5173"]) {
      const answer = await anywhere.send({ path: topics, headers: { Origin: origin } });
      const allowed = answer.headers["access-control-allow-origin"];
      assert.ok(allowed === "*" || allowed === origin, String(allowed));
      assert.equal(answer.headers["access-control-allow-credentials"], undefined);
    }
  });
});
