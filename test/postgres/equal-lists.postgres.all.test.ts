/** Lists that many ask for at the same time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../until.ts";
import { openLists } from "./counted-lists.ts";

test("equal lists that wait together are read once, others each by itself, and later ones anew", async (t) => {
  const { put, ids, taken, delay } = await openLists(t);
  await put("a");
  const all = await Promise.all([
    ...Array.from({ length: 50 }, () => ids({ limit: 10 })),
    ids({ limit: 20 }),
  ]);
  assert.deepEqual(all, Array(51).fill(["a"]));
  assert.deepEqual(taken(), { pages: 2, heads: 0 });
  await put("b"); // no page is in the cache
  const { promise, resolve: arrive } = Promise.withResolvers<void>();
  delay(promise);
  const underWay = ids({ limit: 10 });
  await until("the database has run the first list", () => taken().pages === 1);
  await put("c");
  const later = ids({ limit: 10 });
  arrive();
  assert.deepEqual(await later, ["a", "b", "c"], "what was acknowledged before is seen");
  await underWay;
});
