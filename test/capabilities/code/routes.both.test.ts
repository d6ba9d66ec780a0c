import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type Service, type ServiceOptions, startFor } from "../../http/service.ts";
import { usualThreads } from "../../threads/count.ts";
import { until } from "../../until.ts";

const declared = `
const aborted = (signal) => new Promise((resolve) => signal.addEventListener("abort", resolve));

export default defineConfig({
  collections: { orders: { schema: { type: "object", properties: { title: { type: "string" }, state: { type: "string" } } } } },
  routes: {
    checkout: route({
      method: "POST",
      path: "checkout/{orderId}",
      access: "public",
      body: { type: "object", properties: { card: { type: "string" } }, required: ["card"] },
      response: { type: "object", properties: { paid: { type: "boolean" }, by: { type: "string" } }, required: ["paid"] },
      run: async ({ params, body, client }) => {
        await client.orders.patch(params.orderId, { state: "paid" });
        return { paid: true, by: body.card };
      },
    }),
    order: route({ path: "checkout/{orderId}", access: "public", run: ({ params, client }) => client.orders.get(params.orderId) }),
    sums: route({
      path: "sums",
      access: "public",
      query: {
        type: "object",
        properties: { a: { type: "integer" }, more: { type: "array", items: { type: "number" } }, isNegative: { type: "boolean" } },
        required: ["a"],
      },
      response: { type: "number" },
      run: ({ query: { a, more = [], isNegative = false } }) => more.reduce((sum, each) => sum + each, a) * (isNegative ? -1 : 1),
    }),
    described: route({ path: "described", access: "public", run: ({ request, caller, body, query }) => ({ request, caller: caller ?? null, body: body ?? null, query: query ?? null }) }),
    echo: route({ method: "POST", path: "echo", access: "public", body: "text", run: ({ body }) => respond(200, body, { "content-type": "text/plain; charset=utf-8" }) }),
    special: route({ path: "files/latest", access: "public", run: () => "latest" }),
    file: route({ path: "files/{name}", access: "public", run: ({ params }) => params.name }),
    nothing: route({ method: "DELETE", path: "nothing", access: "public", run: () => {} }),
    created: route({ method: "POST", path: "created", access: "public", run: () => respond(201, { id: 1 }, { location: "/created/1" }) }),
    bytes: route({ path: "bytes", access: "public", run: () => respond(200, Buffer.from([0, 1, 255]), { "content-type": "image/x-test" }) }),
    coded: route({ path: "coded", access: "public", run: () => respond(200, gzipSync("a".repeat(3000)), { "content-type": "text/plain", "content-encoding": "gzip" }) }),
    page: route({ path: "page", access: "public", run: () => respond(200, "<p>hi</p>", { "content-type": "text/html; charset=utf-8" }) }),
    script: route({ path: "script", access: "public", run: () => respond(200, "<p>hi</p>", { "content-type": "text/html", "content-security-policy": "script-src 'self'" }) }),
    header: route({
      path: "header",
      access: "public",
      query: { type: "object", properties: { name: { type: "string" }, value: { type: "string" } } },
      run: ({ query }) => respond(200, "x", { "content-type": "text/plain", [query.name]: query.value }),
    }),
    status: route({ path: "status", access: "public", query: { type: "object", properties: { is: { type: "integer" } } }, run: ({ query }) => respond(query.is) }),
    long: route({ path: "long", access: "public", run: () => "a".repeat(17 * 1024 * 1024) }),
    symbol: route({ path: "symbol", access: "public", run: () => respond(Symbol("x")) }),
    deep: route({ path: "deep/{n}", access: "public", run: async ({ params, client }) => {
      await client.orders.create({ title: params.n });
      return client.deep.get(String(Number(params.n) + 1));
    } }),
    wrong: route({ path: "wrong", access: "public", response: { type: "object", properties: { a: { type: "string" } } }, run: () => ({ a: 1 }) }),
    wrongText: route({ path: "wrong-text", access: "public", response: { type: "object", properties: { a: { type: "string" } } }, query: { type: "object", properties: { type: { type: "string" } } }, run: ({ query }) => respond(200, '{"a":1}', { "content-type": query.type }) }),
    waits: route({ method: "POST", path: "waits", access: "public", timeoutMs: 60_000, body: "text", as: "service", run: async ({ service, signal }) => {
      await service.orders.create({ title: "waits" });
      await aborted(signal);
    } }),
    date: route({ path: "date", access: "public", run: () => ({ at: new Date(0) }) }),
    fails: route({ path: "fails", access: "public", run: () => { throw new Error("a secret of the code"); } }),
    refuses: route({ method: "POST", path: "refuses", access: "public", body: { type: "object" }, run: () => refuse("card.number", "is stolen", { code: "stolen" }) }),
    forbids: route({ path: "forbids", access: "public", run: () => forbid("The shop is closed.") }),
    exits: route({ path: "exits", access: "public", run: () => process.exit() }),
    hangs: route({ path: "hangs", access: "public", timeoutMs: 1, run: async ({ signal }) => { await aborted(signal); return "ended"; } }),
    loops: route({ path: "loops", access: "public", run: () => { for (;;); } }),
    writes: route({ method: "POST", path: "writes", access: "public", as: "service", run: async ({ service }) => (await service.orders.create({ title: "By code" })).id }),
  },
});
`;

