/** What was withdrawn from a caller is withdrawn from the caller's feed: an event has content only if its reader may see the resource now. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { claimsAt, createPair, settingsFor, tokenOf } from "../access/issuer.ts";
import { machineTime } from "../until.ts";
import { type CloudEvent, eventsOf, follow, linkOf } from "./follow.ts";
import { type Made, startServiceForFile } from "./service.ts";

const pair = createPair("EdDSA");
const service = await startServiceForFile({
  auth: { keys: false, jwt: settingsFor([pair]) },
  collections: {
    docs: {
      access: {
        read: [{ where: { ownerId: "$subject" } }, { where: { public: true } }],
        write: "authenticated",
      },
    },
  },
});
const path = "/api/v1/docs/_events";

const as = (sub: string) => ({
  authorization: `Bearer ${tokenOf(pair, claimsAt(machineTime(), { sub }))}`,
});
const ada = as("ada");

async function make(content: object): Promise<Made> {
  const answer = await service.send({
    method: "POST",
    path: "/api/v1/docs",
    content: { ownerId: "ada", ...content },
    headers: ada,
  });
  assert.equal(answer.status, 201, answer.text);
  const body = answer.json as Record<string, unknown>;
  return { id: String(body.id), path: `/api/v1/docs/${body.id}`, body };
}

async function put({ id, path }: Made, content: object): Promise<void> {
  const whole = { id, ownerId: "ada", ...content };
  const answer = await service.send({ method: "PUT", path, content: whole, headers: ada });
  assert.equal(answer.status, 200, answer.text);
}

/** Uses the id of a deleted resource again. */
async function create({ id, path }: Made, content: object): Promise<void> {
  const whole = { id, ownerId: "ada", ...content };
  const headers = { ...ada, "if-none-match": "*" };
  const answer = await service.send({ method: "PUT", path, content: whole, headers });
  assert.equal(answer.status, 201, answer.text);
}

async function remove({ path }: Made): Promise<void> {
  assert.equal((await service.send({ method: "DELETE", path, headers: ada })).status, 205);
}

/** The events of resources as a caller sees them from the start: what happened to which one, and its title. */
async function eventsAbout(made: readonly Made[], headers = {}, query = ""): Promise<string[]> {
  const seen: string[] = [];
  for (let next: string | undefined = `${path}?since=start${query}`; next !== undefined; ) {
    const answer = await service.send({ path: next, headers });
    const events = eventsOf(answer);
    seen.push(...shown(events, made));
    next = events.length > 0 ? linkOf(answer, "next") : undefined;
  }
  return seen;
}

function shown(events: readonly CloudEvent[], made: readonly Made[]): string[] {
  return events.flatMap(({ type, subject, data }) => {
    const n = made.findIndex(({ id }) => id === subject);
    return n === -1 ? [] : [[type.split(".").at(-1), "abc"[n], data.title].filter(Boolean).join(" ")];
  });
}

test("what was public is not in the feed of others once it is private, and they get the event that it left", async () => {
  const a = await make({ public: true, title: "one" });
  const b = await make({ public: true, title: "two" });
  assert.deepEqual(await eventsAbout([a, b]), ["created a one", "created b two"]);
  await put(a, { public: false, title: "three" });
  assert.deepEqual(await eventsAbout([a, b]), ["created b two", "deleted a"]);
  assert.deepEqual(await eventsAbout([a, b], as("bob")), ["created b two", "deleted a"]);
  assert.deepEqual(await eventsAbout([a, b], ada), ["created a one", "created b two", "updated a three"]);
});

test("what comes back is visible again, but not what it was meanwhile", async () => {
  const a = await make({ public: true, title: "one" });
  await put(a, { public: false, title: "two" });
  await put(a, { public: true, title: "three" });
  assert.deepEqual(await eventsAbout([a]), ["created a one", "deleted a", "created a three"]);
});

test("of a deleted resource, the last state decides", async () => {
  const a = await make({ public: true, title: "one" });
  const b = await make({ public: true, title: "two" });
  await put(b, { public: false, title: "three" });
  await remove(a);
  await remove(b);
  assert.deepEqual(await eventsAbout([a, b]), ["created a one", "deleted b", "deleted a"]);
});

