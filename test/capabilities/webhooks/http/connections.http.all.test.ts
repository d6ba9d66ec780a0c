/** Deliveries to one receiver share a few connections. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { after, test } from "node:test";
import { AllowList } from "../../../../src/capabilities/webhooks/addresses.ts";
import { Receivers } from "../../../../src/capabilities/webhooks/receivers.ts";
import { send } from "../../../../src/capabilities/webhooks/send.ts";
import { startService, startServiceForFile } from "../../../http/service.ts";
import { machineTime, until } from "../../../until.ts";
import { loopbackReceivers } from "./loopback.ts";
import { accept, startReceiver } from "./receiver.ts";

const hooks = "/api/v1/_webhooks";
const deliveries = 300;

const service = await startServiceForFile();
const receiver = await startReceiver();
after(() => receiver.close());

test("many deliveries use at most 8 connections, which the service closes when it stops", async () => {
  const own = await startService();
  const content = { url: receiver.url, collections: ["many"] };
  await own.send({ method: "POST", path: hooks, content });
  const before = receiver.connections();
  for (let n = 0; n < deliveries; n += 100) {
    const operations = Array.from({ length: 100 }, (_, i) => ({
      method: "POST",
      path: "/many",
      body: { i },
    }));
    await own.send({ method: "POST", path: "/api/v1/_batch", content: { operations } });
  }
  await until("all are delivered", () => receiver.received.length >= deliveries);
  const opened = receiver.connections() - before;
  assert.ok(opened >= 1 && opened <= 8, `${opened} connections for ${deliveries} deliveries`);
  await own.stop();
  await until("all are closed", async () => (await receiver.openConnections()) === 0);
});

test("a kept connection is closed after some seconds without a delivery", async () => {
  const content = { url: receiver.url, collections: ["idle"] };
  await service.send({ method: "POST", path: hooks, content });
  await service.create("idle");
  await until("a connection is kept", async () => (await receiver.openConnections()) === 1);
  await until("it is closed", async () => (await receiver.openConnections()) === 0);
});

test("if the receiver has closed a kept connection, the delivery uses a new one at once", async () => {
  receiver.received = [];
  const content = { url: receiver.url, collections: ["closed"] };
  const made = await service.send({ method: "POST", path: hooks, content });
  const { id } = made.json as { id: string };
  const reached: Socket[] = [];
  const closing = createServer((socket) => {
    reached.push(socket);
    socket.on("error", () => {});
    // The first request of a connection gets a response. The second one gets a reset.
    socket.once("data", () => {
      socket.write("HTTP/1.1 204 No Content\r\n\r\n");
      socket.once("data", () => socket.resetAndDestroy());
    });
  });
  closing.listen(0, "127.0.0.1");
  await once(closing, "listening");
  const { port } = closing.address() as { port: number };
  await service.send({
    method: "PATCH",
    path: `${hooks}/${id}`,
    content: { url: `http://127.0.0.1:${port}/` },
  });
  for (let n = 1; n <= 3; n++) {
    const tested = await service.send({ method: "POST", path: `${hooks}/${id}/_test` });
    assert.equal((tested.json as { delivered: boolean }).delivered, true, tested.text);
  }
  assert.ok(reached.length >= 2, "the second request opened a new connection");
  await service.send({ method: "DELETE", path: `${hooks}/${id}` });
  for (const socket of reached) socket.destroy();
  closing.close();
});

test("a slow name server gets one request for each name at a time", async () => {
  let lookups = 0;
  let answer: (addresses: string[]) => void = () => {};
  const resolve = () => {
    lookups++;
    return new Promise<string[]>((done) => {
      answer = done;
    });
  };
  const receivers = loopbackReceivers(resolve);
  const other = await startReceiver(accept);
  const url = other.url.replace("127.0.0.1", "slow.example");
  const delivery = { url, headers: { "webhook-id": "1" }, body: '{"id":"1"}' };
  const parts = { receivers, requestMs: 60_000, clock: { now: machineTime } };
  const { signal } = new AbortController();
  const sent = Array.from({ length: 5 }, () => send(parts, delivery, signal));
  await until("it is asked", () => lookups === 1);
  answer(["127.0.0.1"]);
  for (const each of await Promise.all(sent)) assert.equal(each?.isDelivered, true);
  assert.equal(lookups, 1);
  receivers.close();
  await other.close();
});

test("a request that waits for its name ends in time", async () => {
  const receivers = new Receivers({ allow: new AllowList([]), resolve: () => new Promise(() => {}) });
  const parts = { receivers, requestMs: 20, clock: { now: machineTime } };
  const delivery = { url: "https://never.example/", headers: {}, body: "{}" };
  const answer = await send(parts, delivery, new AbortController().signal);
  assert.match(String(answer?.error), /did not respond/);
  receivers.close();
});
