/** Computed attributes in an application, where functions run in its own thread. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../../folder.ts";
import { post, start } from "../../http/embedded.ts";
import { until } from "../../until.ts";

const configOf = (store: string, version: number) => ({
  store,
  collections: {
    orders: {
      computed: {
        total: {
          schema: { type: "number" },
          from: ["n"],
          version,
          value: ({ n }: { n?: number }) => (n === undefined ? undefined : n * version),
        },
      },
    },
  },
});

test("an application computes attributes of new and of stored resources", async (t) => {
  const store = join(makeFolder(), "computed.db");
  const first = await start(t, configOf(store, 1));
  const made = await post(`${first.origin}/api/v1/orders`, { n: 3 });
  assert.equal(((await made.json()) as { total: number }).total, 3);
  await first.app.close();
  const second = await start(t, configOf(store, 5));
  await until("it is computed again", async () => {
    const list = await fetch(`${second.origin}/api/v1/orders?total=15`);
    return ((await list.json()) as unknown[]).length === 1;
  });
});
