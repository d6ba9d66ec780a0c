/** Changes of a webhook while its deliveries run: each counts at once, on every instance, and none is refused because of them. */
import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { type Service, startServiceForFile } from "../../../http/service.ts";
import { isOnPostgres } from "../../../http/test-store.ts";
import { until } from "../../../until.ts";
import { accept, startReceiver } from "./receiver.ts";

const hooks = "/api/v1/_webhooks";

const service = await startServiceForFile();
/** Another instance on the same database, where the store can have several. */
const other = isOnPostgres ? await startServiceForFile({ store: service.store }) : service;
const receiver = await startReceiver();
after(() => receiver.close());

interface Made {
  id: string;
  path: string;
  secret: string;
}

async function createHook(collection: string, more: object = {}): Promise<Made> {
  const content = { url: receiver.url, collections: [collection], ...more };
  const answer = await service.send({ method: "POST", path: hooks, content });
  assert.equal(answer.status, 201, answer.text);
  const made = answer.json as Made;
  receiver.received = [];
  return { ...made, path: `${hooks}/${made.id}` };
}

/** The instances in turn: one of them delivers, and changes come to either. */
const instanceFor = (turn: number): Service => (turn % 2 === 0 ? service : other);

/** Creates resources until the end of the test, so that deliveries run all the time. */
function keepCreating(t: TestContext, collection: string): void {
  let isOver = false;
  const create = async () => {
    while (!isOver) await service.create(collection);
  };
  const clients = Promise.all(Array.from({ length: 8 }, create));
  t.after(() => {
    isOver = true;
    return clients;
  });
}

/** Waits until more deliveries have come. */
async function afterMoreDeliveries(): Promise<void> {
  const before = receiver.received.length;
  await until("deliveries run", () => receiver.received.length > before);
}

test("no change of a webhook is refused because of its deliveries", async (t) => {
  const { path } = await createHook("busy");
  keepCreating(t, "busy");
  for (let turn = 0; turn < 20; turn++) {
    await afterMoreDeliveries();
    const rotated = await instanceFor(turn).send({ method: "POST", path: `${path}/_rotate` });
    assert.equal(rotated.status, 200, `rotation ${turn}: ${rotated.text}`);
    const content = { enabled: turn % 2 === 0, description: `${turn}` };
    const patched = await instanceFor(turn).send({ method: "PATCH", path, content });
    assert.equal(patched.status, 200, patched.text);
    const on = await instanceFor(turn + 1).send({ method: "PATCH", path, content: { enabled: true } });
    assert.equal(on.status, 200, on.text);
  }
  await afterMoreDeliveries();
  assert.equal((await service.send({ method: "DELETE", path })).status, 205);
});

test("a rotation with a precondition fails if the webhook was changed, not if it has delivered", async (t) => {
  const { path } = await createHook("named");
  keepCreating(t, "named");
  const { headers } = await service.send({ method: "GET", path });
  await afterMoreDeliveries();
  const request = { method: "POST", path: `${path}/_rotate`, headers: { "If-Match": String(headers.etag) } };
  assert.equal((await service.send(request)).status, 200);
  const stale = await service.send(request);
  assert.equal(stale.status, 412);
  const now = await service.send({ method: "GET", path });
  assert.equal(stale.headers.etag, now.headers.etag);
  assert.equal((await service.send({ method: "DELETE", path })).status, 205);
});

test("after the answer to a change, the old address gets nothing more", async (t) => {
  const moved = await startReceiver();
  t.after(() => moved.close());
  const { path } = await createHook("moved");
  const addresses = [moved, receiver];
  for (let turn = 0; turn < 12; turn++) {
    const now = addresses[turn % 2] ?? receiver;
    const before = addresses[(turn + 1) % 2] ?? receiver;
    const content = { url: now.url };
    const patched = await instanceFor(turn >> 1).send({ method: "PATCH", path, content });
    assert.equal(patched.status, 200, patched.text);
    const made = await Promise.all(Array.from({ length: 4 }, (_, n) => instanceFor(n).create("moved")));
    const subjects = new Set(made.map(({ id }) => id));
    await until("the new address has the events", () => {
      const got = [...now.received, ...before.received].map(({ event }) => event.subject);
      return [...subjects].every((id) => got.includes(id));
    });
    const late = before.received.filter(({ event }) => subjects.has(event.subject));
    assert.deepEqual(late, [], `the old address got events after change ${turn}`);
  }
  await service.send({ method: "DELETE", path });
});

test("after the answer to a rotation, every delivery has a signature with the new secret", async (t) => {
  const verifying = await startReceiver();
  t.after(() => verifying.close()); // fails if a signature was not valid
  const { path, secret } = await createHook("signed", { url: verifying.url });
  verifying.secret = secret;
  for (let turn = 0; turn < 12; turn++) {
    const rotated = await instanceFor(turn >> 1).send({ method: "POST", path: `${path}/_rotate` });
    verifying.secret = (rotated.json as { secret: string }).secret;
    const had = verifying.received.length;
    for (let n = 0; n < 4; n++) await instanceFor(n).create("signed");
    await until("the events are delivered", () => verifying.received.length >= had + 4);
  }
  await service.send({ method: "DELETE", path });
});

test("after the answer to a change, events have the new attributes, and a deleted or disabled webhook gets none", async () => {
  const { path } = await createHook("fields", { fields: ["a"] });
  await service.create("fields", { a: 1, b: 1 });
  await until("it is delivered", () => receiver.received.length >= 1);
  for (const name of ["b", "a", "b"]) {
    await other.send({ method: "PATCH", path, content: { fields: [name] } });
    receiver.received = [];
    await service.create("fields", { a: 1, b: 1 });
    await until("it is delivered", () => receiver.received.length >= 1);
    assert.deepEqual(receiver.received[0]?.event.data, {
      id: receiver.received[0]?.event.subject,
      [name]: 1,
    });
  }
  const witness = await createHook("fields");
  for (const content of [{ enabled: false }, undefined]) {
    const method = content === undefined ? "DELETE" : "PATCH";
    await other.send({ method: "PATCH", path, content: { enabled: true } });
    await other.send({ method, path, ...(content && { content }) });
    receiver.received = [];
    await service.create("fields", { a: 1, b: 1 });
    await until("the other webhook gets it", () => receiver.received.length >= 1);
    await service.create("fields", { a: 1, b: 1 });
    await until("the other webhook gets the next", () => receiver.received.length >= 2);
    assert.equal(receiver.received.length, 2);
  }
  await service.send({ method: "DELETE", path: witness.path });
});

test("a test and a retry that wait for their turn are sent as the webhook is then", async (t) => {
  const slow = await startReceiver(() => {});
  t.after(() => slow.close());
  const { path } = await createHook("waiting", { url: slow.url });
  await Promise.all(Array.from({ length: 8 }, () => service.create("waiting")));
  await until("eight requests are open", () => slow.received.length === 8);
  const tested = service.send({ method: "POST", path: `${path}/_test` });
  await service.send({ method: "GET", path: `${path}/_status` }); // the test now waits for one of the eight
  await service.send({ method: "PATCH", path, content: { url: receiver.url } });
  slow.respond = accept;
  assert.equal(((await tested).json as { delivered: boolean }).delivered, true);
  assert.ok(receiver.received.some(({ event }) => event.type === "holdfast.test"));
  await service.send({ method: "DELETE", path });
});
