/** The metrics: who can read them, what they count, and that a client cannot make them grow. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { type TestContext, test } from "node:test";
import { processMetrics } from "../../src/observe/families.ts";
import { startReceiver } from "../capabilities/webhooks/http/receiver.ts";
import { type Exposition, familyOf, readExposition } from "../metrics/exposition.ts";
import { whyNoPromtool } from "../metrics/promtool.ts";
import { until } from "../until.ts";
import { auth, sendAs, sendWith } from "./access/callers.ts";
import { families } from "./families.ts";
import { follow } from "./follow.ts";
import { type Service, type ServiceOptions, startFor, startService } from "./service.ts";
import { isOnPostgres } from "./test-store.ts";

const own = { host: "127.0.0.1", port: 0 };

const start = (t: TestContext, options: ServiceOptions = {}) => startFor(t, { metrics: own, ...options });

async function textOf({ metrics }: Service): Promise<string> {
  const answer = await fetch(String(metrics));
  assert.equal(answer.status, 200);
  return answer.text();
}

const scrape = async (service: Service): Promise<Exposition> => readExposition(await textOf(service));

/** Between two scrapes. A text can be a second old, and what needs a query five seconds. */
const scrapeMs = 200;

/** Scrapes until the condition is true. */
async function scrapeUntil(
  service: Service,
  what: string,
  isSo: (found: Exposition) => boolean,
): Promise<Exposition> {
  let last = await scrape(service);
  let at = performance.now();
  await until(what, async () => {
    if (isSo(last)) return true;
    if (performance.now() - at < scrapeMs) return false;
    last = await scrape(service);
    at = performance.now();
    return isSo(last);
  });
  return last;
}

const durations = "holdfast_http_request_duration_seconds";
const countOf = (found: Exposition, labels: Record<string, string>) =>
  found
    .all(`${durations}_count`)
    .filter((each) => Object.entries(labels).every(([name, value]) => each.labels[name] === value))
    .reduce((sum, { value }) => sum + value, 0);

/** The metrics that only one kind of store has. */
const onlyOn = (name: string) =>
  /_connections/.test(name) ? "postgres" : /checkpoint|log_/.test(name) ? "sqlite" : undefined;

/** The metrics that only services with users have. `users/people-metrics.test.ts` is about them. */
const isOfUsers = (name: string) => /_(?:sign_ins|sessions|password|guess|mail)/.test(name);

/** The metrics that only services with functions have. `capabilities/code/code-metrics` is about them. */
const isOfFunctions = (name: string) => /^holdfast_code_(?:seconds|failures)/.test(name);

test("a scrape has every metric of the table with its labels, and no others", async (t) => {
  const service = await start(t);
  await service.create("topics", { title: "One" });
  const found = await scrapeUntil(service, "the create is counted", (each) => countOf(each, {}) > 0);
  const here = isOnPostgres ? "postgres" : "sqlite";
  const expected = Object.keys(families).filter(
    (name) => (onlyOn(name) ?? here) === here && !isOfUsers(name) && !isOfFunctions(name),
  );
  assert.deepEqual([...found.types.keys()].sort(), [...expected, ...Object.keys(processMetrics)].sort());
  for (const [name, { type, labels }] of Object.entries(families)) {
    if (!expected.includes(name)) continue;
    assert.equal(found.types.get(name), type, name);
    const samples = found.samples.filter((each) => familyOf(each.name, found.types) === name);
    assert.ok(samples.length > 0, name);
    for (const sample of samples) {
      const seen = Object.keys(sample.labels).filter((label) => label !== "le");
      assert.deepEqual(seen.sort(), [...labels].sort(), sample.name);
    }
  }
});

test("promtool finds nothing to say", { skip: whyNoPromtool() }, async (t) => {
  const service = await start(t);
  await service.create("topics", { title: "One" });
  const input = await textOf(service);
  assert.equal(execFileSync("promtool", ["check", "metrics"], { input, encoding: "utf8" }), "");
});

