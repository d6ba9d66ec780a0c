/** The service as a plugin of another Fastify application. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { fastify } from "fastify";
import { options } from "../../src/config/options.ts";
import { type EmbeddedConfig, holdfast } from "../../src/index.ts";
import { makeFolder } from "../folder.ts";
import { until } from "../until.ts";
import { json, type Prepare, post, start } from "./embedded.ts";

interface Problem {
  code: string;
}

test("an application has the collections below a prefix, and its own routes, parsers and errors beside it", async (t) => {
  const { origin } = await start(t, { collections: { topics: {} } }, (app) => {
    app.setNotFoundHandler((_request, reply) => reply.code(404).send("the application's"));
    app.setErrorHandler((error: Error, _request, reply) => reply.code(418).send(error.message));
    app.post("/echo", (request) => request.body);
    app.get("/fails", () => {
      throw new Error("mine");
    });
  });
  const created = await post(`${origin}/api/v1/topics`, { title: "One" });
  assert.equal(created.status, 201);
  const location = created.headers.get("location") ?? "";
  assert.match(location, /^\/api\/v1\/topics\/[0-9a-f-]{36}$/);
  assert.equal((await fetch(`${origin}${location}`)).headers.get("etag"), '"1"');
  assert.equal((await fetch(`${origin}${location}/`, { method: "DELETE" })).status, 205);
  const wrong = await post(`${origin}/api/v1/topics`, [1]);
  const { code, instance } = (await wrong.json()) as Record<string, string>;
  assert.equal(code, "BODY_NOT_OBJECT");
  assert.match(instance ?? "", /^urn:uuid:[0-9a-f-]{36}$/);
  assert.equal(await (await fetch(`${origin}/api/v1/others`)).text(), "");

  assert.deepEqual(await (await post(`${origin}/echo`, { a: 1 })).json(), { a: 1 });
  assert.equal(await (await fetch(`${origin}/nothing`)).text(), "the application's");
  assert.equal(await (await fetch(`${origin}/livez`)).text(), "the application's");
  assert.equal((await fetch(`${origin}/fails`)).status, 418);
});

for (const [prefix, outer, expected] of [
  ["/data", "", "/data"],
  ["/data", "/outer", "/outer/data"],
  [undefined, "/outer", "/outer/api/v1"],
  ["/", "", ""],
] as const)
  test(`an application that says prefix ${prefix} within "${outer}" has them at "${expected}"`, async (t) => {
    const folder = makeFolder();
    const app = fastify();
    t.after(() => app.close());
    const config = { store: join(folder, "store.db"), ...(prefix && { prefix }) };
    if (outer === "") app.register(holdfast, config);
    else app.register(async (inner) => inner.register(holdfast, config), { prefix: outer });
    const origin = await app.listen({ host: "127.0.0.1", port: 0 });
    const created = await post(`${origin}${expected}/topics`, {});
    assert.equal(created.status, 201);
    assert.match(created.headers.get("location") ?? "", new RegExp(`^${expected}/topics/`));
    const queried = await fetch(`${origin}${expected}/topics`, {
      method: "QUERY",
      headers: json,
      body: "{}",
    });
    assert.equal(((await queried.json()) as unknown[]).length, 1);
  });

const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

/** The list of collections, and its methods. */
async function checkList(origin: string, path: string, names: readonly string[]): Promise<void> {
  const list = await fetch(`${origin}${path}`, { headers: browser });
  assert.equal(list.status, 200, path);
  assert.equal(list.headers.get("content-type"), "application/json; charset=utf-8");
  const below = path.replace(/\/$/, "");
  assert.equal(list.headers.get("link"), `<${below}/openapi.json>; rel="service-desc"`);
  assert.deepEqual(await list.json(), {
    collections: names.map((name) => ({ name, href: `${below}/${name}` })),
  });
  const options = await fetch(`${origin}${path}`, { method: "OPTIONS" });
  assert.deepEqual([options.status, options.headers.get("allow")], [204, "GET, HEAD, OPTIONS"]);
}

