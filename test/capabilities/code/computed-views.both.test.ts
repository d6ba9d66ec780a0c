/** Computed attributes for callers who see only a part of a resource. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startFor } from "../../http/service.ts";

const config = `
export default {
  auth: { keys: true },
  collections: {
    offers: {
      access: { read: "public", write: "public" },
      schema: { type: "object", properties: { price: { type: "number" }, cost: { type: "number" } } },
      attributes: { cost: { roles: ["buyers"] }, margin: { roles: ["buyers"] } },
      hooks: { before: ({ resource }) => ({ cost: 3, ...resource }) },
      computed: {
        margin: { schema: { type: "number" }, from: ["price", "cost"], value: ({ price, cost }) => price - cost },
        isDear: { schema: { type: "boolean" }, from: ["price", "cost"], value: ({ price, cost }) => price > 2 * cost },
      },
    },
  },
};
`;

test("attributes that the caller cannot see count, and what is computed from them can be hidden too", async (t) => {
  const { send, create } = await startFor(t, { module: config });
  const { path, body } = await create("offers", { price: 7 });
  assert.deepEqual(body, { id: body.id, price: 7, isDear: true });
  for (const [method, content, expected] of [
    ["PATCH", { price: 5 }, { ...body, price: 5, isDear: false }],
    ["PUT", { ...body, price: 8, isDear: false }, { ...body, price: 8, isDear: true }],
    ["PUT", { id: body.id, price: 4 }, { ...body, price: 4, isDear: false }],
  ] as const) {
    const answer = await send({ method, path, content });
    assert.deepEqual(answer.json, expected, answer.text);
  }
  const hidden = await send({ method: "PATCH", path, content: { margin: 1 } });
  assert.equal(hidden.status, 400);
  assert.match(hidden.text, /"unknownAttribute"/);
  const unseen = await send({ path: "/api/v1/offers?margin=1" });
  assert.equal(unseen.status, 400, unseen.text);
});