const source = `import { defineConfig, forbid, refuse, respond, route } from "holdfast";\nimport { gzipSync } from "node:zlib";\n${declared}`;

/** Responses of routes can have any status, which no document describes. */
const start = (t: TestContext, more: ServiceOptions = {}) =>
  startFor(t, { module: source, isWatched: false, ...more });

const problemOf = async (service: Service, ...args: Parameters<Service["send"]>) => {
  const { status, json } = await service.send(args[0], { mayFail: true });
  const { code, detail, violations } = json as { code: string; detail: string; violations?: object[] };
  return { status, code, detail, violations };
};

test("a route gets its parameters and its body, and acts through the client", async (t) => {
  const { create, send } = await start(t);
  const { id, path } = await create("orders", { title: "One" });
  const paid = await send({ method: "POST", path: `/api/v1/checkout/${id}`, content: { card: "1234" } });
  assert.equal(paid.status, 200, paid.text);
  assert.deepEqual(paid.json, { paid: true, by: "1234" });
  assert.equal(paid.headers["content-type"], "application/json; charset=utf-8");
  assert.equal(paid.headers["cache-control"], "no-store");
  assert.equal(((await send({ path })).json as { state: string }).state, "paid");
  assert.equal(((await send({ path: `/api/v1/checkout/${id}` })).json as { state: string }).state, "paid");
});

test("HEAD, OPTIONS and other methods of a route are those of every path", async (t) => {
  const { send } = await start(t);
  const path = "/api/v1/checkout/x";
  const options = await send({ method: "OPTIONS", path });
  assert.deepEqual([options.status, options.headers.allow], [204, "GET, HEAD, POST, OPTIONS"]);
  assert.equal(options.headers["accept-post"], "application/json");
  const refused = await send({ method: "PUT", path, content: {} });
  assert.deepEqual([refused.status, refused.headers.allow], [405, "GET, HEAD, POST, OPTIONS"]);
  const head = await send({ method: "HEAD", path: "/api/v1/files/latest" });
  assert.deepEqual([head.status, head.text, head.headers["content-length"]], [200, "", "8"]);
  for (const unknown of ["/api/v1/checkout", "/api/v1/checkout/a/b", "/api/v1/checkout//", "/checkout/x"])
    assert.equal((await send({ path: unknown })).status, 404, unknown);
});

test("a text in a path comes before a parameter, and an escaped slash is no slash", async (t) => {
  const { send } = await start(t);
  const read = async (path: string) => (await send({ path: `/api/v1/files/${path}` })).json;
  assert.deepEqual(await Promise.all(["latest", "other", "a%2Fb", "other/"].map(read)), [
    "latest",
    "other",
    "a/b",
    "other",
  ]);
});