for (const [prefix, paths] of [
  [undefined, ["/api/v1", "/api/v1/"]],
  ["/data", ["/data", "/data/"]],
  ["/", ["/"]],
] as const)
  test(`an application with the prefix ${prefix} has the list of collections there, and its own pages`, async (t) => {
    const collections = { topics: {}, authors: {} };
    const { origin } = await start(t, { collections, ...(prefix && { prefix }) }, (app) => {
      if (prefix !== "/")
        app.get("/", (_request, reply) => reply.type("text/html").send("the application's"));
      app.setNotFoundHandler((_request, reply) => reply.code(404).send("the application's"));
    });
    for (const path of paths) await checkList(origin, path, ["authors", "topics"]);
    const nothing = await fetch(`${origin}${paths[0].replace(/\/$/, "")}/none`, { headers: browser });
    assert.deepEqual([nothing.status, await nothing.text()], [404, ""]);
    if (prefix === "/") return;
    for (const path of ["/", "/nowhere", "/docs/", `${prefix ?? "/api/v1"}x`])
      assert.equal(await (await fetch(`${origin}${path}`, { headers: browser })).text(), "the application's");
  });

test("the paths that describe and administer the service work in an application", async (t) => {
  const auth = { keys: true, administrators: { role: "ops" } };
  const open = await start(t, { collections: { topics: {} } });
  const guarded = await start(t, { auth, collections: { topics: {} } });
  const base = `${open.origin}/api/v1`;
  const { collections } = (await (await fetch(`${base}/_collections`)).json()) as {
    collections: { href: string }[];
  };
  assert.deepEqual(
    collections.map(({ href }) => href),
    ["/api/v1/topics"],
  );
  const answer = await post(`${base}/_access`, { collection: "topics", operation: "read" });
  assert.equal(((await answer.json()) as { allowed: boolean }).allowed, true);
  const { options: shown } = (await (await fetch(`${base}/_configuration`)).json()) as {
    options: { name: string; source: string }[];
  };
  assert.equal(shown.find(({ name }) => name === "store")?.source, "application");
  for (const name of ["host", "port", "tls", "console", "limits.headers"])
    assert.ok(!shown.some((each) => each.name === name), name);
  for (const path of ["_keys", "_configuration"])
    assert.equal((await fetch(`${guarded.origin}/api/v1/${path}`)).status, 404);
});

test("an application has no console, whatever the prefix", async (t) => {
  const { origin } = await start(t, { collections: { topics: {} }, prefix: "/" });
  const root = await fetch(origin, { headers: { accept: "text/html, application/json;q=0.5" } });
  assert.deepEqual(await root.json(), { collections: [{ name: "topics", href: "/topics" }] });
  for (const name of JSON.parse(readFileSync("dist/console/files.json", "utf8")))
    assert.equal((await fetch(`${origin}/${name}`)).status, 404, name);
});

test("an application's own route at the prefix wins", async (t) => {
  const { origin } = await start(t, {}, (app) => app.get("/api/v1", () => "the application's"));
  assert.equal(await (await fetch(`${origin}/api/v1`)).text(), "the application's");
});

test("what a hook of the application refuses is never served, however it is asked for", async (t) => {
  const refuse = async () => {
    throw Object.assign(new Error("no"), { statusCode: 403 });
  };
  for (const hook of ["onRequest", "preHandler"] as const) {
    const { origin } = await start(t, {}, (app) => app.addHook(hook, refuse));
    const url = `${origin}/api/v1/topics`;
    const answers = [
      await post(url, {}),
      await post(url, {}, { "content-type": "no media type" }),
      await fetch(url),
      await fetch(url, { method: "QUERY", headers: json, body: "{}" }),
      await fetch(`${url}/1`, { method: "DELETE" }),
      await fetch(`${origin}/api/v1`),
    ];
    for (const { status } of answers) assert.ok(status === 403 || status === 415, `${hook}: ${status}`);
  }
});

test("a target with a host is not served, because a hook that reads the path of the URL does not know it", async (t) => {
  const { app, origin } = await start(t, {}, (app) =>
    app.addHook("preHandler", async (request, reply) => {
      if (request.url.startsWith("/api/v1")) return reply.code(403).send({ error: "no" });
    }),
  );
  const { host, port } = new URL(origin);
  for (const authority of ["http://localhost", `http://${host}`, "HTTPS://localhost"])
    for (const path of ["topics", "topics/1", "_batch"]) {
      const socket = connect(Number(port), "127.0.0.1");
      const head = `POST ${authority}/api/v1/${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json`;
      socket.write(`${head}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`);
      const answer = await text(socket);
      assert.match(answer, /^HTTP\/1\.1 400 [\s\S]*"code":"INVALID_REQUEST"/);
      assert.match(answer, /Send only the path/);
    }
  assert.equal((await app.inject("/api/v1/topics")).statusCode, 403, "the hook runs");
});

