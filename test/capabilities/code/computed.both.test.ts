import assert from "node:assert/strict";
import { test } from "node:test";
import { startFor } from "../../http/service.ts";

const config = `
import { defineConfig } from "holdfast";

const linesSchema = {
  type: "array",
  items: { type: "object", properties: { price: { type: "number" }, count: { type: "integer" } } },
};

export default defineConfig({
  collections: {
    orders: {
      schema: {
        type: "object",
        properties: { lines: linesSchema, title: { type: "string" } },
        required: ["lines", "total"],
      },
      indexes: ["total"],
      unique: ["slug"],
      search: ["slug"],
      hooks: {
        before: ({ resource }) => ({ ...resource, lines: resource.lines.filter(({ count }) => count > 0) }),
      },
      computed: {
        total: {
          schema: { type: "number" },
          from: ["lines"],
          value: ({ lines }) => lines.reduce((sum, { price, count }) => sum + price * count, 0),
        },
        slug: {
          schema: { type: "string", maxLength: 100 },
          from: ["title"],
          value: ({ title }) => title?.toLowerCase().replaceAll(" ", "-"),
        },
      },
    },
    notes: {
      computed: {
        length: { from: ["text"], value: ({ text }) => (typeof text === "string" ? text.length : undefined) },
      },
    },
    stamps: {
      timestamps: true,
      schema: { type: "object", properties: { name: { type: "string" } } },
      computed: { upper: { schema: { type: "string" }, from: ["name"], value: ({ name }) => name?.toUpperCase() } },
    },
  },
});
`;

test("each kind of write computes attributes from what before has completed", async (t) => {
  const { send, create } = await startFor(t, { module: config });
  const { path, body } = await create("orders", {
    lines: [
      { price: 2.5, count: 4 },
      { price: 9, count: 0 },
    ],
    title: "A Big Order",
  });
  assert.deepEqual([body.total, body.slug, body.lines], [10, "a-big-order", [{ price: 2.5, count: 4 }]]);
  const patched = await send({ method: "PATCH", path, content: { lines: [{ price: 3, count: 1 }] } });
  assert.equal((patched.json as typeof body).total, 3, patched.text);
  const replaced = await send({
    method: "PUT",
    path,
    content: { id: body.id, lines: [{ price: 7, count: 1 }] },
  });
  assert.equal(replaced.status, 200, replaced.text);
  assert.deepEqual(replaced.json, { id: body.id, lines: [{ price: 7, count: 1 }], total: 7 });
  const restored = await send({ method: "POST", path: `${path}/_restore`, content: { version: 1 } });
  assert.equal(restored.status, 200, restored.text);
  assert.equal((restored.json as typeof body).slug, "a-big-order");
  const batch = await send({
    method: "POST",
    path: "/api/v1/_batch",
    content: { operations: [{ method: "POST", path: "/orders", body: { lines: [{ price: 1, count: 5 }] } }] },
  });
  assert.equal(
    (batch.json as { results: { body: { total: number } }[] }).results[0]?.body.total,
    5,
    batch.text,
  );
  const bulk = await send({
    method: "POST",
    path: "/api/v1/orders/_bulk",
    content: { filter: { total: 5 }, patch: { lines: [{ price: 6, count: 1 }] }, max: 1 },
  });
  assert.equal(bulk.status, 200, bulk.text);
  const list = await send({ path: "/api/v1/orders?total:gte=6&sort=-total" });
  assert.deepEqual(
    (list.json as { total: number }[]).map(({ total }) => total),
    [10, 6],
    list.text,
  );
});

test("filters, unique values, search and figures use computed attributes", async (t) => {
  const { send, create } = await startFor(t, { module: config });
  await create("orders", { lines: [{ price: 4, count: 1 }], title: "One Two" });
  const taken = await send({
    method: "POST",
    path: "/api/v1/orders",
    content: { lines: [], title: "one two" },
  });
  assert.equal(taken.status, 409, taken.text);
  assert.equal((taken.json as { code: string }).code, "UNIQUE_VIOLATION");
  const found = await send({ path: "/api/v1/orders?q=two" });
  assert.equal((found.json as unknown[]).length, 1, found.text);
  const figures = await send({ path: "/api/v1/orders?aggregate=sum(total)" });
  assert.deepEqual(figures.json, [{ "sum(total)": 4 }], figures.text);
});

test("a collection without a schema stays open, and undefined leaves the attribute out", async (t) => {
  const { send, create } = await startFor(t, { module: config });
  const { path, body } = await create("notes", { text: "abc", other: { any: 1 } });
  assert.deepEqual(body, { id: body.id, text: "abc", other: { any: 1 }, length: 3 });
  const without = await send({ method: "PATCH", path, content: { text: null } });
  assert.deepEqual(without.json, { id: body.id, other: { any: 1 } }, without.text);
});

test("a client can send a computed attribute back unchanged, and not change it", async (t) => {
  const { send, create } = await startFor(t, { module: config });
  const { path, body } = await create("notes", { text: "abc" });
  const same = await send({ method: "PUT", path, content: body });
  assert.equal(same.status, 200, same.text);
  const changed = await send({ method: "PUT", path, content: { ...body, text: "abcd" } });
  assert.deepEqual(changed.json, { ...body, text: "abcd", length: 4 }, changed.text);
  const isReadOnly = async (request: { method: string; path: string; content: unknown }) => {
    const refused = await send(request);
    assert.equal(refused.status, 400, refused.text);
    const { violations } = refused.json as { violations: { pointer: string; code: string }[] };
    assert.deepEqual(
      violations.map(({ pointer, code }) => [pointer, code]),
      [["#/length", "readOnly"]],
    );
  };
  await isReadOnly({ method: "PUT", path, content: { ...body, length: 9 } });
  await isReadOnly({ method: "PATCH", path, content: { length: 9 } });
  await isReadOnly({ method: "PATCH", path, content: { length: null } });
  await isReadOnly({ method: "POST", path: "/api/v1/notes", content: body });
});

test("a write that changes nothing makes no new version", async (t) => {
  const { send, create } = await startFor(t, { module: config });
  for (const [collection, attributes] of [
    ["notes", { text: "abc" }],
    ["stamps", { name: "abc" }],
  ] as const) {
    const { path, body } = await create(collection, attributes);
    const put = await send({ method: "PUT", path, content: body });
    assert.deepEqual(put.json, body, put.text);
    const patch = await send({ method: "PATCH", path, content: attributes });
    assert.deepEqual(patch.json, body, patch.text);
    const history = await send({ path: `${path}/_changes` });
    assert.equal((history.json as unknown[]).length, 1, history.text);
  }
});

test("the description of the service marks computed attributes as read-only", async (t) => {
  const { send } = await startFor(t, { module: config });
  const { json } = await send({ path: "/openapi.json" });
  const { schemas } = (json as { components: { schemas: Record<string, Record<string, unknown>> } })
    .components;
  const inputs = Object.values(schemas).filter(({ properties }) => {
    const { total } = (properties ?? {}) as { total?: { readOnly?: boolean } };
    return total?.readOnly === true;
  });
  assert.ok(inputs.length > 0);
  assert.ok(inputs.some(({ required }) => JSON.stringify(required) === '["lines"]'));
});
