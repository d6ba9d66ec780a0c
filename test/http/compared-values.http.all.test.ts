/** Exact numbers, folded texts, natural order and lists of objects, wherever other features compare values. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { until } from "../until.ts";
import { check } from "./check.ts";
import { linkOf } from "./follow.ts";
import { startServiceForFile } from "./service.ts";

const text = { type: "string", maxLength: 100 } as const;
const decimal = { type: "string", format: "decimal" } as const;
const int64 = { type: "string", format: "int64" } as const;
const schema = {
  type: "object",
  properties: {
    price: decimal,
    big: int64,
    day: { type: "string", format: "date" },
    at: { type: "string", format: "date-time" },
    name: text,
    login: text,
    code: text,
    authorId: text,
    lines: {
      type: "array",
      items: { type: "object", properties: { sku: text, price: decimal } },
    },
  },
} as const;

const service = await startServiceForFile({
  collections: {
    keyed: {
      schema,
      unique: [
        "price",
        "big",
        "day",
        "at",
        { attribute: "name", ignore: "accents" },
        { attribute: "login", ignore: "case" },
        ["price", "name"],
        { attribute: "code", where: { price: { gte: "10.00" }, login: { eqi: "ÉVA" } } },
      ],
    },
    items: { schema },
    authors: { schema: { type: "object", properties: { name: text, score: decimal } } },
    books: {
      schema,
      references: { authorId: { collection: "authors", as: "author", inverse: "books" } },
    },
  },
});
const update = { "Content-Type": "application/vnd.holdfast.update+json" };
const request = (method: string, path: string, content?: unknown, headers: Record<string, string> = {}) =>
  service.send({ method, path: `/api/v1/${path}`, ...(content !== undefined && { content }), headers });
const read = async (path: string) => {
  const answer = await request("GET", path);
  assert.equal(answer.status, 200, answer.text);
  return answer.json as Record<string, unknown>[];
};
const namesOf = (list: readonly Record<string, unknown>[]) => list.map(({ name }) => name);

describe("a unique key", () => {
  const keys: [attribute: string, first: string, same: string, other: string, wrong?: string][] = [
    ["price", "1.00", "1.0", "1.01", "abc"],
    ["big", "9007199254740993", "+09007199254740993", "9007199254740992", "x"],
    ["day", "2026-03-01", "2026-03-01T00:00:00Z", "2026-03-02", "now"],
    [
      "at",
      "2026-03-01T12:00:00.000Z",
      "2026-03-01T13:00:00.000+01:00",
      "2026-03-01T12:00:01.000Z",
      "tomorrow",
    ],
    ["name", "Éva", "ｅＶＡ", "eve"],
    ["login", "Straße", "STRASSE", "strasze"],
  ];
  for (const [attribute, first, same, other, wrong] of keys)
    test(`${attribute} finds the values that are equal`, async () => {
      const path = (value: string) => `keyed?${attribute}=${encodeURIComponent(value)}`;
      const made = await request("PUT", path(first), { [attribute]: first });
      check(made, { status: 201 });
      const { id } = made.json as { id: string };
      const patched = await request("PATCH", path(same), { code: { $set: "a" } }, update);
      check(patched, { status: 200, json: { id, [attribute]: first, code: "a" } });
      check(await request("PUT", path(same), { [attribute]: first }), {
        status: 200,
        json: { id, [attribute]: first },
      });
      check(await request("DELETE", path(other)), { status: 404 });
      if (wrong !== undefined)
        check(await request("DELETE", path(wrong)), {
          status: 400,
          problem: "INVALID_PARAMETER",
          violations: [{ in: "query", name: attribute, code: "value" }],
        });
      const operations = [
        { method: "PUT", path: `/${path(same)}`, body: { [attribute]: first, code: "b" } },
        { method: "PUT", path: `/${path(other)}`, body: { [attribute]: other } },
        { method: "DELETE", path: `/${path(other)}` },
        { method: "DELETE", path: `/${path(same)}` },
      ];
      check(await request("POST", "_batch", { operations }), { status: 200 });
      check(await request("DELETE", path(first)), { status: 404 });
    });
});

/** Waits for the end of a task. */
async function finished(path: string, content: unknown) {
  const answer = await request("POST", path, content, { Prefer: "respond-async" });
  assert.equal(answer.status, 202, answer.text);
  const { id } = answer.json as { id: string };
  let task: Record<string, unknown> = {};
  await until("the task ends", async () => {
    task = (await request("GET", `_tasks/${id}`)).json as typeof task;
    return task.state !== "checking" && task.state !== "running";
  });
  return task;
}

test("a task changes exact numbers, selected by folded texts and objects in arrays", async () => {
  const lines = [{ sku: "Ä-1", price: "5.0" }];
  await service.create("items", { name: "Éva", price: "0.10", lines });
  await service.create("items", { name: "éva", price: "1", lines: [{ sku: "Ä-1", price: "6" }] });
  await service.create("items", { name: "eve", price: "1", lines });
  const filter = { name: { eqi: "EVA" }, lines: { any: { sku: { eqi: "a-1" }, price: 5 } } };
  const task = await finished("items/_bulk", { filter, update: { price: { $increment: "0.200" } }, max: 9 });
  assert.deepEqual({ ...task, state: "done", total: 1, changed: 1 }, task);
  const prices = (await read("items?sort=price")).map(({ price }) => price);
  assert.deepEqual(prices, ["0.300", "1", "1"]);
  const many = await finished("items/_bulk", { filter: { price: { lte: "1.00" } }, delete: true, max: 9 });
  assert.deepEqual({ ...many, state: "done", total: 3, changed: 3 }, many);

  // The deleted ones
  const trash = async (query: string) => (await read(`items/_deleted?${query}`)).map(({ name }) => name);
  assert.deepEqual(await trash("price=0.3"), ["Éva"]);
  assert.deepEqual(await trash("name:eqi=EVA&sort=-price"), ["éva", "Éva"]);
  assert.deepEqual(await trash("lines.price=5"), await trash("lines.price=5.00"));
  assert.deepEqual((await trash("lines.price=5&sort=name")).toSorted(), ["eve", "Éva"].toSorted());
  assert.deepEqual(await trash(`lines:any=${encodeURIComponent('{"price":{"gt":"5.5"}}')}`), ["éva"]);
  const back = { filter: { price: { lt: 1 }, name: { ini: ["EVA"] } } };
  check(await request("POST", "items/_deleted/_restore", { ...back, max: 9 }), { status: 200 });
  assert.deepEqual(namesOf(await read("items")), ["Éva"]);
});

test("deleted resources have natural order", async () => {
  const names = ["item 10", "Item 9", "item 100"];
  for (const name of names) {
    const { path } = await service.create("books", { name, price: `${name.length}.0` });
    await service.send({ method: "DELETE", path });
  }
  const pages = ["sort=name:natural", "sort=-name:natural"];
  assert.deepEqual(namesOf(await read(`books/_deleted?${pages[0]}`)), ["Item 9", "item 10", "item 100"]);
  assert.deepEqual(namesOf(await read(`books/_deleted?${pages[1]}`)), ["item 100", "item 10", "Item 9"]);
  const first = await request("GET", "books/_deleted?sort=price,name:natural&limit=1");
  assert.deepEqual(namesOf(first.json as Record<string, unknown>[]), ["Item 9"]);
  const next = linkOf(first, "next").replace("/api/v1/", "");
  assert.deepEqual(namesOf(await read(next)), ["item 10"]);
});
