/** Several instances on one database: one of them computes stored resources again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startService } from "../../http/service.ts";
import { openDatabase } from "../../postgres/databases.ts";
import { until } from "../../until.ts";

const count = 1_500;

const configOf = (version: number) => `
export default {
  collections: {
    orders: {
      schema: { type: "object", properties: { n: { type: "integer" } } },
      computed: {
        total: { schema: { type: "number" }, from: ["n"], version: ${version}, value: ({ n }) => n * ${version} },
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
