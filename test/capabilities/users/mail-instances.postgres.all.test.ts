/** Several instances on one database: each mail is sent once, and the mails of an instance that died are sent by another. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openDatabase } from "../../postgres/databases.ts";
import { until } from "../../until.ts";
import { testClock } from "../webhooks/http/clock.ts";
import { openQueue, settingsFor, startMailServer } from "./mail-server.ts";

test("two instances send each mail once, whichever has queued it", async () => {
  const { url, release } = await openDatabase();
  const store = { kind: "postgres", url } as const;
  const server = await startMailServer();
  const settings = settingsFor(server.port);
  const clock = testClock();
  const instances = [
    await openQueue(store, { settings, clock }),
    await openQueue(store, { settings, clock }),
  ];
  for (const { queue } of instances) queue.start();
  for (let n = 0; n < 40; n++) await instances[n % 2]?.add({ to: `user${n}@example.org` });
  await until("none waits", async () => (await instances[0]?.queue.state())?.waiting === 0);
  const receivers = server.taken.map(({ to }) => to[0]);
  assert.equal(receivers.length, 40);
  assert.equal(new Set(receivers).size, 40);
  for (const instance of instances) await instance.close();
  await server.close();
  await release();
});

test("an instance sends what another one has queued at once, although their clocks do not agree", async () => {
  const { url, release } = await openDatabase();
  const store = { kind: "postgres", url } as const;
  const server = await startMailServer();
  const settings = settingsFor(server.port);
  const sender = await openQueue(store, { settings });
  sender.queue.start();
  const clock = testClock(sender.clock.now() + 3_600_000);
  const other = await openQueue(store, { settings, clock }); // it never starts to send
  await other.add();
  await until("it is sent", () => server.taken.length === 1);
  await other.close();
  await sender.close();
  await server.close();
  await release();
});

test("an instance that died during an attempt leaves the mail to another one, after its claim", async () => {
  const { url, release } = await openDatabase();
  const store = { kind: "postgres", url } as const;
  const server = await startMailServer();
  let attempts = 0;
  let isHeld = true;
  server.beforeEnd = async () => {
    attempts++;
    if (isHeld) await new Promise(() => {});
  };
  const settings = settingsFor(server.port);
  const dead = await openQueue(store, { settings });
  await dead.add();
  dead.queue.start();
  await until("it is in an attempt", () => attempts === 1);
  isHeld = false;
  const living = await openQueue(store, { settings });
  living.queue.start();
  await living.add({ to: "other@example.org" });
  await until("the other mail is sent", () => server.taken.length === 1);
  assert.deepEqual(server.taken[0]?.to, ["other@example.org"], "the claim holds");
  living.clock.moveTo(living.clock.now() + 90_000);
  await until("both are sent", () => server.taken.length === 2);
  await until("none waits", async () => (await living.queue.state()).waiting === 0);
  await dead.close();
  await living.close();
  await server.close();
  await release();
});
