/** Several instances on one store share its consumers. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../../folder.ts";
import { type Service, startFor } from "../../http/service.ts";
import { databaseFor } from "../../postgres/databases.ts";
import { until } from "../../until.ts";
import { testClock } from "../webhooks/http/clock.ts";
import { noteCalls } from "./consumers/noted-calls.ts";

const path = "/api/v1/_consumers/orders/mail";

interface Delivery {
  event: string;
  state: string;
  attempts: number;
}

test("one of two instances handles each change, the other one takes over, and both can ask for a retry", async (t) => {
  const store = { kind: "postgres", url: await databaseFor(t) } as const;
  const calls = noteCalls();
  const module = `${calls.source}
const run = (call) => { noteEvent(call); if (call.event.data.fails && call.attempt === 1) throw new Error("later"); };
export default { collections: { orders: { after: { mail: { run } } } } };`;
  const first = await startFor(t, { module, store });
  const second = await startFor(t, { module, store });
  for (let n = 0; n < 10; n++) await (n % 2 === 0 ? first : second).create("orders", { n });
  await until("all are handled", () => calls.read().length >= 10);
  const deliveries = async ({ send }: Service) =>
    (await send({ path: `${path}/_deliveries` })).json as Delivery[];
  await until("all are stored", async () => (await deliveries(second)).length === 10);
  assert.equal(calls.read().length, 10);
  await first.create("orders", { fails: true });
  let failed: Delivery | undefined;
  await until("it has failed", async () => {
    failed = (await deliveries(first)).find(({ state }) => state === "retrying");
    return failed !== undefined;
  });
  await second.send({ method: "POST", path: `${path}/_deliveries/${failed?.event}/_retry` });
  await until("it is handled", async () =>
    (await deliveries(first)).every(({ state }) => state === "delivered"),
  );
  await first.stop();
  await second.create("orders", { n: 11 });
  await until("the other one takes over", () =>
    calls.read<{ data: { n: number } }>().some(({ data }) => data.n === 11),
  );
});

test("an instance that loses the lease ends its calls, and the other one makes them again", async (t) => {
  const store = { kind: "postgres", url: await databaseFor(t) } as const;
  const calls = noteCalls();
  const module = `${calls.source}
import { existsSync, writeFileSync } from "node:fs";
const begun = ${JSON.stringify(join(makeFolder(), "begun"))};
const run = async (call) => {
  if (existsSync(begun)) return noteEvent(call);
  writeFileSync(begun, "");
  note({ is: "begun" });
  await new Promise((resolve) => call.signal.addEventListener("abort", resolve));
  note({ is: call.signal.reason.message });
  throw call.signal.reason;
};
export default { collections: { orders: { after: { mail: { run, timeoutMs: 300_000 } } } } };`;
  const clocks = [testClock(), testClock()] as const;
  const [one, two] = clocks;
  const start = one.now();
  const first = await startFor(t, { module, store, codeParts: { clock: one } });
  await first.create("orders", { n: 1 });
  const notes = () => calls.read<{ is?: string; type?: string; attempt?: number }>();
  await until("the first has begun", () => notes().length === 1);
  two.moveTo(start + 60_000);
  const second = await startFor(t, { module, store, codeParts: { clock: two } });
  await until("the second handles it", () => notes().length === 2);
  one.moveTo(start + 61_000);
  await until("the first ends", () => notes().length === 3);
  assert.deepEqual(
    notes().map(({ is, attempt }) => is ?? attempt),
    ["begun", 1, "This instance no longer holds the lease of the store."],
  );
  const deliveries = async () => (await second.send({ path: `${path}/_deliveries` })).json as Delivery[];
  await until("its outcome is stored", async () => (await deliveries()).length === 1);
  const [{ state, attempts } = {}] = await deliveries();
  assert.deepEqual([state, attempts], ["delivered", 1]);
});
