/** Several instances on one database: one of them delivers for all webhooks. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { createClient, end, startStore } from "../../durability/program.ts";
import { makeFolder } from "../../folder.ts";
import { type Service, startService } from "../../http/service.ts";
import { openDatabase } from "../../postgres/databases.ts";
import { until } from "../../until.ts";
import { testClock } from "./http/clock.ts";
import { startReceiver } from "./http/receiver.ts";

const folder = makeFolder();

async function createHook(service: Service, url: string): Promise<void> {
  const content = { url, collections: ["topics"] };
  const made = await service.send({ method: "POST", path: "/api/v1/_webhooks", content });
  assert.equal(made.status, 201, made.text);
}

test("two instances deliver each event once, and one takes over when the other stops", async () => {
  const { url, release } = await openDatabase();
  const store = { kind: "postgres", url } as const;
  const receiver = await startReceiver();
  const one = await startService({ store });
  const two = await startService({ store });
  await createHook(one, receiver.url);
  for (let n = 0; n < 10; n++) await [one, two][n % 2]?.create("topics", { n });
  await until("all are delivered", () => receiver.received.length >= 10);
  await one.stop();
  for (let n = 10; n < 15; n++) await two.create("topics", { n });
  await until("the rest is delivered", () => receiver.received.length >= 15);
  const ids = receiver.received.map(({ id }) => id);
  assert.equal(new Set(ids).size, 15);
  assert.equal(ids.length, 15, "no event came twice");
  await two.stop();
  await receiver.close();
  await release();
});

test("an instance takes over only when the lease of the other has expired", async () => {
  const { url, release } = await openDatabase();
  const store = { kind: "postgres", url } as const;
  const receiver = await startReceiver();
  const clocks = [testClock(), testClock()] as const;
  const [one, two] = await Promise.all(
    clocks.map((clock) => startService({ store, webhookParts: { clock } })),
  );
  assert.ok(one && two);
  await createHook(one, receiver.url);
  await one.create("topics", { n: 0 });
  await until("the first delivers", () => receiver.received.length >= 1);
  // The clock of the first stands still, so it never renews its lease. The second sees it expire.
  const start = clocks[1].now();
  clocks[1].moveTo(start + 10_000);
  await two.create("topics", { n: 1 });
  await until("the first still delivers", () => receiver.received.length >= 2);
  const lease = async () => (await two.send({ method: "GET", path: "/api/v1/_webhooks" })).headers.etag;
  assert.ok(await lease());
  await two.create("topics", { n: 2 });
  await until("it is delivered", () => {
    clocks[1].moveTo(clocks[1].now() + 20_000); // again and again, because it can look at the lease just before
    return receiver.received.some(({ event }) => event.data.n === 2);
  });
  await Promise.all([one.stop(), two.stop()]);
  const seen = new Set(receiver.received.map(({ event }) => event.data.n));
  assert.deepEqual([...seen].sort(), [0, 1, 2]);
  await receiver.close();
  await release();
});

test("an instance takes over within 30 seconds when the other is killed", async () => {
  const { url, release } = await openDatabase();
  const config = join(folder, "holdfast.config.json");
  await writeFile(config, JSON.stringify({ webhooks: { allow: ["127.0.0.0/8"] } }));
  const receiver = await startReceiver();
  const killed = await startStore(url, ["--config", config]);
  const client = createClient(killed.port);
  await client.send("POST", "/_webhooks", { url: receiver.url, collections: ["topics"] });
  await client.send("POST", "/topics", { n: 0 });
  await until("the first delivers", () => receiver.received.length >= 1);
  await end(killed, "SIGKILL");
  client.close();
  const clock = testClock();
  const other = await startService({ store: { kind: "postgres", url }, webhookParts: { clock } });
  await other.create("topics", { n: 1 });
  assert.equal(receiver.received.length, 1, "the lease of the other is still valid");
  await until("the second delivers", () => {
    clock.moveTo(clock.now() + 30_000); // again and again, because it can look at the lease just before
    return receiver.received.some(({ event }) => event.data.n === 1);
  });
  await other.stop();
  await receiver.close();
  await release();
});