test("content is judged as by the program itself, and content over the limit is not waited for", async (t) => {
  const { origin } = await start(t, {});
  const outgoing = request(`${origin}/api/v1/topics/missing`, {
    method: "PUT",
    headers: { ...json, "content-length": 2_000_000 },
  });
  outgoing.on("error", () => {});
  outgoing.flushHeaders();
  const status = await new Promise((resolve) =>
    outgoing.on("response", (answer) => resolve(answer.statusCode)),
  );
  outgoing.destroy();
  assert.equal(status, 413);
  const broken = { method: "PUT", headers: json, body: "{" };
  assert.equal((await fetch(`${origin}/api/v1/topics/missing`, broken)).status, 404, "before its content");
  const tooLarge = await post(`${origin}/api/v1/topics`, { text: "x".repeat(1_100_000) });
  assert.equal(tooLarge.status, 413);
  const large = await post(`${origin}/api/v1/topics`, { text: "x".repeat(1_000_000) });
  assert.equal(large.status, 201);
  for (const [body, code] of [
    ['{"a":1,"a":2}', "DUPLICATE_MEMBER"],
    ['{"a":1e999}', "NUMBER_OUT_OF_RANGE"],
    ["", "BODY_REQUIRED"],
  ] as const) {
    const answer = await fetch(`${origin}/api/v1/topics`, { method: "POST", headers: json, body });
    assert.equal(((await answer.json()) as Problem).code, code);
  }
});

test("a hook that reads the body gets the problem of a body that the service refuses", async (t) => {
  const { origin } = await start(t, {}, (app) =>
    app.addHook("preHandler", async (request) => void (request.body as { title?: string }).title),
  );
  const url = `${origin}/api/v1/topics`;
  for (const [body, status, code] of [
    ["{", 400, "MALFORMED_JSON"],
    ['{"a":1,"a":2}', 400, "DUPLICATE_MEMBER"],
    [JSON.stringify("x".repeat(1_100_000)), 413, "CONTENT_TOO_LARGE"],
  ] as const) {
    const answer = await fetch(url, { method: "POST", headers: json, body });
    assert.equal(answer.status, status);
    assert.equal(((await answer.json()) as Problem).code, code);
  }
});

test("an import reads its stream behind hooks that leave it alone", async (t) => {
  let reads = false;
  const { origin } = await start(t, {}, (app) =>
    app.addHook("preHandler", async (request) => {
      if (reads) for await (const _ of request.raw);
    }),
  );
  const send = () =>
    fetch(`${origin}/api/v1/topics/_import`, {
      method: "POST",
      headers: { "content-type": "text/csv" },
      body: `title\n${`${"x".repeat(200)}\n`.repeat(2_000)}`,
    });
  const answer = await send();
  assert.equal(answer.status, 200, await answer.clone().text());
  assert.equal(((await answer.json()) as { imported: number }).imported, 2_000);
  reads = true;
  assert.equal((await send()).status, 500);
});

test("a hook that replaces the stream of a request is named", async (t) => {
  const { origin } = await start(t, {}, (app) =>
    app.addHook("preParsing", async (_request, _reply, payload) => payload.pipe(new PassThrough())),
  );
  const answer = await post(`${origin}/api/v1/topics`, { a: 1 });
  assert.equal(answer.status, 500);
  assert.match(await answer.text(), /A preParsing hook has replaced the stream/);
});

test("headers that hooks set are on the responses of the collections", async (t) => {
  const { origin } = await start(t, {}, (app) =>
    app.addHook("onRequest", async (_request, reply) => {
      reply.headers({ "x-shop": "1", vary: "Cookie", "content-type": "text/html", etag: '"mine"' });
      reply.header("set-cookie", ["a=1", "b=2"]);
    }),
  );
  const answer = await post(`${origin}/api/v1/topics`, {});
  assert.equal(answer.headers.get("x-shop"), "1");
  assert.deepEqual(answer.headers.getSetCookie(), ["a=1", "b=2"]);
  assert.match(answer.headers.get("vary") ?? "", /(?:.+, )?Cookie$/);
  assert.match(answer.headers.get("content-type") ?? "", /^application\/json/);
  assert.equal(answer.headers.get("etag"), '"1"');
});

