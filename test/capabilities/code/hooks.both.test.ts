import assert from "node:assert/strict";
import { test } from "node:test";
import { startFor } from "../../http/service.ts";

const config = `
import { defineConfig, forbid, refuse } from "holdfast";

export default defineConfig({
  collections: {
    orders: {
      schema: {
        type: "object",
        properties: {
          lines: { type: "array", items: { type: "object", properties: { price: { type: "number" }, count: { type: "integer" } } } },
          total: { type: "number" },
          state: { type: "string" },
        },
        required: ["lines", "total"],
      },
      hooks: {
        before: ({ resource }) => ({
          ...resource,
          total: resource.lines.reduce((sum, { price, count }) => sum + price * count, 0),
        }),
        validate: ({ operation, resource, previous }) => {
          if (operation === "delete" && resource.state === "paid") forbid("A paid order stays.");
          if (resource.total > 1_000) refuse("total", "must be at most 1000", { code: "limit" });
          if (previous?.state === "paid") refuse("A paid order cannot change");
        },
      },
    },
  },
});
`;

test("before completes a resource and validate refuses it", async (t) => {
  const { send, create } = await startFor(t, { module: config });
  const { path, body } = await create("orders", { lines: [{ price: 2.5, count: 4 }] });
  assert.equal(body.total, 10);
  const refused = await send({ method: "PATCH", path, content: { lines: [{ price: 600, count: 2 }] } });
  assert.equal(refused.status, 400, refused.text);
  assert.deepEqual((refused.json as { violations: unknown }).violations, [
    { in: "body", pointer: "#/total", code: "limit", detail: "must be at most 1000" },
  ]);
  const paid = await send({ method: "PATCH", path, content: { state: "paid" } });
  assert.equal(paid.status, 200, paid.text);
  const late = await send({ method: "PATCH", path, content: { state: "open" } });
  assert.equal((late.json as { message: string }).message, "A paid order cannot change.");
  const stays = await send({ method: "DELETE", path });
  assert.equal(stays.status, 403, stays.text);
});
