import assert from "node:assert/strict";
import { test } from "node:test";
import { startFor } from "../../http/service.ts";
import { until } from "../../until.ts";
import { noteCalls } from "./consumers/noted-calls.ts";

test("a consumer gets each change after its commit, in order for each resource", async (t) => {
  const calls = noteCalls();
  const module = `
import { defineConfig } from "holdfast";
${calls.source}
export default defineConfig({ collections: { orders: { after: { mail: { run: noteEvent } } } } });
`;
  const { create, send } = await startFor(t, { module });
  const { id, path } = await create("orders", { total: 1 });
  await send({ method: "PATCH", path, content: { total: 2 } });
  await send({ method: "DELETE", path });
  await until("all changes are handled", () => calls.read().length === 3);
  assert.deepEqual(calls.read(), [
    { type: "orders.created", id, attempt: 1, data: { id, total: 1 } },
    { type: "orders.updated", id, attempt: 1, data: { id, total: 2 } },
    { type: "orders.deleted", id, attempt: 1, data: { id } },
  ]);
});
