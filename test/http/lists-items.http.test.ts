/** Filters that look into the objects of arrays. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Answer, startServiceForFile } from "./service.ts";

const text = { type: "string" } as const;
const part = { type: "object", properties: { name: text, due: { type: "string", format: "date-time" } } };
const line = {
  type: "object",
  properties: {
    id: text,
    sku: text,
    qty: { type: "integer" },
    size: { enum: ["S", "M"] },
    parts: { type: "array", items: part },
  },
} as const;

const service = await startServiceForFile({
  collections: {
    buyers: { id: "integer", schema: { type: "object", properties: { name: text } } },
    orders: {
      id: "integer",
      schema: {
        type: "object",
        properties: {
          buyerId: { type: "integer" },
          tags: { type: "array", items: text },
          lines: { type: "array", items: { $ref: "#/$defs/line" } },
        },
        $defs: { line },
      },
      references: { buyerId: { collection: "buyers", inverse: "orders" } },
    },
    notes: { id: "integer" },
  },
});
await service.create("buyers", { name: "Ada" });
await service.create("buyers", { name: "Ben" });
const due = "2026-03-01T00:00:00.000Z";
const orders = [
  {
    buyerId: 1,
    lines: [
      { id: "x", sku: "A", qty: 1 },
      { sku: "B", qty: 5, size: "S" },
    ],
  },
  { buyerId: 1, lines: [{ sku: "Ä", qty: 5, parts: [{ name: "bolt" }, { name: "nut", due }] }] },
  { buyerId: 2, lines: [{ sku: "A", qty: 5 }] },
  { buyerId: 2, lines: [] },
  {},
];
for (const order of orders) await service.create("orders", order);
for (const note of [
  { lines: [{ sku: "A" }, "A", 1] },
  { lines: { sku: "A" } },
  { lines: [["A"], { sku: "B" }] },
])
  await service.create("notes", note);

const idsOf = (answer: Answer) => {
  assert.equal(answer.status, 200, answer.text);
  return (answer.json as { id: number }[]).map(({ id }) => id);
};
const get = (path: string) => service.send({ path: `/api/v1/${encodeURI(path)}` });
const find = async (query: string) => idsOf(await get(`orders?${query}`));

test("a dotted name finds the arrays with an object that matches, and its negation the others", async () => {
  const cases: [query: string, ids: number[]][] = [
    ["lines.sku=A", [1, 3]],
    ["lines.sku=A&lines.qty=5", [1, 3]],
    ["lines.sku:ne=A", [2, 4, 5]],
    ["lines.sku:nin=A,B", [2, 4, 5]],
    ["lines.sku:in=B,Ä", [1, 2]],
    ["lines.sku:eqi=a", [1, 2, 3]],
    ["lines.qty:gt=1", [1, 2, 3]],
    ["lines.id=x", [1]],
    ["lines.size=S", [1]],
    ["lines.size:exists=true", [1]],
    ["lines.size:exists=false", [2, 3, 4, 5]],
    ["lines.parts.name=nut", [2]],
    ["lines.parts.due:gte=2026-02-28T23:00:00-01:00", [2]],
    ["lines.parts.due:lt=2026", []],
  ];
  for (const [query, ids] of cases.slice(0, -1)) assert.deepEqual(await find(query), ids, query);
});

test('"any" finds the arrays with one object that meets the whole filter', async () => {
  const cases: [query: string, ids: number[]][] = [
    ['lines:any={"sku":"A","qty":5}', [3]],
    ['lines:any={"or":[{"sku":"B"},{"qty":{"lt":2}}]}', [1]],
    ['lines:any={"not":{"sku":"A"}}', [1, 2]],
    ['lines:any={"id":{"exists":false},"sku":"A"}', [3]],
    ['lines:any={"parts":{"any":{"name":"nut","due":{"gte":"2026-01-01"}}},"qty":5}', [2]],
    ['lines:any={"parts.name":"bolt"}', [2]],
    ['lines.parts:any={"name":"nut"}', [2]],
    ["lines:any={}", [1, 2, 3]],
    ['filter={"not":{"lines":{"any":{"sku":"A"}}}}', [2, 4, 5]],
    ['buyer.name=Ben&filter={"lines":{"any":{"qty":5}}}', [3]],
  ];
  for (const [query, ids] of cases) assert.deepEqual(await find(query), ids, query);
  const content = { filter: { lines: { any: { sku: "A", qty: { gte: 2 } } } } };
  assert.deepEqual(idsOf(await service.send({ method: "QUERY", path: "/api/v1/orders", content })), [3]);
  assert.deepEqual(idsOf(await get("buyers?orders.lines.sku=Ä")), [1]);
  assert.deepEqual(idsOf(await get('buyers?orders.lines:any={"sku":"A","qty":1}')), [1]);
});

test('without a schema, a dotted name leads into an object, and "any" into an array', async () => {
  assert.deepEqual(idsOf(await get("notes?lines.sku=A")), [2]);
  assert.deepEqual(idsOf(await get('notes?lines:any={"sku":{"in":["A","B"]}}')), [1, 3]);
  assert.deepEqual(idsOf(await get('notes?lines:any={"sku":{"ne":"A"}}')), [3]);
});

test("figures and changes of many take such filters", async () => {
  const figures = await get('orders?aggregate=count&filter={"lines":{"any":{"sku":"A"}}}');
  assert.deepEqual([figures.status, (figures.json as { count: number }[])[0]?.count], [200, 2]);
  const bulk = await service.send({
    method: "POST",
    path: "/api/v1/orders/_bulk",
    content: { filter: { "lines.sku": "A" }, max: 5, dryRun: true, patch: { tags: ["sold"] } },
  });
  assert.equal(bulk.status, 200, bulk.text);
  assert.match(bulk.text, /"matched":2/);
});

test("what cannot be is refused, with the names that there are", async () => {
  const cases: [query: string, detail: RegExp][] = [
    ["lines.skuu=A", /Did you mean "lines.sku"/],
    ['lines:any={"skuu":"A"}', /is not an attribute of "orders". Did you mean "sku"/],
    ["lines.qty=many", /is a number and cannot be compared with "many"/],
    ["lines.size=L", /must be one of "S", "M"/],
    ["tags:any={}", /without objects/],
    ["lines:any=a", /must be a JSON object/],
    ["tags.name=a", /"tags" is an array, and a name does not lead into it/],
    ["buyerId:any={}", /"any" never matches/],
    ['buyer:any={"name":"Ada"}', /is a relation/],
    ['lines:any={"buyer.name":"Ada"}', /is not an attribute/],
    ["sort=lines.sku", /a name does not lead into it/],
    [`filter=${'{"lines":{"any":'.repeat(3)}{}${"}}".repeat(3)}`, /is not an attribute/],
    ["lines.sku:any=1", /must be a JSON object|never matches/],
  ];
  for (const [query, detail] of cases) {
    const answer = await get(`orders?${query}`);
    assert.equal(answer.status, 400, query);
    assert.match(answer.text.replaceAll('\\"', '"'), detail, query);
  }
  const deep = `notes?filter=${'{"a":{"any":'.repeat(11)}{}${"}}".repeat(11)}`;
  assert.match((await get(deep)).text, /nested more than 10 levels/);
});
