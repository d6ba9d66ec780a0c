/** Several instances on one database: one of them computes stored resources again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startService } from "../../http/service.ts";
import { openDatabase } from "../../postgres/databases.ts";
import { until } from "../../until.ts";

const count = 1_500;

const configOf = (version: number, ms = 0) => `
const slowly = (value) => {
  const until = performance.now() + ${ms};
  while (performance.now() < until);
  return value;
};

export default {
  collections: {
    orders: {
      schema: { type: "object", properties: { n: { type: "integer" } } },
      computed: {
        total: { schema: { type: "number" }, from: ["n"], version: ${version}, value: ({ n }) => slowly(n * ${version}) },
      },
    },
  },
};
`;

test("two instances compute each resource once, and both know when all are complete", async () => {
  const { url, release } = await openDatabase();
  const store = { kind: "postgres", url } as const;
  const orders = Array.from({ length: count }, (_, n) => ({ id: String(n).padStart(5, "0"), n: n + 1 }));
  const module = configOf(3);
  const first = await startService({ store, module, seeds: { orders } });
  const instances = [first, await startService({ store, module })];
  for (const { send } of instances)
    await until("all are computed", async () => {
      const { status } = await send({ path: "/api/v1/orders?total:gte=1&limit=1" }, { mayFail: true });
      return status === 200;
    });
  const { json } = await first.send({ path: "/api/v1/orders?sort=id&limit=1000&offset=500" });
  for (const { n, total } of json as { n: number; total: number }[]) assert.equal(total, n * 3);
  for (const { id } of orders.filter((_, n) => n % 100 === 0)) {
    const changes = await first.send({ path: `/api/v1/orders/${id}/_changes` });
    assert.equal((changes.json as unknown[]).length, 2, id);
  }
  await Promise.all(instances.map((each) => each.stop()));
  await release();
});

test("an instance with an earlier function leaves the work to one with a later version", async () => {
  const { url, release } = await openDatabase();
  const store = { kind: "postgres", url } as const;
  const orders = Array.from({ length: count }, (_, n) => ({ id: String(n).padStart(5, "0"), n: n + 1 }));
  const early = await startService({ store, module: configOf(1, 2), seeds: { orders } });
  const leftIn = async ({ send }: typeof early): Promise<number | undefined> => {
    const { json } = await send({ path: "/api/v1/_collections" });
    const { collections } = json as { collections: { computing?: { left: number } }[] };
    return collections[0]?.computing?.left;
  };
  await until("some are computed", async () => ((await leftIn(early)) ?? 0) < count);
  const late = await startService({ store, module: configOf(2) });
  for (const each of [early, late])
    await until("all are computed", async () => (await leftIn(each)) === undefined);
  const { json } = await late.send({ path: "/api/v1/orders?sort=-n&limit=1000" });
  for (const { n, total } of json as { n: number; total: number }[]) assert.equal(total, n * 2);
  await early.stop();
  await late.stop();
  await release();
});
