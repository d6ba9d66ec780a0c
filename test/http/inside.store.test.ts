import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Principal } from "../../src/access/principal.ts";
import { compileConfig } from "../../src/config.ts";
import { createInside, type InsideCaller, type InsideRequest } from "../../src/http/inside.ts";
import { openService } from "../../src/server/open-service.ts";
import { makeFolder } from "../folder.ts";
import { until } from "../until.ts";

const collections = {
  articles: {
    schema: {
      type: "object",
      properties: { title: { type: "string", maxLength: 100 }, secret: { type: "string" } },
      required: ["title"],
    },
    unique: ["title"],
    attributes: { secret: { roles: ["staff"] } },
    access: { read: "public", write: { role: "editor" } },
  },
  vaults: { access: { read: "nobody", write: "nobody" } },
};

async function openFor(t: TestContext, more: object = {}) {
  const folder = makeFolder();
  const store = `sqlite:${join(folder, "store.db")}`;
  const config = await compileConfig({ collections, auth: { keys: true }, store, ...more }, folder);
  const { service, close } = await openService(config);
  t.after(close);
  const inside = createInside(service);
  const as = (caller: InsideCaller) => {
    const fetch = inside(caller);
    return async (request: Partial<InsideRequest> & { content?: unknown }, signal?: AbortSignal) => {
      const { method = "GET", target = "/", headers = {}, content, body } = request;
      const type = content === undefined ? {} : { "content-type": "application/json" };
      const sent = content === undefined ? body : JSON.stringify(content);
      const response = await fetch(
        { method, target: `/api/v1${target}`, headers: { ...type, ...headers }, body: sent },
        signal,
      );
      const text = response.body ?? "";
      return { ...response, text, json: () => JSON.parse(text) as Record<string, unknown> };
    };
  };
  return { service, as };
}

const principal = (roles: string[], more: Partial<Principal> = {}): InsideCaller => ({
  principal: { subject: "code:checkout", roles, claims: {}, scopes: undefined, ...more },
});

test("a request inside has the rights of its caller, and the history names it", async (t) => {
  const { as } = await openFor(t);
  const create = { method: "POST", target: "/articles", content: { title: "One" } };
  const refused = await as({ principal: undefined })(create);
  assert.deepEqual([refused.status, refused.json().code], [401, "UNAUTHENTICATED"]);
  assert.equal((await as(principal(["reader"]))(create)).status, 403);
  const editor = as(principal(["editor"]));
  const created = await editor(create);
  assert.equal(created.status, 201, created.text);
  const target = `/articles/${created.json().id}`;
  assert.equal((await as({ principal: undefined })({ target })).json().title, "One");
  const [change] = JSON.parse((await editor({ target: `${target}/_changes` })).text);
  assert.equal(change.principal, "code:checkout");
});

test("a credential in a request inside does not count", async (t) => {
  const { as } = await openFor(t);
  const headers = { authorization: "Bearer nonsense", cookie: "a=b" };
  const read = await as(principal(["editor"]))({ target: "/articles", headers });
  assert.equal(read.status, 200, read.text);
});

test("the limits and the errors of a request hold inside", async (t) => {
  const { as } = await openFor(t, { limits: { body: "1kb" } });
  const send = as(principal(["editor"]));
  const statusOf = async (request: Parameters<typeof send>[0]) => (await send(request)).status;
  const { json } = await send({ method: "POST", target: "/articles", content: { title: "One" } });
  const target = `/articles/${json().id}`;
  assert.equal(
    await statusOf({ method: "POST", target: "/articles", content: { title: "a".repeat(2_000) } }),
    413,
  );
  assert.equal(await statusOf({ method: "POST", target: "/articles", content: { title: 5 } }), 400);
  assert.equal(await statusOf({ method: "POST", target: "/articles", content: { title: "One" } }), 409);
  assert.equal(
    await statusOf({
      method: "POST",
      target: "/articles",
      body: "{}",
      headers: { "content-type": "text/plain" },
    }),
    415,
  );
  const stale = { "if-match": '"old"' };
  assert.equal(await statusOf({ method: "PATCH", target, content: { title: "Two" }, headers: stale }), 412);
  assert.equal(await statusOf({ method: "LOCK", target }), 405);
  assert.equal(await statusOf({ target: "/nosuch" }), 404);
  const head = await send({ method: "HEAD", target });
  assert.deepEqual([head.status, head.body], [200, undefined]);
});