test("the query has the types of its schema, and other parameters are refused", async (t) => {
  const service = await start(t);
  const sum = await service.send({ path: "/api/v1/sums?a=1&more=2.5&more=4&isNegative=true" });
  assert.equal(sum.json, -7.5, sum.text);
  const wrong = await problemOf(service, { path: "/api/v1/sums?a=x&b=1&isNegative=yes" });
  assert.deepEqual([wrong.status, wrong.code], [400, "INVALID_PARAMETER"]);
  const codes = (wrong.violations as { in: string; name: string; code: string }[]).map(
    (each) => `${each.in} ${each.name} ${each.code}`,
  );
  assert.deepEqual(codes.sort(), ["query a type", "query b unknownParameter", "query isNegative type"]);
  assert.equal((await problemOf(service, { path: "/api/v1/sums?a=1&a=2" })).code, "INVALID_PARAMETER");
  assert.equal((await problemOf(service, { path: "/api/v1/sums" })).code, "INVALID_PARAMETER");
  assert.equal((await problemOf(service, { path: "/api/v1/files/latest?a=1" })).code, "INVALID_PARAMETER");
});

test("a number in the query that JavaScript would change is refused", async (t) => {
  const service = await start(t);
  for (const query of ["a=9007199254740993", "a=1&more=1e400", "a=1&more=1e-400", "a=1e20"]) {
    const { status, code, violations } = await problemOf(service, { path: `/api/v1/sums?${query}` });
    assert.deepEqual([status, code], [400, "INVALID_PARAMETER"], query);
    const [violation] = violations as { name: string; code: string }[];
    assert.deepEqual(
      [violation?.name, violation?.code],
      [query.startsWith("a=1&") ? "more" : "a", "numberRange"],
    );
  }
  assert.equal((await service.send({ path: "/api/v1/sums?a=9007199254740991" })).json, 9007199254740991);
});

test("the body is checked before the code runs", async (t) => {
  const service = await start(t);
  const post = (request: object) =>
    problemOf(service, { method: "POST", path: "/api/v1/checkout/x", ...request });
  const wrong = await post({ content: { card: 5, more: 1 } });
  assert.deepEqual([wrong.status, wrong.code], [400, "VALIDATION_FAILED"]);
  assert.equal(wrong.violations?.length, 2);
  assert.equal((await post({})).code, "BODY_REQUIRED");
  assert.equal(
    (await post({ body: "{", headers: { "content-type": "application/json" } })).code,
    "MALFORMED_JSON",
  );
  assert.equal((await post({ body: "a=1", headers: { "content-type": "text/plain" } })).status, 415);
  const long = {
    body: `{"card":"${"a".repeat(1_100_000)}"}`,
    headers: { "content-type": "application/json" },
  };
  assert.equal((await post(long)).status, 413);
  const none = await problemOf(service, { method: "POST", path: "/api/v1/created", content: {} });
  assert.deepEqual([none.status, none.code], [400, "INVALID_PARAMETER"]);
});

test("a body of text arrives exactly as it was sent", async (t) => {
  const { send } = await start(t);
  const body = "\uFEFFa=1&b=ü\r\n";
  const echo = await send({ method: "POST", path: "/api/v1/echo", body, headers: { "content-type": "x/y" } });
  assert.deepEqual([echo.status, echo.bytes.toString()], [200, body]);
  const bad = await send({ method: "POST", path: "/api/v1/echo", body: Buffer.from([255]) });
  assert.deepEqual([bad.status, (bad.json as { code: string }).code], [400, "INVALID_UTF8"]);
});