test("a request does not overtake the one before it on its connection, whatever the hooks do", async (t) => {
  const reads = Promise.withResolvers<void>();
  const { origin } = await start(t, {}, (app) =>
    app.addHook("preHandler", async (request) => {
      if (request.method === "GET") reads.resolve();
      else await reads.promise;
    }),
  );
  const { hostname, port } = new URL(origin);
  const host = `Host: ${hostname}:${port}`;
  const create = `POST /api/v1/topics HTTP/1.1\r\n${host}\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{"first":1}`;
  const socket = connect(Number(port), hostname);
  t.after(() => socket.destroy());
  socket.write(`${create}GET /api/v1/topics HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`);
  const answers = await text(socket);
  assert.match(answers, /^HTTP\/1\.1 201.+HTTP\/1\.1 200.+\[\{"id":"[^"]+","first":1\}\]$/s);
});

test("requests that are injected work as those of a connection", async (t) => {
  const { app } = await start(t, {}, (app) =>
    app.addHook("preHandler", async (request, reply) => {
      if ((request.body as { kind?: string } | undefined)?.kind === "spam") return reply.code(422).send();
    }),
  );
  const inject = (payload: object) => app.inject({ method: "POST", url: "/api/v1/topics", payload });
  assert.equal((await inject({ kind: "spam" })).statusCode, 422);
  const created = await inject({ kind: "news" });
  assert.equal(created.statusCode, 201);
  const read = await app.inject(String(created.headers.location));
  assert.equal(read.json().kind, "news");
});

test("bodies of clients that go away before their turn use no memory afterwards", async (t) => {
  const turn = Promise.withResolvers<void>();
  let arrived = 0;
  const { origin } = await start(t, {}, (app) =>
    app.addHook("preHandler", async (request) => {
      arrived++;
      if (request.url.endsWith("?first")) await turn.promise;
    }),
  );
  const { hostname, port } = new URL(origin);
  const body = JSON.stringify({ text: "x".repeat(900_000) });
  for (let i = 0; i < 80; i++) {
    const socket = connect(Number(port), hostname);
    const head = `HTTP/1.1\r\nHost: ${hostname}\r\n`;
    socket.write(
      `GET /api/v1/topics?first ${head}\r\nPOST /api/v1/topics ${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await until("both requests have arrived", () => arrived === 2 * (i + 1));
    socket.destroy();
  }
  turn.resolve();
  const answer = await fetch(`${origin}/api/v1/topics`, { method: "POST", headers: json, body });
  assert.equal(answer.status, 201);
});

for (const first of [true, false])
  test(`the time-out for plugins does not count while the service opens${first ? "" : ", below other plugins"}`, async (t) => {
    const folder = makeFolder();
    const app = fastify({ pluginTimeout: 1 });
    t.after(() => app.close());
    const config = { store: join(folder, "store.db") };
    if (first) app.register(holdfast, config);
    else
      app.register((inner, _options, done) => {
        inner.register(holdfast, config);
        done();
      });
    await app.ready();
    assert.equal((await app.inject("/api/v1")).statusCode, 200);
  });

test("a start that checks a large store can take longer than the time-out for plugins, and reports its faults", async () => {
  const folder = makeFolder();
  const store = join(folder, "store.db");
  const first = fastify();
  first.register(holdfast, { store });
  const payload = Array.from({ length: 2_000 }, (_, n) => JSON.stringify({ n })).join("\n");
  const headers = { "content-type": "application/x-ndjson" };
  const url = "/api/v1/topics/_import";
  for (let n = 0; n < 10; n++)
    assert.equal((await first.inject({ method: "POST", url, headers, payload })).statusCode, 200);
  await first.close();
  const declared = (type: string) => ({
    store,
    collections: { topics: { schema: { type: "object", properties: { n: { type } } } } },
  });
  const start = async (config: Parameters<typeof holdfast>[1]) => {
    const app = fastify({ pluginTimeout: 1 });
    app.register(holdfast, config);
    try {
      await app.ready();
      return (await app.inject("/api/v1/topics?limit=1")).headers["x-total-count"];
    } finally {
      await app.close();
    }
  };
  await assert.rejects(start(declared("string")), /topics/);
  assert.equal(await start(declared("integer")), "20000");
});

test("the store is closed when another plugin keeps the application from becoming ready", async () => {
  const folder = makeFolder();
  const config = { store: join(folder, "store.db") };
  const broken = fastify();
  broken.register(async () => {
    throw new Error("mine");
  });
  broken.register(holdfast, config);
  await assert.rejects(async () => broken.ready(), /mine/);
  await broken.close();
  const app = fastify();
  app.register(holdfast, config);
  await app.ready();
  await app.close();
});

test("the store is closed with the application, and opened again by the next", async () => {
  const folder = makeFolder();
  for (const count of [1, 2]) {
    const app = fastify();
    app.register(holdfast, { store: join(folder, "store.db") });
    const origin = await app.listen({ host: "127.0.0.1", port: 0 });
    await post(`${origin}/api/v1/topics`, {});
    const list = (await (await fetch(`${origin}/api/v1/topics`)).json()) as unknown[];
    assert.equal(list.length, count);
    await app.close();
  }
});

test("what is the application's to say, and what is wrong, keeps it from becoming ready", async () => {
  const wrong: [object, RegExp][] = [
    [{ port: 3000 }, /StartError: port: /],
    [{ limits: { headersTimeoutMs: 1 } }, /StartError: limits\.headersTimeoutMs: /],
    [{ colections: {} }, /colections/],
    [{ port: 3000, limits: { headers: 1 } }, /has 2 errors:\n {2}port: .*\n {2}limits\.headers: .*$/],
    [{ store: 1, collections: { a: { id: 1 } } }, /has 2 errors:\n {2}store .*\n {2}collections\.a\.id .*$/],
  ];
  for (const [config, message] of wrong) {
    const app = fastify();
    app.register(holdfast, config as EmbeddedConfig);
    await assert.rejects(async () => app.ready(), message);
    await app.close();
  }
});

test("the hook of the guide accepts and completes orders, and refuses everything else", async (t) => {
  const guide = readFileSync("docs/how-to/fastify.md", "utf8");
  const [, hook = ""] = /^```ts\n(app\.addHook\(.*?)^```$/ms.exec(guide) ?? [];
  const folder = makeFolder();
  await writeFile(join(folder, "hook.ts"), `export default (app: any) => {\n${hook}};\n`);
  const { default: addHook } = (await import(join(folder, "hook.ts"))) as { default: Prepare };
  const { origin } = await start(t, { collections: { orders: {}, customers: {} } }, addHook);
  const orders = `${origin}/api/v1/orders`;
  const created = await post(orders, { quantity: 2, total: 1 });
  assert.deepEqual([created.status, ((await created.json()) as { total: number }).total], [201, 19]);
  assert.equal((await post(orders, { quantity: "2" })).status, 422);
  assert.equal((await fetch(orders)).status, 200);
  const operations = [{ method: "POST", path: "/orders", body: { quantity: 2 } }];
  const refused = [
    post(`${origin}/api/v1/customers`, {}),
    post(`${origin}/api/v1/_batch`, { operations }),
    post(`${orders}/_bulk`, { all: true, delete: true, max: 9 }),
    post(`${orders}/_import`, [{ quantity: 2 }]),
    fetch(`${origin}${created.headers.get("location")}`, { method: "DELETE" }),
  ];
  assert.deepEqual(
    (await Promise.all(refused)).map(({ status }) => status),
    [403, 403, 403, 403, 403],
  );
});

test("what the guide says is the application's own is refused, and nothing else", async () => {
  const guide = readFileSync("docs/how-to/fastify.md", "utf8");
  const [, told = "", toldLimits = ""] =
    /refuses these options in the configuration:\n\n- (.+)\n- in `limits`: (.+)\n/.exec(guide) ?? [];
  const namesIn = (text: string) => [...text.matchAll(/`(\w+)`/g)].map(([, name]) => name as string);
  const listed = [...namesIn(told), ...namesIn(toldLimits).map((name) => `limits.${name}`)];
  const refused: string[] = [];
  for (const name of Object.keys(options)) {
    const [first = "", second] = name.split(".");
    const app = fastify();
    // No option accepts this value, so every option is refused, by its name or by its value.
    const wrong = Symbol("wrong");
    app.register(holdfast, { [first]: second === undefined ? wrong : { [second]: wrong } } as EmbeddedConfig);
    await assert.rejects(
      async () => app.ready(),
      (error: Error) => {
        if (
          error.message ===
          `${name}: the Fastify application decides this, not the service inside it. Leave it out.`
        )
          refused.push(name);
        return true;
      },
    );
    await app.close();
  }
  assert.deepEqual(refused.sort(), listed.sort());
});
