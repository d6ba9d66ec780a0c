/** What a consumer begins with, and what becomes of its position when the configuration changes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { machineTime } from "../../until.ts";
import { World } from "./consumers/world.ts";

const named = (name: string, members = "") =>
  `${name}: { ${members} run: ({ event }) => note({ name: "${name}", n: event.data.n }) }`;
const after = (...consumers: string[]) => `orders: { after: { ${consumers.join(", ")} } }`;
const dayMs = 24 * 3_600_000;

interface Call {
  name: string;
  n: number;
}

/** Creates an order, and returns the names of the consumers that got it. `count`: how many there are. */
async function gets(world: World, n: number, count: number): Promise<string[]> {
  const before = world.calls.read().length;
  await world.service.create("orders", { n });
  const calls = await world.called<Call>(before + count);
  return calls
    .slice(before)
    .filter((call) => call.n === n)
    .map(({ name }) => name)
    .sort();
}

test("a new consumer begins with new changes, or with the history", async () => {
  const world = new World();
  await world.start("orders: {}");
  for (const n of [1, 2]) await world.service.create("orders", { n });
  await world.stop();
  await world.start(after(named("late"), named("all", 'from: "start",')));
  await world.called(2);
  assert.deepEqual(await gets(world, 3, 2), ["all", "late"]);
  assert.deepEqual(
    world.calls
      .read<Call>()
      .filter(({ name }) => name === "all")
      .map(({ n }) => n),
    [1, 2, 3],
  );
  assert.deepEqual(
    (await world.statuses()).map(({ lost }) => lost),
    [0, 0],
  );
});

test("what happens while no service runs is handled after the next start", async () => {
  const world = new World();
  await world.start(after(named("mail")));
  assert.deepEqual(await gets(world, 1, 1), ["mail"]);
  await world.stop();
  await world.start("orders: {}");
  await world.service.create("orders", { n: 2 });
  await world.stop();
  await world.start(after(named("mail")));
  await world.called(2);
  await world.untilIdle("orders/mail");
  assert.deepEqual(
    world.calls.read<Call>().map(({ n }) => n),
    [1, 2],
  );
});

test("a renamed consumer is new, and the former one is shown as removed for 30 days", async () => {
  let now = machineTime();
  const options = { now: () => now };
  const world = new World();
  await world.start(after(named("first")), options);
  assert.deepEqual(await gets(world, 1, 1), ["first"]);
  await world.untilIdle("orders/first");
  await world.stop();
  await world.start(after(named("second")), options);
  assert.deepEqual(await gets(world, 2, 1), ["second"]);
  const [second, first] = await world.statuses();
  assert.deepEqual([second?.name, second?.state], ["orders/second", "active"]);
  assert.deepEqual([first?.name, first?.state], ["orders/first", "removed"]);
  assert.match(
    String(first?.reason),
    /^The configuration no longer has this consumer\. The service noticed this at 20/,
  );
  await world.stop();
  now += 29 * dayMs;
  await world.start(after(named("first"), named("second")), options);
  await world.untilIdle("orders/first");
  const firsts = world.calls.read<Call>().filter(({ name }) => name === "first");
  assert.deepEqual(
    firsts.map(({ n }) => n),
    [1, 2],
    "it has continued where it was",
  );
  await world.stop();
  await world.start(after(named("second")), options);
  await world.stop();
  now += 31 * dayMs;
  await world.start(after(named("second")), options);
  assert.deepEqual(
    (await world.statuses()).map(({ name }) => name),
    ["orders/second"],
  );
});

test("when the last consumer is removed, its position is kept too", async () => {
  const world = new World();
  await world.start(after(named("mail")));
  assert.deepEqual(await gets(world, 1, 1), ["mail"]);
  await world.stop();
  await world.start("orders: {}");
  await world.stop();
  await world.start(after(named("other")));
  assert.deepEqual(
    (await world.statuses()).map(({ name, state }) => [name, state]),
    [
      ["orders/other", "active"],
      ["orders/mail", "removed"],
    ],
  );
});
