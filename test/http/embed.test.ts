/** The service as a plugin of another Fastify application. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type FastifyInstance, fastify } from "fastify";
import { options } from "../../src/config/options.ts";
import { type EmbeddedConfig, holdfast } from "../../src/index.ts";

interface Embedded {
  app: FastifyInstance;
  origin: string;
}

type Prepare = (app: FastifyInstance) => void;

async function start(t: TestContext, config: EmbeddedConfig, prepare: Prepare = () => {}): Promise<Embedded> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-embed-"));
  const app = fastify();
  t.after(async () => {
    await app.close();
    await rm(folder, { recursive: true, force: true });
  });
  prepare(app);
  app.register(holdfast, { store: join(folder, "store.db"), ...config });
  return { app, origin: await app.listen({ host: "127.0.0.1", port: 0 }) };
}

const json = { "content-type": "application/json" };
const post = (url: string, content: unknown, headers: Record<string, string> = json) =>
  fetch(url, { method: "POST", headers, body: JSON.stringify(content) });

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
    const folder = await mkdtemp(join(tmpdir(), "holdfast-embed-"));
    const app = fastify();
    t.after(async () => {
      await app.close();
      await rm(folder, { recursive: true, force: true });
    });
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
  assert.equal(list.headers.get("link"), null);
  const below = path.replace(/\/$/, "");
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
  for (const name of ["host", "port", "tls", "docs", "limits.headers"])
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

test("content is read as it arrives, and judged as by the program itself", async (t) => {
  const { origin } = await start(t, {});
  const outgoing = request(`${origin}/api/v1/topics/missing`, {
    method: "PUT",
    headers: { ...json, "content-length": 1_000 },
  });
  outgoing.on("error", () => {});
  outgoing.flushHeaders();
  const status = await new Promise((resolve) =>
    outgoing.on("response", (answer) => resolve(answer.statusCode)),
  );
  outgoing.destroy();
  assert.equal(status, 404, "nothing of the content was waited for");
  const tooLarge = await post(`${origin}/api/v1/topics`, { text: "x".repeat(1_100_000) });
  assert.equal(tooLarge.status, 413);
  const large = await post(`${origin}/api/v1/topics`, { text: "x".repeat(1_000_000) });
  assert.equal(large.status, 201);
});

test("the store is closed with the application, and opened again by the next", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-embed-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
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