test("requests are counted by the templates of the OpenAPI document", async (t) => {
  const text = { type: "string" };
  const service = await start(t, {
    openCollections: true,
    collections: {
      users: {},
      articles: {
        references: { authorId: { collection: "users", as: "author", inverse: "articles" } },
        schema: { type: "object", properties: { authorId: text } },
      },
    },
  });
  const { path } = await service.create("articles");
  const user = await service.create("users");
  await service.create("topics");
  const hook = "/api/v1/_webhooks/1";
  const sent: [string, string][] = [
    ["GET", "/"],
    ["GET", "/livez"],
    ["GET", "/problems/not-acceptable"],
    ["GET", "/openapi.json"],
    ["GET", "/api/v1"],
    ["GET", "/api/v1/articles?limit=1"],
    ["GET", path],
    ["GET", `${path}/_changes`],
    ["POST", `${path}/_restore`],
    ["GET", `${user.path}/articles`],
    ["POST", "/api/v1/articles/_bulk"],
    ["POST", "/api/v1/articles/_import"],
    ["GET", "/api/v1/articles/_events"],
    ["GET", "/api/v1/_events"],
    ["POST", "/api/v1/_batch"],
    ["POST", "/api/v1/_rewind"],
    ["GET", "/api/v1/_collections"],
    ["POST", "/api/v1/_access"],
    ["GET", "/api/v1/_configuration"],
    ["GET", "/api/v1/_webhooks"],
    ["GET", hook],
    ["GET", `${hook}/_status`],
    ["GET", `${hook}/_deliveries`],
    ["POST", `${hook}/_test`],
    ["POST", `${hook}/_rotate`],
    ["POST", `${hook}/_deliveries/2/_retry`],
    ["GET", "/api/v1/other/1"],
  ];
  for (const [method, target] of sent) {
    const headers = target === "/" ? { Accept: "text/html" } : {};
    await service.send({ method, path: target, headers, ...(method === "POST" ? { content: {} } : {}) });
  }
  const document = (await service.send({ path: "/openapi.json" })).json as { paths: Record<string, object> };
  const found = await scrapeUntil(service, "all are counted", (each) => countOf(each, {}) >= sent.length + 4);
  const counted = found.all(`${durations}_count`);
  const described = new Set(Object.keys(document.paths));
  assert.deepEqual(
    counted.filter(({ labels }) => !described.has(String(labels.route))),
    [],
  );
  const routes = new Set(counted.map(({ labels }) => labels.route));
  // Each request had a path of its own, and two creates had others.
  assert.equal(routes.size, new Set(sent.map(([, target]) => target)).size + 2);
  assert.equal(countOf(found, { route: "/api/v1/{collection}/{id}", method: "GET", status: "404" }), 1);
  assert.equal(countOf(found, { route: "/api/v1/articles/{id}", method: "GET", status: "200" }), 1);
});

test("requests for API keys are counted by their templates", async (t) => {
  const service = await start(t, {
    auth: { ...auth, keys: true, administrators: [{ role: "ops" }] },
  });
  const key = "/api/v1/_keys/hf_00000000";
  const ops = { sub: "olga", roles: ["ops"] };
  for (const path of ["/api/v1/_keys", key]) await sendWith(service, ops, { path });
  for (const action of ["_rotate", "_revoke"])
    await sendWith(service, ops, { method: "POST", path: `${key}/${action}` });
  const found = await scrapeUntil(service, "all are counted", (each) => countOf(each, {}) >= 4);
  assert.deepEqual(
    found
      .all(`${durations}_count`)
      .map(({ labels }) => labels.route)
      .sort(),
    ["", "/{id}", "/{id}/_revoke", "/{id}/_rotate"].map((end) => `/api/v1/_keys${end}`),
  );
});

