/** Webhooks: how they are managed, and what receivers get. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { startFor, startServiceForFile } from "../../../http/service.ts";
import { until } from "../../../until.ts";
import { accept, startReceiver } from "./receiver.ts";

const hooks = "/api/v1/_webhooks";

const service = await startServiceForFile();
const receiver = await startReceiver();
after(() => receiver.close());

async function createHook(attributes: Record<string, unknown>, on = service) {
  const answer = await on.send({ method: "POST", path: hooks, content: attributes });
  assert.equal(answer.status, 201, answer.text);
  return answer.json as { id: string; secret: string } & Record<string, unknown>;
}

const removeHook = (id: string) => service.send({ method: "DELETE", path: `${hooks}/${id}` });

describe("a webhook is a resource", () => {
  test("only the response to its creation tells its secret", async () => {
    const made = await createHook({ url: receiver.url, collections: ["a"], headers: { "X-Key": "1" } });
    assert.match(made.secret, /^whsec_[A-Za-z0-9+/=]{44}$/);
    assert.equal(made.headers, undefined);
    const { id, secret: _, ...others } = made;
    const read = await service.send({ method: "GET", path: `${hooks}/${id}` });
    assert.deepEqual(read.json, { id, ...others });
    assert.equal(read.status, 200);
    const list = await service.send({ method: "GET", path: hooks });
    assert.deepEqual(list.json, [{ id, ...others }]);
    assert.doesNotMatch(String(list.headers.link), /monitor/);
    await removeHook(id);
  });

  test("it has ETags, preconditions, both patches, filters and 205", async () => {
    const { id } = await createHook({ url: receiver.url, collections: ["a"] });
    const path = `${hooks}/${id}`;
    const { headers } = await service.send({ method: "GET", path });
    const etag = String(headers.etag);
    const merge = { method: "PATCH", path, content: { description: "One" } };
    const patched = await service.send({ ...merge, headers: { "If-Match": etag } });
    assert.equal(patched.status, 200, patched.text);
    assert.notEqual(patched.headers.etag, etag);
    assert.equal((await service.send({ ...merge, headers: { "If-Match": etag } })).status, 412);
    const operations = [{ op: "replace", path: "/description", value: "Two" }];
    const type = { "Content-Type": "application/json-patch+json" };
    const second = await service.send({ method: "PATCH", path, headers: type, content: operations });
    assert.equal((second.json as { description: string }).description, "Two");
    const found = await service.send({ method: "GET", path: `${hooks}?description=Two` });
    assert.equal((found.json as unknown[]).length, 1);
    const replacement = { id, url: receiver.url, collections: ["*"] };
    const put = await service.send({ method: "PUT", path, content: replacement });
    assert.equal(put.status, 200, put.text);
    const { types, enabled, roles } = put.json as Record<string, unknown>;
    assert.deepEqual(
      { types, enabled, roles },
      { types: ["created", "updated", "deleted"], enabled: true, roles: [] },
    );
    assert.equal((await removeHook(id)).status, 205);
    assert.equal((await service.send({ method: "GET", path })).status, 404);
  });

  test("a stored response does not have the secret", async () => {
    const headers = { "Idempotency-Key": "once" };
    const request = {
      method: "POST",
      path: hooks,
      headers,
      content: { url: receiver.url, collections: ["a"] },
    };
    const first = await service.send(request);
    const { id, secret } = first.json as { id: string; secret: string };
    assert.match(secret, /^whsec_/);
    const again = await service.send(request);
    assert.deepEqual([again.status, again.text], [201, ""]);
    assert.equal(again.headers.location, first.headers.location);
    await removeHook(id);
  });

  test("it has no history, no events and no place among the collections", async () => {
    const { id } = await createHook({ url: receiver.url, collections: ["a"] });
    const paths = [
      `${hooks}/${id}/_changes`,
      `${hooks}/_events`,
      `${hooks}/${id}/_restore`,
      "/api/v1/_consumers",
    ];
    for (const path of paths) assert.equal((await service.send({ method: "GET", path })).status, 404, path);
    const { json } = await service.send({ method: "GET", path: "/api/v1" });
    assert.ok(!JSON.stringify(json).includes("_webhook"));
    const operations = [{ method: "DELETE", path: `/_webhooks/${id}` }];
    const batch = await service.send({ method: "POST", path: "/api/v1/_batch", content: { operations } });
    assert.equal(batch.status, 400);
    await removeHook(id);
  });

  const wrong: readonly (readonly [string, Record<string, unknown>, string])[] = [
    ["a URL that is none", { url: "hook" }, "#/url"],
    ["http to a public receiver", { url: "http://8.8.8.8/" }, "#/url"],
    ["a private address", { url: "https://10.0.0.1/" }, "#/url"],
    ["a password in the URL", { url: "https://a:b@example.org/" }, "#/url"],
    ["another scheme", { url: "file:///etc/passwd" }, "#/url"],
    ["a collection that cannot exist", { collections: ["_keys"] }, "#/collections"],
    ["all collections and one", { collections: ["*", "a"] }, "#/collections"],
    ["a filter for several collections", { collections: ["a", "b"], filter: { x: 1 } }, "#/filter"],
    ["a filter that is none", { filter: { x: { is: 1 } } }, "#/filter/x/is"],
    ["a header of the connection", { headers: { "Transfer-Encoding": "chunked" } }, "#/headers"],
    ["a header with a line break", { headers: { "X-A": "1\r\nX-B: 2" } }, "#/headers"],
    ["a short secret", { secret: "whsec_AAAA" }, "#/secret"],
    ["a type that does not exist", { types: ["changed"] }, "#/types/0"],
    ["an unknown attribute", { uri: "x" }, "#/uri"],
  ];
  test("the error of a filter names the place once", async () => {
    const content = { url: receiver.url, collections: ["a"], filter: { x: { is: 1 } } };
    const { json } = await service.send({ method: "POST", path: hooks, content });
    assert.match(
      (json as { detail: string }).detail,
      /^"filter\.x\.is" is not understood: "is" is not an operator\./,
    );
  });

  for (const [what, attributes, pointer] of wrong)
    test(`it cannot have ${what}`, async () => {
      const content = { url: receiver.url, collections: ["a"], ...attributes };
      const answer = await service.send({ method: "POST", path: hooks, content });
      assert.equal(answer.status, 400, answer.text);
      const { violations } = answer.json as { violations: { pointer: string }[] };
      assert.equal(violations[0]?.pointer, pointer, answer.text);
    });
});

describe("a name without encryption", () => {
  const at: Readonly<Record<string, readonly string[]>> = {
    "inside.example": ["127.0.0.1"],
    "public.example": ["8.8.8.8"],
    "private.example": ["10.1.2.3"],
  };
  const resolve = async (host: string) => {
    const addresses = at[host];
    if (addresses === undefined) throw Object.assign(new Error("no address"), { code: "ENOTFOUND" });
    return addresses;
  };
  const write = (on: typeof service, request: { method: string; path: string }, url: string) =>
    on.send({ ...request, content: { url, collections: ["a"] } });

  test("is a receiver only if its addresses are allowed", async (t) => {
    const resolving = await startFor(t, { webhookParts: { resolve } });
    const post = { method: "POST", path: hooks };
    for (const [name, reason] of [
      ["public.example", /only with https.*"webhooks\.allow"/],
      ["private.example", /10\.1\.2\.3.*not public/],
      ["nowhere.example", /has no address now/],
    ] as const) {
      const refused = await write(resolving, post, `http://${name}/hook`);
      assert.equal(refused.status, 400, name);
      const { detail, violations } = refused.json as { detail: string; violations: { pointer: string }[] };
      assert.match(detail, reason);
      assert.equal(violations[0]?.pointer, "#/url");
    }
    const made = await write(resolving, post, "http://inside.example/hook");
    assert.equal(made.status, 201, made.text);
    const path = `${hooks}/${(made.json as { id: string }).id}`;
    const patch = { method: "PATCH", path };
    assert.equal((await write(resolving, patch, "http://public.example/hook")).status, 400);
    assert.equal((await write(resolving, patch, "https://nowhere.example/hook")).status, 200);
  });
});

describe("a receiver", () => {
  test("gets each change as a signed CloudEvent, in order for each resource", async () => {
    receiver.received = [];
    const made = await createHook({
      url: receiver.url,
      collections: ["topics"],
      headers: { Authorization: "Bearer abc" },
    });
    receiver.secret = made.secret;
    const one = await service.create("topics", { title: "One" });
    for (const title of ["Two", "Three"])
      await service.send({ method: "PATCH", path: one.path, content: { title } });
    await service.send({ method: "DELETE", path: one.path });
    await until("four deliveries", () => receiver.received.length >= 4);
    const seen = receiver.received.map(({ event }) => [event.type, event.data.title]);
    assert.deepEqual(seen, [
      ["topics.created", "One"],
      ["topics.updated", "Two"],
      ["topics.updated", "Three"],
      ["topics.deleted", undefined],
    ]);
    const [first] = receiver.received;
    assert.equal(first?.headers.authorization, "Bearer abc");
    assert.equal(first?.event.source, "/api/v1/topics");
    await removeHook(made.id);
    receiver.secret = undefined;
  });

  test("gets only the types, resources and attributes that the webhook asks for", async () => {
    receiver.received = [];
    const { id } = await createHook({
      url: receiver.url,
      collections: ["tasks"],
      types: ["created", "deleted"],
      filter: { status: "open" },
      fields: ["title"],
    });
    const task = await service.create("tasks", { title: "A", status: "open" });
    await service.create("tasks", { title: "B", status: "closed" });
    await service.send({ method: "PATCH", path: task.path, content: { title: "C" } });
    await service.send({ method: "PATCH", path: task.path, content: { status: "closed" } });
    await until("two deliveries", () => receiver.received.length >= 2);
    assert.deepEqual(
      receiver.received.map(({ event }) => [event.type, event.data]),
      [
        ["tasks.created", { id: task.id, title: "A" }],
        ["tasks.deleted", { id: task.id }],
      ],
    );
    await removeHook(id);
  });

  test("with every collection, gets those that are new too", async () => {
    receiver.received = [];
    const { id } = await createHook({ url: receiver.url, collections: ["*"] });
    await service.create("brandnew", { title: "A" });
    await until("a delivery", () => receiver.received.length >= 1);
    assert.equal(receiver.received[0]?.event.type, "brandnew.created");
    await removeHook(id);
  });

  test("gets at most 8 requests at once, and delays no other receiver", async () => {
    const slow = await startReceiver(() => {});
    const { id: slowId } = await createHook({ url: slow.url, collections: ["many"] });
    const { id } = await createHook({ url: receiver.url, collections: ["many"] });
    receiver.received = [];
    await Promise.all(Array.from({ length: 20 }, () => service.create("many")));
    await until("the other receiver has all", () => receiver.received.length >= 20);
    await until("eight requests", () => slow.mostAtOnce() >= 8);
    assert.equal(slow.mostAtOnce(), 8);
    await removeHook(slowId);
    await removeHook(id);
    await slow.close();
  });
});

test("the status and the deliveries of a webhook are below its path", async () => {
  const { id } = await createHook({ url: receiver.url, collections: ["states"] });
  const path = `${hooks}/${id}`;
  const status = async () =>
    (await service.send({ method: "GET", path: `${path}/_status` })).json as Record<string, unknown>;
  assert.equal((await status()).state, "active");
  const etag = (await service.send({ method: "GET", path })).headers.etag;
  receiver.respond = (_, response) => void response.writeHead(500).end("broken");
  await service.create("states");
  await until("a failure", async () => (await status()).state === "failing");
  assert.equal((await status()).retrying, 1);
  const [delivery] = (await service.send({ method: "GET", path: `${path}/_deliveries` })).json as Record<
    string,
    unknown
  >[];
  assert.deepEqual(
    [delivery?.type, delivery?.state, delivery?.attempts, delivery?.status, delivery?.response],
    ["states.created", "retrying", 1, 500, "broken"],
  );
  receiver.respond = accept;
  const again = await service.send({ method: "POST", path: `${path}/_deliveries/${delivery?.event}/_retry` });
  assert.deepEqual((again.json as Record<string, unknown>).state, "delivered", again.text);
  assert.equal((await service.send({ method: "GET", path })).headers.etag, etag);
  const tested = await service.send({ method: "POST", path: `${path}/_test` });
  assert.equal((tested.json as Record<string, unknown>).delivered, true, tested.text);
  assert.equal(receiver.received.at(-1)?.event.type, "holdfast.test");
  await removeHook(id);
});

test("after a rotation, both secrets sign for a day", async () => {
  const made = await createHook({ url: receiver.url, collections: ["rotated"] });
  const rotated = await service.send({ method: "POST", path: `${hooks}/${made.id}/_rotate` });
  const { secret } = rotated.json as { secret: string };
  assert.notEqual(secret, made.secret);
  for (const each of [secret, made.secret]) {
    receiver.secret = each;
    const tested = await service.send({ method: "POST", path: `${hooks}/${made.id}/_test` });
    assert.equal((tested.json as Record<string, unknown>).delivered, true, tested.text);
  }
  receiver.secret = undefined;
  await removeHook(made.id);
});

test("a change of the origin removes the headers", async () => {
  const other = await startReceiver();
  const { id } = await createHook({ url: receiver.url, collections: ["moved"], headers: { "X-Key": "abc" } });
  const path = `${hooks}/${id}`;
  await service.send({ method: "POST", path: `${path}/_test` });
  assert.equal(receiver.received.at(-1)?.headers["x-key"], "abc");
  await service.send({ method: "PATCH", path, content: { url: `${receiver.url}/2` } });
  await service.send({ method: "POST", path: `${path}/_test` });
  assert.equal(receiver.received.at(-1)?.headers["x-key"], "abc");
  await service.send({ method: "PATCH", path, content: { url: other.url } });
  await service.send({ method: "POST", path: `${path}/_test` });
  assert.equal(other.received.at(-1)?.headers["x-key"], undefined);
  await removeHook(id);
  await other.close();
});
