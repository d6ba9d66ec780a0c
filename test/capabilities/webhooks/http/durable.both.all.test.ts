/** Nothing is lost: over restarts, kills, the absence of a receiver, and the sweep of the history. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { disableWebhooks, WebhookRecords } from "../../../../src/capabilities/webhooks/webhook-records.ts";
import { deliveriesName, deliveryId } from "../../../../src/changes/consume/consumer-records.ts";
import { put } from "../../../../src/records.ts";
import { openStore } from "../../../../src/store/open.ts";
import { logStart } from "../../../../src/store/port/log-place.ts";
import { createClient, end, type Program, startProgram } from "../../../durability/program.ts";
import { makeFolder } from "../../../folder.ts";
import { type Service, startService } from "../../../http/service.ts";
import { machineTime, until } from "../../../until.ts";
import { testClock } from "./clock.ts";
import { accept, startReceiver } from "./receiver.ts";

const hooks = "/api/v1/_webhooks";

const folder = makeFolder();

const storeAt = (name: string) => ({ kind: "sqlite", path: join(folder, name) }) as const;

async function createHook(service: Service, url: string, more: object = {}): Promise<string> {
  const content = { url, collections: ["topics"], ...more };
  const answer = await service.send({ method: "POST", path: hooks, content });
  return (answer.json as { id: string }).id;
}

test("what happened while the receiver and the service were away is delivered once", async () => {
  const clock = testClock();
  const options = { store: storeAt("restart.db"), now: clock.now, webhookParts: { clock } };
  const receiver = await startReceiver((_, response) => void response.writeHead(503).end());
  const first = await startService(options);
  await createHook(first, receiver.url);
  for (let n = 0; n < 5; n++) await first.create("topics", { n });
  await until("all have failed", () => receiver.received.length >= 5);
  await first.stop();
  receiver.received = [];
  receiver.respond = accept;
  clock.moveTo(clock.now() + 60_000);
  const second = await startService(options);
  await second.create("topics", { n: 5 });
  await until("all are delivered", () => receiver.received.length >= 6);
  const seen = receiver.received.map(({ event }) => event.data.n).sort();
  assert.deepEqual(seen, [0, 1, 2, 3, 4, 5]);
  await second.stop();
  await receiver.close();
});

test("after a kill between request and record, the event comes again with the same id", async () => {
  const config = join(folder, "kill.config.json");
  await writeFile(config, JSON.stringify({ webhooks: { allow: ["127.0.0.0/8"] } }));
  const start = () => startProgram(join(folder, "kill.db"), [], ["--config", config]);
  const receiver = await startReceiver(() => {}); // never responds
  let program: Program = await start();
  let client = createClient(program.port);
  const made = await client.send("POST", "/_webhooks", { url: receiver.url, collections: ["topics"] });
  assert.equal(made?.status, 201);
  for (let n = 0; n < 3; n++) await client.send("POST", "/topics", { n });
  await until("the requests are there", () => receiver.received.length >= 3);
  await end(program, "SIGKILL");
  client.close();
  const ids = receiver.received.map(({ id }) => id).sort();
  receiver.received = [];
  receiver.respond = accept;
  program = await start();
  client = createClient(program.port);
  await until("they come again", () => receiver.received.length >= 3);
  assert.deepEqual(receiver.received.map(({ id }) => id).sort(), ids);
  client.close();
  await end(program, "SIGTERM");
  await receiver.close();
});

test("the sweep keeps what a webhook is owed, until it is delivered", async () => {
  const store = storeAt("owed.db");
  const history = { keepDays: 0, keepChanges: 0 };
  const clock = testClock();
  const receiver = await startReceiver((_, response) => void response.writeHead(500).end());
  const first = await startService({ store, history, now: clock.now, webhookParts: { clock } });
  const id = await createHook(first, receiver.url);
  const topic = await first.create("topics", { title: "A" });
  await first.create("others", { title: "B" });
  await until("it has failed", () => receiver.received.length >= 1);
  await first.stop();
  const changesAfterSweep = async (collection: string) => {
    const opened = await openStore(store, { history, sweepMs: 10 });
    try {
      await until("the other log is swept", async () => {
        const { changes } = await opened.changesAfter("others", logStart, 10);
        return changes.length === 0;
      });
      return (await opened.changesAfter(collection, logStart, 10)).changes.length;
    } finally {
      await opened.close();
    }
  };
  assert.equal(await changesAfterSweep("topics"), 1);
  receiver.received = [];
  receiver.respond = accept;
  clock.moveTo(clock.now() + 60_000);
  const second = await startService({ store, history, now: clock.now, webhookParts: { clock } });
  await until("it is delivered", () => receiver.received.length >= 1);
  assert.equal(receiver.received[0]?.event.subject, topic.id);
  const status = async () =>
    (await second.send({ method: "GET", path: `${hooks}/${id}/_status` })).json as Record<string, unknown>;
  await until("it is recorded", async () => (await status()).retrying === 0);
  await second.stop();
  const opened = await openStore(store, { history, sweepMs: 10 });
  await until("nothing is owed", async () => {
    const { changes } = await opened.changesAfter("topics", logStart, 10);
    return changes.length === 0;
  });
  await opened.close();
  await receiver.close();
});

test("changes that the history no longer has are counted", async () => {
  const store = storeAt("lost.db");
  const receiver = await startReceiver();
  const first = await startService({ store });
  const id = await createHook(first, receiver.url);
  const path = `${hooks}/${id}`;
  await first.send({ method: "PATCH", path, content: { enabled: false } }); // a disabled webhook is owed nothing
  for (let n = 0; n < 3; n++) await first.create("topics", { n });
  await first.stop();
  const history = { keepDays: 0, keepChanges: 1 };
  const opened = await openStore(store, { history, sweepMs: 10 });
  await until("one change is left", async () => {
    const { changes } = await opened.changesAfter("topics", logStart, 10);
    return changes.length === 1;
  });
  await opened.close();
  const second = await startService({ store });
  await second.send({ method: "PATCH", path, content: { enabled: true } });
  await until("the rest is delivered", () => receiver.received.length >= 1);
  assert.deepEqual(receiver.received[0]?.event.data.n, 2);
  const status = await second.send({ method: "GET", path: `${path}/_status` });
  assert.equal((status.json as { lost: number }).lost, 2);
  await second.stop();
  await receiver.close();
});

test("a read-only service delivers nothing", async () => {
  const store = storeAt("readonly.db");
  const receiver = await startReceiver((_, response) => void response.writeHead(500).end());
  const clock = testClock();
  const first = await startService({ store, now: clock.now, webhookParts: { clock } });
  const id = await createHook(first, receiver.url);
  await first.create("topics");
  await until("it has failed", () => receiver.received.length >= 1);
  await first.stop();
  receiver.received = [];
  clock.moveTo(clock.now() + 60_000);
  const second = await startService({ store, readOnly: true, now: clock.now, webhookParts: { clock } });
  const tested = await second.send({ method: "POST", path: `${hooks}/${id}/_test` }, { mayFail: true });
  assert.equal(tested.status, 503);
  assert.equal((await second.send({ method: "GET", path: `${hooks}/${id}/_status` })).status, 200);
  await second.stop();
  assert.equal(receiver.received.length, 0);
  await receiver.close();
});

test("a copy has its webhooks disabled, with a reason", async () => {
  const store = storeAt("copied.db");
  const receiver = await startReceiver();
  const first = await startService({ store });
  const id = await createHook(first, receiver.url);
  await first.stop();
  const opened = await openStore(store);
  assert.equal(await disableWebhooks(opened, "The store was copied.", machineTime()), 1);
  assert.equal(await disableWebhooks(opened, "The store was copied.", machineTime()), 0);
  await opened.close();
  const second = await startService({ store });
  await second.create("topics");
  const status = await second.send({ method: "GET", path: `${hooks}/${id}/_status` });
  const { state, reason } = status.json as Record<string, unknown>;
  assert.deepEqual([state, reason], ["disabled", "The store was copied."]);
  await second.stop();
  assert.equal(receiver.received.length, 0);
  await receiver.close();
});

test("secrets are in no change log, and internal collections are not exported", async () => {
  const store = storeAt("secret.db");
  const service = await startService({ store });
  await createHook(service, "https://example.org/", { enabled: false });
  await service.stop();
  const opened = await openStore(store);
  for (const name of opened.collections().keys())
    assert.deepEqual((await opened.changesAfter(name, logStart, 10)).changes, [], name);
  await opened.close();
});

test("all old deliveries of a webhook are removed, also if both kinds of old ones are many", async (t) => {
  const store = await openStore(storeAt("old.db"));
  t.after(() => store.close());
  const records = new WebhookRecords(store);
  const now = machineTime();
  const dayMs = 24 * 3_600_000;
  const add = (count: number, at: number) =>
    records.commit(
      Array.from({ length: count }, (_, n) => {
        const event = `e${at}-${n}`;
        const delivery = { consumer: "w", event, state: "delivered", at: at + n };
        return put(deliveriesName, deliveryId(delivery), undefined, delivery);
      }),
      now,
    );
  await records.prepare();
  for (let n = 0; n < 4; n++) await add(500, now - dayMs + n * 1_000); // 1,000 of them are too many
  for (let n = 0; n < 3; n++) await add(500, now - (30 + n) * dayMs); // too old
  for (let calls = 0; !(await records.removeOld("w", now)); calls++) assert.ok(calls < 20);
  assert.equal(await store.count(deliveriesName), 1_000);
});
