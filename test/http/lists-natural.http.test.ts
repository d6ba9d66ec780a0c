/** Lists in natural order, with and without an index. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { machineTime } from "../until.ts";
import { itemsFrom } from "./pages.ts";
import { startServiceForFile } from "./service.ts";

const text = { type: "string" } as const;
const schema = {
  type: "object",
  properties: { name: text, title: text, n: { type: "integer" }, at: { ...text, format: "date" } },
};
const service = await startServiceForFile({
  collections: {
    shelves: { id: "integer", schema },
    items: {
      id: "integer",
      schema: { ...schema, properties: { ...schema.properties, shelfId: { type: "integer" } } },
      indexes: ["name:natural"],
      references: { shelfId: { collection: "shelves", inverse: "items" } },
    },
  },
});
const names = [
  "item 10",
  "Item 9",
  "item 9",
  "Ítem 1",
  "item 09",
  "Étagère",
  "etagere 2",
  "item 100000000000000000000",
  null,
];
const order = [9, 6, 7, 4, 2, 5, 3, 1, 8];
await service.create("shelves", { name: "Regal 10" });
await service.create("shelves", { name: "regal 9" });
for (const [n, name] of names.entries())
  await service.create("items", { ...(name !== null && { name, title: name }), shelfId: 1 + (n % 2) });

const walk = async (path: string) =>
  (await itemsFrom<{ id: number }>(service.send, `/api/v1/${path}`)).map(({ id }) => id);

test("pages follow each other exactly, with an index, without one, and backwards", async () => {
  for (const name of ["name", "title"]) {
    assert.deepEqual(await walk(`items?sort=${name}:natural&limit=2`), order, name);
    assert.deepEqual(await walk(`items?sort=-${name}:natural&limit=2`), [...order].reverse(), name);
    assert.deepEqual(await walk(`items?sort=shelfId,${name}:natural&limit=2`), [9, 7, 5, 3, 1, 6, 4, 2, 8]);
  }
  const content = { sort: ["title:natural"], fields: ["title"] };
  const answer = await service.send({ method: "QUERY", path: "/api/v1/items", content });
  assert.deepEqual(
    (answer.json as { id: number }[]).map(({ id }) => id),
    order,
  );
  const at = encodeURIComponent(new Date(machineTime()).toISOString());
  assert.deepEqual(await walk(`items?sort=title:natural&at=${at}&limit=2`), order);
});

test("related resources are in natural order too", async () => {
  assert.deepEqual(await walk("items?sort=shelf.name:natural,id&limit=2"), [2, 4, 6, 8, 1, 3, 5, 7, 9]);
  const answer = await service.send({ path: "/api/v1/shelves?embed=items(sort:title:natural,limit:2)" });
  const shelves = answer.json as { items: { id: number }[] }[];
  assert.deepEqual(
    shelves.map(({ items }) => items.map(({ id }) => id)),
    [
      [9, 7],
      [6, 4],
    ],
  );
});

test("what has no texts has no natural order, and the declaration shows the order", async () => {
  for (const name of ["n", "at", "id"]) {
    const answer = await service.send({ path: `/api/v1/items?sort=${name}:natural` });
    assert.equal(answer.status, 400, name);
    assert.match(answer.text, /has no texts and so no natural order/);
  }
  assert.equal((await service.send({ path: "/api/v1/items?sort=titel:natural" })).status, 400);
  const details = await service.send({ path: "/api/v1/_collections" });
  assert.match(details.text, /"indexes":\[\["name:natural"\]\]/);
});