test("no quota counts a request inside, and it need not be encrypted", async (t) => {
  const limits = { rate: { requests: 1, perSeconds: 60 } };
  const { as } = await openFor(t, { limits, requireTls: true, trustProxy: ["10.0.0.0/8"] });
  const send = as(principal(["editor"]));
  for (let n = 0; n < 3; n++) assert.equal((await send({ target: "/articles" })).status, 200);
});

test("a batch inside acts as its caller", async (t) => {
  const { as } = await openFor(t, { hosts: ["shop.example"] });
  const content = {
    operations: [
      { method: "POST", path: "/articles", body: { title: "One" } },
      { method: "POST", path: "/articles", body: { title: "Two" } },
    ],
  };
  const sent = { method: "POST", target: "/_batch", content };
  assert.equal((await as(principal(["reader"]))(sent)).status, 403);
  const done = await as(principal(["editor"]))(sent);
  assert.equal(done.status, 200, done.text);
});

test("a caller who may do everything gets past rules and roles, but not past schemas and unique values", async (t) => {
  const { as } = await openFor(t);
  const send = as(principal([], { mayDoEverything: true }));
  const vault = await send({ method: "POST", target: "/vaults", content: { gold: 1 } });
  assert.equal(vault.status, 201, vault.text);
  assert.equal((await send({ target: `/vaults/${vault.json().id}` })).json().gold, 1);
  const article = await send({ method: "POST", target: "/articles", content: { title: "One", secret: "s" } });
  assert.equal(article.json().secret, "s");
  assert.equal((await send({ method: "POST", target: "/articles", content: { title: "One" } })).status, 409);
  assert.equal((await send({ method: "POST", target: "/articles", content: {} })).status, 400);
  assert.equal((await send({ target: "/_keys" })).status, 404, "it administers nothing");
});

test("a list of CSV becomes text, and a stream of events is refused", async (t) => {
  const { service, as } = await openFor(t);
  const send = as(principal(["editor"]));
  await send({ method: "POST", target: "/articles", content: { title: "One" } });
  const csv = await send({ target: "/articles?fields=title", headers: { accept: "text/csv" } });
  assert.match(csv.text, /^id,title\r\n.+,One\r\n$/);
  const stream = await send({ target: "/articles/_events", headers: { accept: "text/event-stream" } });
  assert.deepEqual([stream.status, stream.json().code], [406, "NOT_ACCEPTABLE"]);
  assert.deepEqual([service.counts.streams.all, service.counts.requests.all], [0, 0]);
});

test("a read with too much text is refused, a write is not, and what they held is given back", async (t) => {
  const { service, as } = await openFor(t, { limits: { body: "20mb" } });
  const send = as(principal([], { mayDoEverything: true }));
  const content = { text: "a".repeat(17 * 1024 * 1024) };
  const created = await send({ method: "POST", target: "/vaults", content });
  assert.equal(created.status, 201);
  const target = `/vaults/${created.json().id}`;
  const refused = await send({ target });
  assert.deepEqual([refused.status, refused.json().code], [413, "CONTENT_TOO_LARGE"]);
  assert.equal((await send({ target: `${target}?fields=id` })).status, 200);
  assert.deepEqual([service.counts.held.all, service.counts.requests.all], [0, 0]);
});

test("an aborted signal ends a read that waits, and lets no request begin", async (t) => {
  const { service, as } = await openFor(t);
  const send = as(principal(["editor"]));
  const { json } = await send({ target: "/articles/_events?limit=1" });
  const stop = new AbortController();
  const waiting = send({ target: `/articles/_events?since=${json().position}&wait=60` }, stop.signal);
  await until("the page waits", () => service.counts.streams.all === 1);
  stop.abort(new Error("enough"));
  await waiting;
  assert.equal(service.counts.streams.all, 0);
  await assert.rejects(send({ target: "/articles" }, stop.signal), /enough/);
});
