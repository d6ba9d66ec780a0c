/** Who can use routes, and the callers of their requests. The functions run in the thread of the service, as in an application. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Principal } from "../../../src/access/principal.ts";
import { compileConfig } from "../../../src/config.ts";
import { createInside } from "../../../src/http/inside.ts";
import { route } from "../../../src/index.ts";
import { openService } from "../../../src/server/open-service.ts";
import { makeFolder } from "../../folder.ts";
import { until } from "../../until.ts";

const orders = {
  schema: { type: "object", properties: { title: { type: "string" }, by: { type: "string" } } },
  access: { read: { role: "clerk" }, write: { role: "editor" } },
};

const title = { type: "object", properties: { title: { type: "string" } }, required: ["title"] } as const;

const routes = {
  own: route({
    method: "POST",
    path: "own",
    access: "authenticated",
    body: title,
    run: async ({ client, body }) => (await client.orders?.create({ title: body.title }))?.id,
  }),
  asService: route({
    method: "POST",
    path: "as-service",
    access: "public",
    body: title,
    as: "service",
    run: async ({ service, body }) => (await service.orders?.create({ title: body.title }))?.id,
  }),
  asClerk: route({
    path: "as-clerk/{id}",
    access: { role: "visitor" },
    as: { roles: ["clerk"] },
    run: ({ service, params }) => service.orders?.get(params.id),
  }),
  forTwo: route({
    path: "two",
    access: [{ role: "clerk" }, { role: "editor" }],
    run: ({ caller }) => caller?.subject,
  }),
  mixed: route({ method: "DELETE", path: "two", access: "public", run: ({ caller }) => caller ?? null }),
};

async function openFor(
  t: TestContext,
  content: object = { collections: { orders }, auth: { keys: true }, routes },
  folder = makeFolder(),
) {
  const config = await compileConfig({ store: `sqlite:${join(folder, "store.db")}`, ...content }, folder);
  const opened = await openService(config);
  t.after(opened.close);
  const inside = createInside(opened.service);
  const send = async (
    roles: readonly string[] | undefined,
    method: string,
    path: string,
    content?: object,
    signal?: AbortSignal,
  ) => {
    const principal: Principal | undefined = roles && {
      subject: "ada",
      roles,
      claims: { a: 1 },
      scopes: undefined,
    };
    const {
      status,
      headers,
      body = "",
    } = await inside({ principal })(
      {
        method,
        target: `/api/v1/${path}`,
        headers: content === undefined ? {} : { "content-type": "application/json" },
        body: content && JSON.stringify(content),
      },
      signal,
    );
    return { status, headers, text: body, json: () => JSON.parse(body) };
  };
  return { ...opened, send };
}

test("a route is for callers with its roles, and its path exists for all", async (t) => {
  const { send } = await openFor(t);
  const stranger = await send(undefined, "GET", "two");
  assert.equal(stranger.status, 401);
  assert.match(String(stranger.headers["www-authenticate"]), /^Bearer/);
  assert.equal((await send(["visitor"], "GET", "two")).status, 403);
  assert.equal((await send(["editor"], "GET", "two")).json(), "ada");
  assert.equal((await send(undefined, "POST", "own", { title: "One" })).status, 401);
  assert.equal((await send(undefined, "PUT", "own", {})).status, 405);
  assert.equal((await send(undefined, "DELETE", "two")).json(), null);
  assert.deepEqual((await send(["x"], "DELETE", "two")).json(), {
    subject: "ada",
    roles: ["x"],
    claims: { a: 1 },
  });
});

test("the client of a route has the rights of its caller", async (t) => {
  const { send } = await openFor(t);
  const made = await send(["editor"], "POST", "own", { title: "One" });
  assert.equal(made.status, 200, made.text);
  const changes = await send(["editor", "clerk"], "GET", `orders/${made.json()}/_changes`);
  assert.equal(changes.json()[0].principal, "ada");
  // The function does not handle what the service refuses to its client.
  const refused = await send(["visitor"], "POST", "own", { title: "One" });
  assert.deepEqual([refused.status, refused.json().code], [403, "INSUFFICIENT_SCOPE"]);
});

test("the service of a route acts as its declaration says, for every caller", async (t) => {
  const { send } = await openFor(t);
  const made = await send(undefined, "POST", "as-service", { title: "One" });
  assert.equal(made.status, 200, made.text);
  const changes = await send(["editor", "clerk"], "GET", `orders/${made.json()}/_changes`);
  assert.equal(changes.json()[0].principal, "code:asService");
  assert.equal((await send(["visitor"], "GET", `as-clerk/${made.json()}`)).json().title, "One");
  assert.equal((await send(["visitor"], "GET", `orders/${made.json()}`)).status, 403);
});

test("the signal of a route is aborted when its client goes away", async (t) => {
  const seen: string[] = [];
  const waits = route({
    method: "POST",
    path: "waits",
    access: "public",
    run: ({ signal }) =>
      new Promise((resolve) => {
        seen.push("began");
        signal.addEventListener("abort", () => resolve(seen.push("aborted")));
      }),
  });
  const { send } = await openFor(t, { routes: { waits } });
  const gone = new AbortController();
  const sent = send(undefined, "POST", "waits", undefined, gone.signal);
  await until("the function runs", () => seen.length === 1);
  gone.abort();
  await sent;
  assert.deepEqual(seen, ["began", "aborted"]);
});

test("only so many routes run at the same time", async (t) => {
  const waiting: (() => void)[] = [];
  const waits = route({
    path: "waits",
    access: "public",
    run: () => new Promise<void>((resolve) => waiting.push(resolve)),
  });
  const { send } = await openFor(t, { routes: { waits } });
  const running = Array.from({ length: 200 }, () => send(undefined, "GET", "waits"));
  await until("all run", () => waiting.length === 200);
  const refused = await send(undefined, "GET", "waits");
  assert.deepEqual([refused.status, refused.json().code], [503, "UNAVAILABLE"]);
  for (const end of waiting) end();
  for (const { status } of await Promise.all(running)) assert.equal(status, 204);
  const again = send(undefined, "GET", "waits");
  await until("it runs", () => waiting.length === 201);
  waiting.at(-1)?.();
  assert.equal((await again).status, 204);
});

test("in open mode, a route reserves its first segment, and others are collections", async (t) => {
  const { send } = await openFor(t, {
    routes: { two: route({ path: "two/x", access: "public", run: () => 2 }) },
  });
  assert.equal((await send(undefined, "GET", "two/x")).json(), 2);
  assert.equal((await send(undefined, "POST", "two", {})).status, 404);
  assert.equal((await send(undefined, "GET", "two/y")).status, 404);
  assert.equal((await send(undefined, "POST", "three", {})).status, 201);
});

test("a batch has no routes", async (t) => {
  const { send } = await openFor(t);
  const operations = [{ method: "DELETE", path: "/two" }];
  const refused = await send(["editor"], "POST", "_batch", { operations });
  assert.deepEqual([refused.status, refused.json().code], [400, "OPERATION_NOT_FOUND"]);
});

test("in a read-only service, routes run, and what they write is refused", async (t) => {
  const tries = route({
    method: "POST",
    path: "tries",
    access: "public",
    run: ({ client }) => client.orders?.create({}).catch(({ status, code }) => [status, code]),
  });
  const folder = makeFolder();
  const { close } = await openFor(t, {}, folder);
  await close();
  const { send } = await openFor(t, { readOnly: true, routes: { tries } }, folder);
  assert.deepEqual((await send(undefined, "POST", "tries")).json(), [503, "UNAVAILABLE"]);
});
