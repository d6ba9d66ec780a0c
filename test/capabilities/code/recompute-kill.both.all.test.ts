/** The service is killed while it computes stored resources again and clients write them. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createClient, end, type Program, startStore } from "../../durability/program.ts";
import { makeFolder } from "../../folder.ts";
import { startService } from "../../http/service.ts";
import { openTestStore } from "../../http/test-store.ts";
import { until } from "../../until.ts";

const count = 2_000;

/** The function of a higher version is slow, so that a kill comes in the middle. */
const configOf = (version: number) => `
const slowly = (value) => {
  const until = performance.now() + ${version > 1 ? 0.5 : 0};
  while (performance.now() < until);
  return value;
};

export default {
  collections: {
    orders: {
      schema: { type: "object", properties: { n: { type: "integer" }, title: { type: "string" } } },
      computed: {
        total: { schema: { type: "number" }, from: ["n"], version: ${version}, value: ({ n }) => slowly(n * ${version}) },
      },
    },
  },
};
`;

const idOf = (n: number) => `order-${String(n).padStart(5, "0")}`;

interface Order {
  id: string;
  n: number;
  total: number;
}

test("after kills, the work continues where it was, and no confirmed write is lost", async (t) => {
  const folder = makeFolder();
  const { address, release } = await openTestStore(folder);
  t.after(release);
  const place = address.kind === "sqlite" ? `sqlite:${address.path}` : address.url;
  const orders = Array.from({ length: count }, (_, n) => ({ id: idOf(n), n, total: n }));
  const first = await startService({ module: configOf(1), store: address, seeds: { orders } });
  await first.stop();
  const config = join(folder, "next.config.ts");
  writeFileSync(config, configOf(7));
  /** The least value that each resource must have. */
  const confirmed = new Map(orders.map(({ id, n }) => [id, n]));
  const run = async (
    mayEnd: (left: number) => boolean,
    signal: NodeJS.Signals,
  ): Promise<[number, number]> => {
    const program: Program = await startStore(place, ["--config", config]);
    const client = createClient(program.port);
    const leftNow = async (): Promise<number> => {
      const answer = await client.send("GET", "/_collections");
      const { collections } = JSON.parse(answer?.text ?? "{}") as {
        collections: { computing?: { left: number } }[];
      };
      return collections[0]?.computing?.left ?? 0;
    };
    const begun = await leftNow();
    let left = begun;
    const write = async (from: number) => {
      for (let n = from; !mayEnd(left); n = (n + 4) % count) {
        const next = (confirmed.get(idOf(n)) as number) + 10_000;
        const answer = await client.send("PATCH", `/orders/${idOf(n)}`, { n: next });
        assert.equal(answer?.status, 200, String(answer?.text));
        confirmed.set(idOf(n), next);
      }
    };
    const look = until("enough is computed", async () => {
      left = await leftNow();
      return mayEnd(left);
    });
    await Promise.all([look, ...[0, 1, 2, 3].map(write)]);
    await end(program, signal);
    client.close();
    return [begun, left];
  };
  const [, afterFirst] = await run((left) => left < count - 250, "SIGKILL");
  assert.ok(afterFirst > 0, "the kill comes in the middle");
  const [secondBegun, afterSecond] = await run((left) => left < count / 2, "SIGKILL");
  assert.ok(secondBegun <= afterFirst, `${secondBegun} are left after a kill with ${afterFirst}`);
  const [thirdBegun] = await run((left) => left === 0, "SIGTERM");
  assert.ok(thirdBegun <= afterSecond, `${thirdBegun} are left after a kill with ${afterSecond}`);
  const last = await startService({ module: configOf(7), store: address });
  for (let offset = 0; offset < count; offset += 1_000) {
    const { json } = await last.send({ path: `/api/v1/orders?limit=1000&offset=${offset}&sort=id` });
    for (const { id, n, total } of json as Order[]) {
      assert.equal(n, confirmed.get(id), id);
      assert.equal(total, n * 7, id);
    }
  }
  await last.stop();
});