test("different paths, methods and names add no series", async (t) => {
  const service = await start(t, { limits: { collections: 100_000 } });
  const methods = ["GET", "PROPFIND", "MKCOL", "LOCK", "HEAD", "REPORT", "DELETE", "M-SEARCH"];
  const attack = (from: number, to: number) => {
    const lines: string[] = [];
    for (let n = from; n < to; n++) {
      const method = methods[n % methods.length];
      const target = [`/x${n}`, `/api/v1/c${n}/${n}`, `/api/v1/c${n}`, `/problems/p${n}`, `/docs/${n}`][
        n % 5
      ];
      const end = n === to - 1 ? "Connection: close\r\n" : "";
      lines.push(`${method} ${target} HTTP/1.1\r\nHost: localhost\r\n${end}\r\n`);
    }
    return service.raw(lines.join(""));
  };
  await attack(0, 250);
  const before = await scrapeUntil(service, "the first are counted", (each) => countOf(each, {}) >= 250);
  for (let n = 250; n < 1_500; n += 250) await attack(n, n + 250);
  const after = await scrapeUntil(service, "all are counted", (each) => countOf(each, {}) >= 1_500);
  const named = ({ samples }: Exposition) =>
    samples
      .filter(({ name }) => name.startsWith("holdfast_"))
      .map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`);
  const known = new Set(named(before));
  assert.deepEqual(
    named(after).filter((name) => !known.has(name)),
    [],
  );
  assert.equal(
    [...known].find((name) => /c\d|x\d|PROPFIND/.test(name)),
    undefined,
  );
  assert.ok(countOf(after, { method: "_OTHER" }) > 500);
});

test("commits are counted by their results, and timed", async (t) => {
  const service = await start(t);
  const { path } = await service.create("topics", { title: "One" });
  const stale = { "If-Match": '"7"' };
  await service.send({ method: "DELETE", path, headers: stale });
  await Promise.all(Array.from({ length: 20 }, () => service.create("topics")));
  const commits = "holdfast_store_commits_total";
  const found = await scrapeUntil(
    service,
    "the creates are counted",
    (each) => each.value(commits, { result: "written" }) >= 21,
  );
  assert.equal(found.value(commits, { result: "failed" }), 0);
  const groups = found.value("holdfast_store_transaction_commits_count");
  assert.ok(groups >= 2 && groups <= 21, String(groups));
  assert.equal(found.value("holdfast_store_transaction_commits_sum"), 21);
  assert.equal(found.value("holdfast_store_commit_wait_seconds_count"), 21);
  assert.ok(found.value("holdfast_store_flush_seconds_count") >= groups);
  for (const name of ["commit_wait", "flush"]) {
    const sum = found.value(`holdfast_store_${name}_seconds_sum`);
    assert.ok(sum > 0 && sum < 600, `${name} ${sum}`);
  }
  assert.ok(found.value("holdfast_store_size_bytes") > 1_000);
  assert.equal(found.value("holdfast_store_state", { state: "ok" }), 1);
  assert.equal(found.value("holdfast_metrics_source_up", { source: "store" }), 1);
});

test("event streams are counted, and one that is up to date has no lag", async (t) => {
  const service = await start(t);
  await service.create("topics");
  const stream = await follow(service, "/api/v1/topics/_events");
  await until("the stream has started", () => stream.frames().length > 0);
  await service.create("topics");
  await until("the event has come", () => stream.events().length === 1);
  await scrapeUntil(
    service,
    "the stream is counted and up to date",
    (each) => each.value("holdfast_feed_subscribers") === 1 && each.value("holdfast_feed_lag_seconds") === 0,
  );
  stream.close();
  await scrapeUntil(service, "no stream is left", (each) => each.value("holdfast_feed_subscribers") === 0);
});

test("the backlog of webhooks and its age are counted", async (t) => {
  const service = await start(t);
  const receiver = await startReceiver((_, response) => void response.writeHead(500).end());
  t.after(() => receiver.close());
  const content = { url: receiver.url, collections: ["topics"] };
  await service.send({ method: "POST", path: "/api/v1/_webhooks", content });
  await service.send({ method: "POST", path: "/api/v1/_webhooks", content: { ...content, enabled: false } });
  await service.create("topics", { n: 1 });
  const state = (each: Exposition, name: string) => {
    const [found] = each.all("holdfast_webhook_deliveries").filter(({ labels }) => labels.state === name);
    return found?.value;
  };
  const age = "holdfast_webhook_oldest_pending_age_seconds";
  const failing = await scrapeUntil(
    service,
    "a delivery is retried",
    (each) => state(each, "retrying") === 1 && each.value(age) > 0,
  );
  assert.equal(state(failing, "dead"), 0);
  assert.equal(failing.value("holdfast_webhooks", { state: "enabled" }), 1);
  assert.equal(failing.value("holdfast_webhooks", { state: "disabled" }), 1);
  assert.ok(failing.value("holdfast_webhook_attempt_duration_seconds_count", { result: "failed" }) >= 1);
  assert.equal(failing.value("holdfast_webhook_attempt_duration_seconds_count", { result: "delivered" }), 0);
});

test("at /metrics, administrators read them, and for others the path does not exist", async (t) => {
  const service = await start(t, {
    metrics: "administrators",
    auth: { ...auth, administrators: [{ role: "ops" }] },
    collections: { topics: {} },
  });
  assert.equal(service.metrics, undefined);
  const ops = { sub: "olga", roles: ["ops"] };
  const read = await sendWith(service, ops, { path: "/metrics" });
  assert.equal(read.status, 200, read.text);
  assert.equal(read.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
  assert.equal(read.headers["cache-control"], "no-store");
  assert.ok(readExposition(read.text).types.has("holdfast_build_info"));
  const head = await sendWith(service, ops, { method: "HEAD", path: "/metrics" });
  assert.deepEqual([head.status, head.text], [200, ""]);
  assert.equal((await sendWith(service, ops, { path: "/metrics?x=1" })).status, 400);
  const refused = await sendWith(service, ops, { method: "POST", path: "/metrics", content: {} });
  assert.deepEqual([refused.status, refused.headers.allow], [405, "GET, HEAD, OPTIONS"]);
  assert.equal((await sendWith(service, ops, { method: "OPTIONS", path: "/metrics" })).status, 204);
  assert.equal((await sendAs(service, "expired", { path: "/metrics" })).status, 401);
  const others = [undefined, { sub: "ada", roles: ["admin"] }, { ...ops, scope: "topics:read" }];
  for (const who of others)
    for (const method of ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PROPFIND"])
      for (const headers of [{}, { Accept: "text/html" }]) {
        const [here, elsewhere] = await Promise.all(
          ["/metrics", "/metricz"].map((path) => {
            const request = { method, path, headers };
            return who === undefined ? service.send(request) : sendWith(service, who, request);
          }),
        );
        const seen = (answer: typeof here) => ({
          status: answer?.status,
          text: answer?.text.replaceAll("/metricz", "/metrics"),
          headers: { ...answer?.headers, "x-request-id": "", date: "", "content-length": "" },
        });
        assert.deepEqual(seen(here), seen(elsewhere), `${method} ${JSON.stringify(who)}`);
        assert.equal(here?.status, 404);
      }
});

test("without authentication, everyone who reaches the service reads /metrics", async (t) => {
  const service = await start(t, { metrics: "administrators" });
  const answer = await service.send({ path: "/metrics" });
  assert.equal(answer.status, 200, answer.text);
  assert.equal((await service.send({ path: "/metrics?x=1" })).status, 400);
});

test("what is refused before there is a request is counted too, and once", async (t) => {
  const limits = { headersTimeoutMs: 600, requestTimeoutMs: 1_200, headerBytes: 8_192 };
  const service = await start(t, { limits });
  const host = "Host: localhost\r\n";
  const post = `POST /api/v1/topics HTTP/1.1\r\n${host}Content-Type: application/json\r\n`;
  const refused: [string, string, { method: string; route: string; status: string }][] = [
    ["too slow headers", `GET / HTTP/1.1\r\n${host}`, { method: "_OTHER", route: "unknown", status: "408" }],
    [
      "too large headers",
      `GET / HTTP/1.1\r\n${host}X: ${"x".repeat(9_000)}\r\n\r\n`,
      { method: "_OTHER", route: "unknown", status: "431" },
    ],
    ["no HTTP", "FOO / HTTP/1.1\r\n\r\n", { method: "_OTHER", route: "unknown", status: "400" }],
    [
      "too slow content",
      `${post}Content-Length: 100\r\n\r\n{"a":`,
      { method: "POST", route: "/api/v1/{collection}", status: "408" },
    ],
  ];
  for (const [what, bytes, { status }] of refused) {
    const connection = await service.connect();
    connection.write(bytes);
    const received = await connection.untilClosed().finally(() => connection.close());
    assert.match(received, new RegExp(`^HTTP/1.1 ${status} `), what);
  }
  const found = await scrapeUntil(service, "all are counted", (each) => countOf(each, {}) >= refused.length);
  for (const [what, , labels] of refused) assert.equal(countOf(found, labels), 1, what);
  assert.equal(countOf(found, {}), refused.length);
});

test("with an address of their own, /metrics of the service does not exist", async (t) => {
  const service = await start(t);
  const answer = await service.send({ path: "/metrics" });
  assert.deepEqual([answer.status, answer.text], [404, ""]);
});

test("the listener answers GET and HEAD at /metrics, for loopback names", async (t) => {
  const service = await start(t);
  const url = String(service.metrics);
  const port = Number(new URL(url).port);
  const head = await fetch(url, { method: "HEAD" });
  assert.deepEqual([head.status, await head.text()], [200, ""]);
  assert.ok(Number(head.headers.get("content-length")) > 1_000);
  const post = await fetch(url, { method: "POST", body: "x" });
  assert.deepEqual([post.status, post.headers.get("allow")], [405, "GET, HEAD"]);
  assert.equal((await fetch(`${url}/x`)).status, 404);
  assert.equal((await fetch(`${url}?x=1`)).status, 200);
  const { openConnection } = await import("./connection.ts");
  for (const host of ["evil.example.org", "%%", "localhost"]) {
    const connection = await openConnection(port);
    connection.write(`GET /metrics HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    const { status } = await connection.answer().finally(() => connection.close());
    assert.equal(status, host === "localhost" ? 200 : 421, host);
  }
});

test("the listener stops with the service", async () => {
  const service = await startService({ metrics: own });
  const url = String(service.metrics);
  await (await fetch(url)).text();
  await service.stop();
  await assert.rejects(fetch(url));
});

test("an address that is in use is a start error that names the flag", async (t) => {
  const first = await start(t);
  const port = Number(new URL(String(first.metrics)).port);
  await assert.rejects(
    startService({ metrics: { host: "127.0.0.1", port } }),
    /^StartError: Port \d+ on 127\.0\.0\.1 is in use\. .+ choose another port with --metrics\.$/,
  );
});