test("a route learns about its request, but not its credential", async (t) => {
  const { send } = await start(t);
  const headers = { authorization: "Bearer x", cookie: "a=b", "x-test": "1", "idempotency-key": "k1" };
  const { json } = await send({ path: "/api/v1/described", headers });
  const { request, ...others } = json as { request: Record<string, unknown> };
  assert.deepEqual(others, { caller: null, body: null, query: null });
  assert.equal(request.target, "/api/v1/described");
  assert.equal(request.idempotencyKey, "k1");
  assert.equal(request.ip, "127.0.0.1");
  const seen = request.headers as Record<string, string>;
  assert.deepEqual([seen["x-test"], seen.authorization, seen.cookie], ["1", undefined, undefined]);
});

test("respond decides about status, headers and body", async (t) => {
  const { send } = await start(t);
  const created = await send({ method: "POST", path: "/api/v1/created" });
  assert.deepEqual([created.status, created.headers.location, created.json], [201, "/created/1", { id: 1 }]);
  assert.equal((await send({ method: "DELETE", path: "/api/v1/nothing" })).status, 204);
  const bytes = await send({ path: "/api/v1/bytes" });
  assert.deepEqual([...bytes.bytes], [0, 1, 255]);
  assert.equal(bytes.headers["content-type"], "image/x-test");
  assert.equal((await send({ path: "/api/v1/status?is=404" })).status, 404);
  for (const asked of ["gzip", "br", "identity"]) {
    const coded = await send({ path: "/api/v1/coded", headers: { "accept-encoding": asked } });
    assert.deepEqual([coded.headers["content-encoding"], coded.text], ["gzip", "a".repeat(3000)], asked);
  }
  const page = await send({ path: "/api/v1/page" });
  assert.match(String(page.headers["content-security-policy"]), /^default-src 'none'; style-src/);
  const script = await send({ path: "/api/v1/script" });
  assert.equal(script.headers["content-security-policy"], "script-src 'self'");
  assert.equal(page.headers["x-content-type-options"], "nosniff");
});

test("a response that a route cannot give is 500, and its client learns nothing about the code", async (t) => {
  const reasons: string[] = [];
  const log = {
    info: () => {},
    warn: () => {},
    error: (at: { err?: unknown }) => void reasons.push(String(at.err)),
  };
  const service = await start(t, { log });
  const paths = {
    "status?is=500": /from 200 to 499/,
    "status?is=101": /from 200 to 499/,
    "header?name=set-cookie&value=a": /"set-cookie" belongs to the service/,
    "header?name=Access-Control-Allow-Origin&value=*": /belongs to the service/,
    "header?name=Transfer-Encoding&value=chunked": /belongs to the service/,
    "header?name=Content-Length&value=1": /belongs to the service/,
    "header?name=Content-Encoding&value=gzip": /only bytes can have the header "content-encoding"/,
    "header?name=x-a&value=b%0D%0Ac:%20d": /HTTP does not allow/,
    "header?name=x%20a&value=b": /HTTP does not allow/,
    long: /larger than 16 MiB/,
    wrong: /does not match its schema: #\/a must be a string/,
    "wrong-text?type=application/json": /does not match its schema: #\/a must be a string/,
    "wrong-text?type=Application/JSON%20;charset=utf-8": /does not match its schema/,
    symbol: /the status must be a whole number from 200 to 499/,
    date: /The result at \/at is an object of Date/,
    fails: /a secret of the code/,
  };
  for (const [path, reason] of Object.entries(paths)) {
    const problem = await problemOf(service, { path: `/api/v1/${path}` });
    assert.deepEqual([problem.status, problem.code], [500, "CODE_FAILED"], path);
    assert.equal(problem.detail, "The code of this path failed. It may have changed something before.");
    if (usualThreads === 1) assert.match(reasons.pop() ?? "", reason); // other threads have a log of their own
  }
});

test("a response in another type than JSON need not match the schema", async (t) => {
  const { send } = await start(t);
  const { status, text } = await send({ path: "/api/v1/wrong-text?type=application/json-seq" });
  assert.deepEqual([status, text], [200, '{"a":1}']);
});