// With many changes between its lives, one read of the log does not see both.
for (const between of [0, 120])
  test(`of an earlier life, the last state of that life decides too, with ${between} changes in between`, async () => {
    const a = await make({ public: true, title: "one" });
    const b = await make({ public: true, title: "two" });
    for (let n = 0; n < between; n++) await make({ public: false });
    await put(a, { public: false, title: "three" });
    for (const each of [a, b]) {
      await remove(each);
      await create(each, { public: true, title: "four" });
    }
    const seen = ["created b two", "deleted a", "created a four", "deleted b", "created b four"];
    assert.deepEqual(await eventsAbout([a, b]), seen);
    assert.deepEqual(await eventsAbout([a, b], {}, "&limit=2"), seen);
    await put(b, { public: false, title: "five" });
    const withdrawn = ["deleted a", "created a four", "deleted b", "deleted b"];
    assert.deepEqual(await eventsAbout([a, b]), withdrawn);
    assert.deepEqual(await eventsAbout([a, b], {}, "&limit=2"), withdrawn);
  });

test("the end of a long life is found far from it, for pages and for streams", async (t) => {
  const a = await make({ public: true, title: "v1" });
  for (let n = 2; n <= 250; n++) await put(a, { public: true, title: `v${n}` });
  await remove(a);
  const b = await make({ public: true, title: "w1" });
  for (let n = 2; n <= 250; n++) await put(b, { public: true, title: `w${n}` });
  await put(b, { public: false });
  await remove(b);
  for (const each of [a, b]) await create(each, { public: true, title: "again" });
  for (let n = 0; n < 120; n++) await make({ public: false });
  const long = Array.from({ length: 250 }, (_, n) => `${n === 0 ? "created" : "updated"} a v${n + 1}`);
  const seen = [...long, "deleted a", "deleted b", "created a again", "created b again"];
  for (const query of ["", "&limit=70"]) assert.deepEqual(await eventsAbout([a, b], {}, query), seen);
  const stream = await follow(service, `${path}?since=start`);
  t.after(() => stream.close());
  const events: string[] = [];
  while (!events.includes("created b again")) events.push(...shown(await stream.take(1), [a, b]));
  assert.deepEqual(events, seen);
});

test("the filter of the request does not take part in that", async () => {
  const a = await make({ public: true, title: "one" });
  await put(a, { public: true, title: "two" });
  assert.deepEqual(await eventsAbout([a], {}, "&title=one"), ["created a one", "deleted a"]);
});

test("a page that does not reach the end of the log asks for what came later", async () => {
  const a = await make({ public: true, title: "one" });
  const b = await make({ public: true, title: "two" });
  const c = await make({ public: true, title: "three" });
  for (let n = 0; n < 120; n++) await make({ public: false });
  await put(a, { public: false });
  await put(b, { public: false });
  await remove(b);
  await remove(c);
  assert.deepEqual(await eventsAbout([a, b, c], {}, "&limit=2"), [
    "created c three",
    "deleted a",
    "deleted b",
    "deleted c",
  ]);
});

test("a page that was just read for somebody is judged again for the next one", async () => {
  const a = await make({ public: true, title: "one" });
  const now = linkOf(await service.send({ path: `${path}?since=now` }), "next") ?? "";
  const b = await make({ public: true, title: "two" });
  const read = async () => shown(eventsOf(await service.send({ path: now })), [a, b]);
  assert.deepEqual(await read(), ["created b two"]);
  await put(b, { public: false });
  assert.deepEqual(await read(), ["deleted b"]);
});

test("streams that begin at one place, before and after the change, get different events", async (t) => {
  const a = await make({ public: true, title: "one" });
  const now = linkOf(await service.send({ path: `${path}?since=now` }), "next") ?? "";
  await put(a, { public: true, title: "two" });
  const first = await follow(service, now);
  t.after(() => first.close());
  assert.deepEqual(shown(await first.take(1), [a]), ["updated a two"]);
  await put(a, { public: false });
  assert.deepEqual(shown(await first.take(2), [a]), ["updated a two", "deleted a"]);
  const second = await follow(service, now);
  t.after(() => second.close());
  assert.deepEqual(shown(await second.take(1), [a]), ["deleted a"]);
});

test("a filter of the request does not tell what was withdrawn", async () => {
  const made = await make({ public: true, title: "pin-4711" });
  await put(made, { public: true, title: "pin-0815" });
  await put(made, { public: false, title: "other" });
  const filters = ["title=pin-4711", "title=pin-0815", "title=pin-0000", "title:gte=pin-5", "title:lt=pin-1"];
  const [first, ...others] = await Promise.all(
    filters.map((filter) => eventsAbout([made], {}, `&${filter}&limit=1000`)),
  );
  assert.equal(first?.length, 1);
  for (const other of others) assert.deepEqual(other, first);
});
