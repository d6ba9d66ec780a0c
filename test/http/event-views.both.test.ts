/** The view of a subscriber: events match the lists of the caller, and end with the right to list. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { owner } from "../../src/access/access-declaration.ts";
import { claimsAt, createPair, settingsFor, tokenOf } from "../access/issuer.ts";
import { machineTime, until } from "../until.ts";
import { check, withoutTokens } from "./check.ts";
import { eventsOf, follow, inShort, linkOf } from "./follow.ts";
import { type Answer, type Made, startServiceForFile } from "./service.ts";
import { makeWorkerKey } from "./worker-key.ts";

const pair = createPair("EdDSA");
/** The clock of the service is so far ahead. */
let aheadMs = 0;
/** So much time has passed for checked credentials, in addition to that of the process. */
let olderMs = 0;
const service = await startServiceForFile({
  auth: { keys: true, jwt: settingsFor([pair]) },
  now: () => machineTime() + aheadMs,
  elapsed: () => performance.now() + olderMs,
  collections: {
    notes: { access: { read: owner("by"), write: "authenticated" } },
    drafts: { access: { read: [{ where: { state: "open" } }, { role: "hr" }], write: "authenticated" } },
    people: {
      attributes: { salary: { roles: ["hr"] } },
      access: { read: "authenticated", write: "authenticated" },
    },
    shut: { access: { read: "nobody", write: "authenticated" } },
    world: { access: { read: "public", write: "public" } },
  },
});

const as = (sub: string, roles: string[] = [], more = {}) => ({
  authorization: `Bearer ${tokenOf(pair, claimsAt(machineTime(), { sub, roles, ...more }))}`,
});
const get = (path: string, headers = {}): Promise<Answer> =>
  service.send({ path: `/api/v1/${path}`, headers });
const short = async (path: string, headers = {}) =>
  eventsOf(await get(path, headers)).map((event) => inShort(event));
const ada = as("ada");
const hans = as("hans", ["hr"]);

async function make(name: string, content: object, headers = hans): Promise<Made> {
  const answer = await service.send({ method: "POST", path: `/api/v1/${name}`, content, headers });
  assert.equal(answer.status, 201, answer.text);
  const id = String(answer.headers.location).split("/").at(-1) ?? "";
  return { id, path: `/api/v1/${name}/${id}`, body: {} };
}

const put = async ({ id, path }: Made, content: object, headers = hans) => {
  const answer = await service.send({ method: "PUT", path, content: { id, ...content }, headers });
  assert.ok(answer.status < 300, answer.text);
};

test("a resource that enters the rule is created, one that leaves it is deleted, and others are not told", async () => {
  const a = await make("notes", { by: "ada", n: 1 }, ada);
  const b = await make("notes", { by: "bob", n: 2 }, as("bob"));
  await put(b, { by: "bob", n: 3 }, as("bob"));
  const c = await make("drafts", { state: "draft", n: 1 });
  await put(c, { state: "draft", n: 2 });
  assert.deepEqual(await short("drafts/_events", ada), []);
  await put(c, { state: "open", n: 3 });
  await put(c, { state: "open", n: 4 });
  const before = await short("drafts/_events", ada);
  await put(c, { state: "draft", n: 5 });
  const d = await make("drafts", { state: "open", n: 9 });
  await service.send({ method: "DELETE", path: d.path, headers: hans });
  assert.deepEqual(before, [
    ["created", c.id, 3],
    ["updated", c.id, 4],
  ]);
  assert.deepEqual(await short("drafts/_events", ada), [
    ["deleted", c.id, undefined],
    ["created", d.id, 9],
    ["deleted", d.id, undefined],
  ]);
  assert.deepEqual(await short("drafts/_events?n:gt=3", ada), [
    ["deleted", c.id, undefined],
    ["created", d.id, 9],
    ["deleted", d.id, undefined],
  ]);
  assert.deepEqual((await short("notes/_events", ada))[0], ["created", a.id, 1]);
  assert.deepEqual((await short("notes/_events", as("bob"))).slice(0, 2), [
    ["created", b.id, 2],
    ["updated", b.id, 3],
  ]);
  assert.deepEqual(await short("notes/_events", as("eve")), []);
});

test("a deleted event says the id alone, also when the resource only left the view", async () => {
  const made = await make("drafts", { state: "open", secret: "before" });
  const from = linkOf(await get("drafts/_events?since=now", ada), "next").slice("/api/v1/".length);
  await put(made, { state: "draft", secret: "hidden" });
  const answer = await get(from, ada);
  assert.doesNotMatch(withoutTokens(answer.text), /hidden|before/);
  const [event] = eventsOf(answer);
  assert.deepEqual([event?.data, event?.etag, event?.version], [{ id: made.id }, undefined, "2"]);
});