test("routes that wait with large bodies keep no large write from its turn", async (t) => {
  const { send, origin } = await start(t);
  const over = new AbortController();
  const body = "x".repeat(900_000);
  let ended = 0;
  const waiting = Array.from({ length: 8 }, () =>
    fetch(`${origin}/api/v1/waits`, { method: "POST", body, signal: over.signal })
      .catch(() => {})
      .finally(() => ended++),
  );
  const path = "/api/v1/orders?title=waits";
  await until("all wait", async () => ((await send({ path })).json as unknown[]).length === 8);
  const { status } = await send({ method: "POST", path: "/api/v1/orders", content: { title: body } });
  assert.deepEqual([status, ended], [201, 0]);
  over.abort();
  await Promise.all(waiting);
});

test("routes that call each other without an end fail at the eleventh", async (t) => {
  const service = await start(t);
  const { status, code } = await problemOf(service, { path: "/api/v1/deep/1" });
  assert.deepEqual([status, code], [500, "CODE_FAILED"]);
  assert.equal(((await service.send({ path: "/api/v1/orders" })).json as unknown[]).length, 10);
});

test("refuse and forbid are errors of the request", async (t) => {
  const service = await start(t);
  const refused = await problemOf(service, { method: "POST", path: "/api/v1/refuses", content: {} });
  assert.deepEqual([refused.status, refused.code], [400, "VALIDATION_FAILED"]);
  assert.deepEqual(refused.violations, [
    { in: "body", pointer: "#/card/number", code: "stolen", detail: "is stolen" },
  ]);
  const forbidden = await problemOf(service, { path: "/api/v1/forbids" });
  assert.deepEqual([forbidden.status, forbidden.detail], [403, "The shop is closed."]);
});

test("a lost worker is 503 with an unknown outcome, and the next call works", async (t) => {
  const service = await start(t);
  const lost = await problemOf(service, { path: "/api/v1/exits" });
  assert.deepEqual([lost.status, lost.code], [503, "OUTCOME_UNKNOWN"]);
  assert.equal((await service.send({ path: "/api/v1/hangs" })).json, "ended");
});

test("an endless loop is 503 with an unknown outcome, while others get their responses", async (t) => {
  const service = await start(t);
  await service.send({ path: "/api/v1/files/latest" });
  const loop = problemOf(service, { path: "/api/v1/loops" });
  for (let n = 0; n < 10; n++) assert.equal((await service.send({ path: "/api/v1/orders" })).status, 200);
  const lost = await loop;
  assert.deepEqual([lost.status, lost.code], [503, "OUTCOME_UNKNOWN"]);
  assert.equal((await service.send({ path: "/api/v1/files/latest" })).json, "latest");
});

test("the service of a route is named in the history", async (t) => {
  const { send } = await start(t);
  const { json } = await send({ method: "POST", path: "/api/v1/writes" });
  const changes = await send({ path: `/api/v1/orders/${json}/_changes` });
  assert.equal((changes.json as { principal: string }[])[0]?.principal, "code:writes");
});

test("the OpenAPI document describes routes", async (t) => {
  const { send } = await start(t);
  const { paths } = (await send({ path: "/openapi.json" })).json as {
    paths: Record<string, Record<string, Record<string, unknown>>>;
  };
  const { post, get } = paths["/api/v1/checkout/{orderId}"] as Record<string, Record<string, unknown>>;
  assert.equal(post?.operationId, "callCheckout");
  assert.deepEqual(post?.tags, ["Routes"]);
  assert.deepEqual((post?.requestBody as { content: object } | undefined)?.content, {
    "application/json": {
      schema: {
        type: "object",
        properties: { card: { type: "string" } },
        required: ["card"],
        additionalProperties: false,
      },
    },
  });
  assert.equal(get?.operationId, "callOrder");
  const parameters = paths["/api/v1/sums"]?.get?.parameters as { name: string; required?: boolean }[];
  assert.deepEqual(
    parameters.map(({ name, required = false }) => [name, required]),
    [
      ["a", true],
      ["more", false],
      ["isNegative", false],
    ],
  );
});
