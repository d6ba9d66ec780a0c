/** A hundred webhooks that are owed many events hold only a few of them in memory. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createSecret } from "../../../../src/capabilities/webhooks/signature.ts";
import { webhooksName } from "../../../../src/capabilities/webhooks/webhook.ts";
import { WebhookRecords } from "../../../../src/capabilities/webhooks/webhook-records.ts";
import { consumersName } from "../../../../src/changes/consume/consumer-records.ts";
import { openCollection } from "../../../../src/collection/collection.ts";
import { loadConfig } from "../../../../src/config.ts";
import { put } from "../../../../src/records.ts";
import { openService } from "../../../../src/server/open-service.ts";
import { recordOf } from "../../../../src/store/port/record.ts";
import { makeFolder } from "../../../folder.ts";
import { machineTime, until } from "../../../until.ts";
import { startReceiver } from "./receiver.ts";

const webhooks = 100;

/** Opens a service with webhooks that are owed the same events. Counts the events that are read. */
async function openOwing(
  t: TestContext,
  { url, events, text }: { url: string; events: number; text: string },
) {
  const folder = makeFolder();
  const flags = { store: `sqlite:${join(folder, "store.db")}` };
  const config = await loadConfig({ flags, env: {}, cwd: folder });
  const opened = await openService({ ...config, webhooks: { allow: ["127.0.0.0/8"] } });
  t.after(() => opened.close());
  const { store } = opened.service;
  await store.migrate([recordOf(openCollection("many"))]);
  const at = machineTime();
  const hundreds = Array.from({ length: events / 100 }, (_, n) => n);
  for (const n of hundreds) {
    const ids = Array.from({ length: 100 }, (_, i) => `e${100 * n + i}`);
    const next = (id: string) => JSON.stringify({ id, text });
    await store.commit({
      changes: ids.map((id) => ({ key: { collection: "many", id }, expect: "absent", next: next(id) })),
      at,
    });
  }
  const counts = { events: 0 };
  const positions = opened.service.feed?.positions;
  assert.ok(positions);
  const { eventId } = positions;
  positions.eventId = (...args) => {
    counts.events += 1 / 2; // once for the text, and once for the record
    return eventId.apply(positions, args);
  };
  const records = new WebhookRecords(store);
  for (let n = 0; n < webhooks; n++) {
    const id = `hook${n}`;
    const types = ["created", "updated", "deleted"];
    const webhook = {
      id,
      url,
      collections: ["many"],
      types,
      enabled: true,
      roles: [],
      secret: createSecret(),
    };
    const state = { marks: {}, lost: 0 };
    await records.commit(
      [put(webhooksName, id, undefined, webhook), put(consumersName, id, undefined, state)],
      at,
    );
  }
  opened.capabilities.webhooks.wake();
  return { opened, counts };
}

test("a hundred webhooks with a silent receiver read their first page only", async (t) => {
  const receiver = await startReceiver(() => {}); // never responds
  t.after(() => receiver.close());
  const { opened, counts } = await openOwing(t, { url: receiver.url, events: 1_000, text: "" });
  await until("the receiver has its requests", () => receiver.mostAtOnce() >= 8);
  await untilQuiet(counts);
  const webhook = await opened.capabilities.webhooks.webhook("hook1");
  assert.ok(webhook);
  const { waiting } = (await opened.capabilities.webhooks.status(webhook)) as { waiting: number };
  assert.equal(waiting, 1_000);
  assert.equal(receiver.mostAtOnce(), 8);
  assert.ok(counts.events <= webhooks * 100, `${counts.events} of ${webhooks * 1_000} events were read`);
});

test("webhooks with large events hold few of them", async (t) => {
  const receiver = await startReceiver(() => {});
  t.after(() => receiver.close());
  const { counts } = await openOwing(t, { url: receiver.url, events: 100, text: "x".repeat(100_000) });
  await until("the receiver has its requests", () => receiver.mostAtOnce() >= 8);
  await untilQuiet(counts);
  assert.ok(counts.events <= webhooks * 10, `${counts.events} of ${webhooks * 100} events were read`);
});

/** Waits until nothing was read for a moment. A busy machine can end it too early, which only makes the test weaker. */
async function untilQuiet(counts: { events: number }): Promise<void> {
  let seen = -1;
  let since = performance.now();
  await until("reading ends", () => {
    if (counts.events !== seen) since = performance.now();
    seen = counts.events;
    return counts.events >= webhooks && performance.now() - since > 500;
  });
}
