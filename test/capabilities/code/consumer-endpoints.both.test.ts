/** The paths of consumers, and their metric. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../until.ts";
import { testClock } from "../webhooks/http/clock.ts";
import { World } from "./consumers/world.ts";

const path = "/api/v1/_consumers";
const mail = "orders: { after: { mail: { run: noteEvent } } }";

test("the status of a consumer says where it is", async () => {
  const clock = testClock();
  const world = new World();
  await world.start(mail, { now: clock.now, codeParts: { clock } });
  const [fresh] = await world.statuses();
  assert.deepEqual(
    { ...fresh, position: typeof fresh?.position },
    {
      name: "orders/mail",
      enabled: true,
      state: "active",
      waiting: 0,
      retrying: 0,
      dead: 0,
      lost: 0,
      lagSeconds: 0,
      position: "string",
      lastSuccess: null,
      lastFailure: null,
    },
  );
  await world.enable("orders/mail", false);
  await world.service.create("orders");
  clock.moveTo(clock.now() + 4_000);
  const late = await world.status("orders/mail");
  assert.deepEqual([late.waiting, late.lagSeconds], [1, 4]);
  const events = await world.service.send({ path: `/api/v1/orders/_events?since=${late.position}` });
  assert.equal((events.json as unknown[]).length, 1);
  await world.enable("orders/mail", true);
  await until("the success is stored", async () => (await world.status("orders/mail")).lastSuccess !== null);
  assert.deepEqual(await world.deliveries("orders/mail"), [
    {
      ...(await world.deliveries("orders/mail"))[0],
      type: "orders.created",
      state: "delivered",
      attempts: 1,
      time: new Date(clock.now()).toISOString(),
      error: null,
      next: null,
    },
  ]);
});

test("what does not exist is not found, and a wrong body is refused", async () => {
  const world = new World();
  const { send } = await world.start(mail);
  const none = [
    { path: `${path}/orders/none` },
    { path: `${path}/none/mail` },
    { path: `${path}/orders/none/_deliveries` },
    { method: "PATCH", path: `${path}/orders/none`, content: { enabled: true } },
    { method: "POST", path: `${path}/orders/mail/_deliveries/none/_retry` },
    { method: "POST", path: `${path}/orders/mail/_deliveries/none/_skip` },
  ];
  for (const request of none) assert.equal((await send(request)).status, 404, request.path);
  const one = { method: "PATCH", path: `${path}/orders/mail` };
  assert.equal((await send({ ...one, content: { enabled: "no" } })).status, 400);
  assert.equal((await send({ ...one, content: { enabled: true, name: "a" } })).status, 400);
  const asPatch = { "content-type": "application/json-patch+json" };
  const refused = await send({ ...one, headers: asPatch, body: "[]" });
  assert.deepEqual(
    [refused.status, refused.headers["accept-patch"]],
    [415, "application/merge-patch+json, application/json"],
  );
  const asForm = { "content-type": "application/x-www-form-urlencoded" };
  const { message } = (await send({ ...one, headers: asForm, body: "enabled=true" })).json as {
    message: string;
  };
  assert.match(
    message,
    /This path accepts only application\/merge-patch\+json, application\/json\. HTML forms/,
  );
  const options = await send({ method: "OPTIONS", path: `${path}/orders/mail` });
  assert.equal(options.headers.allow, "GET, HEAD, PATCH, OPTIONS");
});

test("a service without consumers has no such paths", async () => {
  const world = new World();
  const { send } = await world.start("orders: {}");
  assert.equal((await send({ path })).status, 404);
});

test("the consumers of a read-only service pause", async () => {
  const world = new World();
  await world.start(mail);
  await world.enable("orders/mail", false);
  await world.service.create("orders");
  await world.enable("orders/mail", true);
  await world.called(1);
  await world.untilIdle("orders/mail");
  const [delivery] = await world.deliveries("orders/mail");
  await world.stop();
  await world.start(mail, { more: "readOnly: true," });
  const { state, reason } = await world.status("orders/mail");
  assert.deepEqual([state, reason], ["paused", "The service is read-only."]);
  const writes = [
    { method: "PATCH", path: `${path}/orders/mail`, content: { enabled: false } },
    { method: "POST", path: `${path}/orders/mail/_deliveries/${delivery?.event}/_retry` },
    { method: "POST", path: `${path}/orders/mail/_deliveries/${delivery?.event}/_skip` },
  ];
  for (const request of writes)
    assert.equal((await world.service.send(request, { mayFail: true })).status, 503, request.path);
});

test("a monitor reads how far each consumer is behind", async () => {
  const clock = testClock();
  const world = new World();
  await world.start(`${mail}, others: { after: { idle: { run: noteEvent } } }`, {
    more: 'metrics: "127.0.0.1:0",',
    now: clock.now,
    codeParts: { clock },
  });
  await world.enable("orders/mail", false);
  await world.service.create("orders");
  clock.moveTo(clock.now() + 90_000);
  await until("the lag is shown", async () => {
    const text = await (await fetch(String(world.service.metrics))).text();
    return (
      text.includes('holdfast_consumer_lag_seconds{name="orders/mail"} 90') &&
      text.includes('holdfast_consumer_lag_seconds{name="others/idle"} 0')
    );
  });
});
