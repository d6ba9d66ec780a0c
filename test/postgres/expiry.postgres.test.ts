/** Several instances on one database: one of them deletes what has expired, and all of them go by the clock of the database. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openStore } from "../../src/store/open.ts";
import { StoreClock } from "../../src/store-clock.ts";
import { testClock } from "../capabilities/webhooks/http/clock.ts";
import { startFor } from "../http/service.ts";
import { machineTime, until } from "../until.ts";
import { databaseFor } from "./databases.ts";

const schema = {
  type: "object",
  properties: { name: { type: "string" }, expiresAt: { type: "string", format: "date-time" } },
};
const collections = { sessions: { schema, expires: "expiresAt" } };

test("one instance sweeps, and another takes over when its lease has expired", async (t) => {
  const url = await databaseFor(t);
  const store = { kind: "postgres", url } as const;
  const clocks = [testClock(), testClock()] as const;
  const start = clocks[0].now();
  clocks[1].moveTo(start);
  let looks = 0; // of the second instance
  const counted = {
    ...clocks[1],
    until: (...args: Parameters<(typeof clocks)[1]["until"]>) => {
      looks++;
      return clocks[1].until(...args);
    },
  };
  const at = new Date(start + 1_000).toISOString();
  const [one, two] = await Promise.all(
    [clocks[0], counted].map((clock) =>
      startFor(t, {
        store,
        collections,
        sweepClock: clock,
        now: () => Math.max(...clocks.map((each) => each.now())),
      }),
    ),
  );
  assert.ok(one && two);
  const deleted = async () =>
    ((await one.send({ path: "/api/v1/sessions/_deleted?limit=100" })).json as unknown[]).length;
  await one.create("sessions", { name: "first", expiresAt: at });
  clocks[0].moveTo(start + 5_000);
  await until("the first instance deletes it", async () => (await deleted()) === 1);
  for (const { send } of [one, two]) assert.deepEqual((await send({ path: "/api/v1/sessions" })).json, []);
  // The first clock stands still, so its lease expires for the second one.
  await two.create("sessions", { name: "second", expiresAt: at });
  const before = looks;
  clocks[1].moveTo(start + 10_000);
  await until("the second has looked", () => looks > before);
  assert.equal(await deleted(), 1, "the lease of the first is valid");
  clocks[1].moveTo(start + 31_000);
  await until("the second deletes", async () => (await deleted()) === 2);
});

test("the database tells its time, and an instance keeps the offset to it", async (t) => {
  const url = await databaseFor(t);
  const store = await openStore({ kind: "postgres", url });
  t.after(() => store.close());
  assert.ok(store.time);
  const before = machineTime();
  const theirs = await store.time();
  assert.ok(theirs >= before - 1 && theirs <= machineTime() + 1, "it is the same machine");
  const clock = new StoreClock(store);
  await clock.measure();
  assert.equal(clock.offsetMs, 0);
  const ahead = new StoreClock({ time: async () => machineTime() + 3_600_000 });
  await ahead.measure();
  assert.ok(Math.abs(ahead.offsetMs - 3_600_000) < 60_000);
});

test("a store without a server has no clock of its own", async () => {
  const clock = new StoreClock({});
  await clock.measure();
  assert.equal(clock.offsetMs, 0);
});