test("hidden attributes are in no event, and the ETag is that of the caller's view", async () => {
  const made = await make("people", { name: "Kim", salary: 777_777 });
  await put(made, { name: "Kim", salary: 888_888 });
  const answer = await get("people/_events", ada);
  assert.doesNotMatch(withoutTokens(answer.text), /salary|777777|888888/);
  const own = eventsOf(answer);
  const [, whole] = eventsOf(await get("people/_events", hans));
  assert.deepEqual(whole?.data, { id: made.id, name: "Kim", salary: 888_888 });
  assert.equal(whole?.etag, '"2"');
  assert.deepEqual(own[1]?.data, { id: made.id, name: "Kim" });
  assert.equal(own[1]?.etag, (await get(`people/${made.id}`, ada)).headers.etag);
  const refused = await get("people/_events?salary:gt=1", ada);
  check(refused, { status: 400, problem: "INVALID_PARAMETER", headers: { "Cache-Control": "no-store" } });
  assert.equal((await get("people/_events?salary:gt=1", hans)).status, 200);
  assert.equal((await get("people/_events?fields=salary", ada)).status, 400);
});

test("positions and ids reveal nothing about changes that the caller does not see", async () => {
  const one = await make("people", { name: "x" });
  const before = eventsOf(await get("people/_events", ada)).at(-1);
  await put(one, { name: "y" });
  const after = eventsOf(await get("people/_events", ada)).at(-1);
  const bytes = (id = "") => Buffer.from(id, "base64url");
  const same = bytes(before?.id).filter((byte, n) => byte === bytes(after?.id)[n]).length;
  assert.ok(same < 6, "ids of neighbours look random");
});

test("callers without the right to list get what lists give", async () => {
  for (const [path, headers, status] of [
    ["people/_events", {}, 401],
    ["shut/_events", ada, 403],
    ["shut/_events", {}, 401],
    ["world/_events", {}, 200],
    ["none/_events", ada, 404],
    ["people/_events", as("ada", [], { scope: "world:read" }), 403],
    ["_events?collection=people,shut", ada, 403],
    ["_events?collection=world,none", ada, 400],
  ] as const) {
    const answer = await get(path, headers);
    assert.equal(answer.status, status, `${path} ${answer.text}`);
    const stream = await follow(service, `/api/v1/${path}`, { ...headers } as Record<string, string>);
    assert.equal(stream.status, status, path);
    stream.close();
  }
});

test("without names, a feed has the collections that the caller can list", async () => {
  const from = linkOf(await get("_events?since=now", ada), "next");
  const open = linkOf(await get("_events?since=now"), "next");
  await make("world", { n: 1 });
  await make("people", { name: "x" });
  await make("shut", { n: 1 });
  const types = async (path: string, headers = {}) =>
    eventsOf(await service.send({ path, headers })).map(({ type }) => type);
  assert.deepEqual((await types(from, ada)).sort(), ["people.created", "world.created"]);
  assert.deepEqual(await types(open), ["world.created"]);
});

test("without names, a position stays valid when the caller can list fewer collections", async () => {
  const from = linkOf(await get("_events?since=now", ada), "next");
  await make("world", { n: 2 });
  await make("people", { name: "x" });
  const events = eventsOf(await service.send({ path: from }));
  assert.deepEqual(
    events.map(({ type }) => type),
    ["world.created"],
  );
  const since = new URLSearchParams(from.split("?")[1]).get("since");
  for (const path of ["world/_events", "_events?collection=world"]) {
    const refused = await get(`${path}${path.includes("?") ? "&" : "?"}since=${since}`);
    check(refused, { status: 400, problem: "INVALID_CURSOR", headers: { "Cache-Control": "no-store" } });
  }
});

/** Creates resources until the stream has ended; returns the numbers that arrived. */
async function untilItEnds(stream: Awaited<ReturnType<typeof follow>>): Promise<number> {
  let n = 0;
  await until("the stream has ended", async () => {
    await make("people", { name: "x", n: n++ }, hans);
    return stream.hasEnded();
  });
  return n;
}

test("a stream ends soon after its key was revoked, and a waiting page is refused", async (t) => {
  const { bearer, revoke } = await makeWorkerKey(t, service);
  const stream = await follow(service, "/api/v1/people/_events", bearer);
  const waiting = get("people/_events?since=now&wait=60&name=never", bearer);
  await make("people", { name: "x", n: -1 });
  await stream.take(1);
  await revoke();
  await untilItEnds(stream);
  let isRefused = false;
  void waiting.then(() => {
    isRefused = true;
  });
  await until("the waiting page is refused", async () => {
    await make("people", { name: "x" }, hans);
    return isRefused;
  });
  check(await waiting, { status: 401, problem: "INVALID_TOKEN", headers: { "WWW-Authenticate": /Bearer/ } });
  assert.equal((await follow(service, "/api/v1/people/_events", bearer)).status, 401);
});

test("a stream ends soon after its token expired, and sends nothing more", async (t) => {
  t.after(() => {
    aheadMs = 0;
  });
  const token = tokenOf(
    pair,
    claimsAt(machineTime(), { sub: "ada", exp: Math.floor(machineTime() / 1_000) + 7_200 }),
  );
  const stream = await follow(service, "/api/v1/people/_events", { authorization: `Bearer ${token}` });
  await make("people", { name: "x", n: -1 });
  await stream.take(1);
  aheadMs = 8_000_000;
  const later = {
    authorization: `Bearer ${tokenOf(pair, claimsAt(machineTime() + aheadMs, { sub: "hans", roles: ["hr"] }))}`,
  };
  olderMs += 1_000;
  await make("people", { name: "too late", n: -2 }, later);
  await stream.untilEnded();
  assert.equal(stream.events().length, 1);
});
