/** What consumers get, and what becomes of it. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { retryWaits } from "../../../src/changes/consume/retries.ts";
import { makeFolder } from "../../folder.ts";
import { until } from "../../until.ts";
import { testClock } from "../webhooks/http/clock.ts";
import { World } from "./consumers/world.ts";

test("a consumer gets each change after its commit, in order for each resource", async () => {
  const world = new World();
  const { create, send } = await world.start("orders: { after: { mail: { run: noteEvent } } }");
  const { id, path } = await create("orders", { total: 1 });
  await send({ method: "PATCH", path, content: { total: 2 } });
  await send({ method: "DELETE", path });
  assert.deepEqual(await world.called(3), [
    { type: "orders.created", id, attempt: 1, data: { id, total: 1 } },
    { type: "orders.updated", id, attempt: 1, data: { id, total: 2 } },
    { type: "orders.deleted", id, attempt: 1, data: { id } },
  ]);
  await world.untilIdle("orders/mail");
});

test("a consumer gets only the kinds, the resources and the attributes that it asks for", async () => {
  const world = new World();
  const { create, send } = await world.start(`orders: { after: { mail: {
    types: ["created", "deleted"], filter: { total: { gte: 10 } }, fields: ["total"], run: noteEvent,
  } } }`);
  await create("orders", { total: 1, note: "small" });
  const { id, path } = await create("orders", { total: 10, note: "large" });
  await send({ method: "PATCH", path, content: { note: "larger" } });
  await send({ method: "PATCH", path, content: { total: 5 } }); // it leaves the filter
  assert.deepEqual(await world.called(2), [
    { type: "orders.created", id, attempt: 1, data: { id, total: 10 } },
    { type: "orders.deleted", id, attempt: 1, data: { id } },
  ]);
});

test("a consumer does not get the changes of its own client, unless it asks for them", async () => {
  const world = new World();
  const count = `run: async ({ event, client }) => {
    await noteEvent({ event });
    if (event.data.n < 3) await client.orders.patch(event.subject, { n: event.data.n + 1 });
  }`;
  const { create } = await world.start(`orders: { after: { count: { as: "service", ${count} } } }`);
  const { path } = await create("orders", { n: 0 });
  await until("the client has written", async () => {
    const answer = await world.service.send({ path });
    return (answer.json as { n: number }).n === 1;
  });
  await world.untilIdle("orders/count");
  assert.equal(world.calls.read().length, 1);
  const { json } = await world.service.send({ path: `${path}/_changes` });
  assert.deepEqual(
    (json as { principal?: string }[]).map(({ principal }) => principal),
    ["code:orders/count", undefined],
  );
  await world.stop();
  await world.start(`orders: { after: { count: { as: "service", own: true, ${count} } } }`);
  await world.service.create("orders", { n: 0 });
  const calls = await world.called(1 + 4);
  assert.deepEqual(
    calls.slice(1).map(({ data }) => data.n),
    [0, 1, 2, 3],
  );
});

test("two consumers that call each other end after ten changes in a row", async () => {
  const world = new World();
  const write = (collection: string) => `{ as: "service", run: async ({ event, client }) => {
    note({ type: event.type });
    await client.${collection}.create({ after: event.data.id });
  } }`;
  const { create } = await world.start(
    `pings: { after: { pong: ${write("pongs")} } }, pongs: { after: { ping: ${write("pings")} } }`,
  );
  await create("pings");
  await until("the chain has ended", async () => {
    const all = await world.statuses();
    return all.some(({ dead }) => dead === 1);
  });
  assert.equal(world.calls.read().length, 10);
  const [dead] = (await world.deliveries("pings/pong")).filter(({ state }) => state === "dead");
  assert.match(String(dead?.error), /^This change is number 10 in a chain/);
  assert.equal(dead?.next, null);
});

test("a failed event is tried again with its number of attempts, and is dead after the last one", async () => {
  const clock = testClock();
  const world = new World();
  await world.start(
    `orders: { after: { mail: { run: (call) => { noteEvent(call); if (call.event.data.fails) throw new Error("no mail"); } } } }`,
    { now: clock.now, codeParts: { clock, random: () => 0.5 } },
  );
  await world.service.create("orders", { fails: true });
  await world.service.create("orders", { fails: false });
  for (const [n, wait] of [0, ...retryWaits].entries()) {
    clock.moveTo(clock.now() + wait);
    await until(`${n + 1} attempts are stored`, async () => {
      const deliveries = await world.deliveries("orders/mail");
      return deliveries.some(({ attempts, state }) => state !== "delivered" && attempts === n + 1);
    });
  }
  const calls = world.calls.read<{ attempt: number; data: { fails: boolean } }>();
  const failed = calls.filter(({ data }) => data.fails).map(({ attempt }) => attempt);
  assert.deepEqual(
    failed,
    Array.from({ length: 10 }, (_, n) => n + 1),
  );
  assert.equal(calls.length, 11);
  const [dead] = (await world.deliveries("orders/mail")).filter(({ state }) => state === "dead");
  assert.match(String(dead?.error), /no mail/);
  const { dead: count, retrying, state } = await world.status("orders/mail");
  assert.deepEqual([count, retrying, state], [1, 0, "failing"]);
});

test("an administrator lets an event be tried again, or gives it up", async () => {
  const clock = testClock();
  const world = new World();
  const run = "run: (call) => { noteEvent(call); if (call.attempt < 3) throw new Error('not yet'); }";
  await world.start(`orders: { after: { mail: { ${run} } } }`, { now: clock.now, codeParts: { clock } });
  await world.service.create("orders");
  const stored = async (attempts: number) => {
    await until(`attempt ${attempts} is stored`, async () => {
      const [delivery] = await world.deliveries("orders/mail");
      return delivery?.attempts === attempts;
    });
    return (await world.deliveries("orders/mail"))[0];
  };
  const { event = "" } = (await stored(1)) ?? {};
  assert.equal((await world.decide("orders/mail", event, "_skip")).state, "dead");
  assert.equal((await world.decide("orders/mail", event, "_skip")).state, "dead");
  clock.moveTo(clock.now() + 3_600_000);
  const again = await world.decide("orders/mail", event, "_retry");
  assert.deepEqual([again.state, again.attempts], ["retrying", 1]);
  assert.equal((await stored(2))?.state, "retrying");
  await world.decide("orders/mail", event, "_retry");
  assert.equal((await stored(3))?.state, "delivered");
  assert.equal(world.calls.read().length, 3);
});

test("a disabled consumer keeps its place, and continues there", async () => {
  const world = new World();
  const { create } = await world.start("orders: { after: { mail: { run: noteEvent } } }");
  await create("orders", { n: 1 });
  await world.called(1);
  const disabled = await world.enable("orders/mail", false);
  assert.equal(disabled.status, 200, disabled.text);
  assert.deepEqual((disabled.json as { state: string }).state, "disabled");
  await create("orders", { n: 2 });
  assert.equal((await world.status("orders/mail")).waiting, 1);
  await world.stop();
  await world.start("orders: { after: { mail: { run: noteEvent } } }");
  await world.service.create("orders", { n: 3 });
  assert.deepEqual((await world.status("orders/mail")).state, "disabled");
  await world.enable("orders/mail", true);
  const calls = await world.called(3);
  assert.deepEqual(
    calls.map(({ data }) => data.n),
    [1, 2, 3],
  );
});

test("calls run one after the other, or as many at a time as the consumer allows", async () => {
  const world = new World();
  const top = `
import { setImmediate as nextTurn } from "node:timers/promises";
/** Waits until as many calls run as can, and then a moment in which further calls could begin. */
const runFor = (name, most) => {
  const full = Promise.withResolvers();
  let running = 0;
  return async () => {
    note({ name, running: ++running });
    if (running === most) full.resolve();
    await full.promise;
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    running--;
  };
};`;
  const { send } = await world.start(
    'orders: { after: { one: { run: runFor("one", 1) }, three: { concurrency: 3, run: runFor("three", 3) } } }',
    { top },
  );
  const operations = Array.from({ length: 12 }, (_, n) => ({ method: "POST", path: "/orders", body: { n } }));
  await send({ method: "POST", path: "/api/v1/_batch", content: { operations } });
  const calls = await world.called<{ name: string; running: number }>(24);
  const most = (wanted: string) =>
    Math.max(...calls.filter(({ name }) => name === wanted).map(({ running }) => running));
  assert.deepEqual([most("one"), most("three")], [1, 3]);
});

test("a call that takes too long has failed", async () => {
  const world = new World();
  await world.start(`orders: { after: { mail: { timeoutMs: 20, run: async ({ event, attempt, signal }) => {
    note({ id: event.subject, attempt });
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("I gave up"))));
  } } } }`);
  await world.service.create("orders");
  await until("the failure is stored", async () => (await world.status("orders/mail")).retrying === 1);
  const [delivery] = await world.deliveries("orders/mail");
  assert.match(String(delivery?.error), /I gave up|longer than 20 ms/);
});

test("the calls of the moment end before the service does, and are not made again", async () => {
  const world = new World();
  const end = join(makeFolder(), "end");
  const top = `import { existsSync } from "node:fs";\nimport { setTimeout as delay } from "node:timers/promises";`;
  const collections = `orders: { after: { mail: { run: async (call) => {
    noteEvent(call);
    while (!existsSync(${JSON.stringify(end)})) await delay(10);
  } } } }`;
  await world.start(collections, { top });
  await world.service.create("orders", { n: 1 });
  await world.called(1);
  const stopped = world.stop();
  writeFileSync(end, "");
  await stopped;
  await world.start(collections, { top });
  await world.service.create("orders", { n: 2 });
  await world.called(2);
  await world.untilIdle("orders/mail");
  assert.deepEqual(
    world.calls.read<{ data: { n: number } }>().map(({ data }) => data.n),
    [1, 2],
  );
});
