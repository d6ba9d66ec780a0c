/** Exact numbers, folded texts, natural order and lists of objects, wherever other features compare values. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { until } from "../until.ts";
import { auth, type Caller, outcome, sendAs } from "./access/callers.ts";
import { check } from "./check.ts";
import { startServiceForFile } from "./service.ts";
import { startReceiver } from "./webhooks/receiver.ts";

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

  test("is compared only where an exact number and a folded text match", async () => {
    const make = (price: string, login: string) => request("POST", "keyed", { price, login, code: "same" });
    check(await make("9.99", "eva 1"), { status: 201 });
    check(await make("10.0", "éva"), { status: 201 });
    check(await make("11", "eva 2"), { status: 201 });
    const taken = await make("010.5", "Éva");
    check(taken, { status: 409, problem: "UNIQUE_VIOLATION", more: ["holder"] });
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
  const next = /<([^>]*)>; rel="next"/.exec(String(first.headers.link))?.[1]?.replace("/api/v1/", "") ?? "";
  assert.deepEqual(namesOf(await read(next)), ["item 10"]);
});

test("related resources are sorted and grouped by exact numbers and natural order", async () => {
  const authors = [
    await service.create("authors", { name: "author 10", score: "9.50" }),
    await service.create("authors", { name: "Author 9", score: "10" }),
    await service.create("authors", { name: "author 1", score: "9.5" }),
  ];
  for (const [n, { id }] of authors.entries())
    for (const name of ["b 10", "B 9"])
      await service.create("books", {
        name: `${name} ${n}`,
        authorId: id,
        price: `${n % 2}.0${"0".repeat(n)}`,
      });
  const walk = async (query: string) => {
    const names: unknown[] = [];
    for (let next: string | undefined = `books?limit=2&${query}`; next !== undefined; ) {
      const answer = await request("GET", next);
      assert.equal(answer.status, 200, answer.text);
      names.push(...namesOf(answer.json as Record<string, unknown>[]));
      next = /<([^>]*)>; rel="next"/.exec(String(answer.headers.link))?.[1]?.replace("/api/v1/", "");
    }
    return names.join();
  };
  assert.equal(await walk("sort=author.name:natural,name:natural"), "B 9 2,b 10 2,B 9 1,b 10 1,B 9 0,b 10 0");
  assert.equal(await walk("sort=author.score,name:natural"), "B 9 0,B 9 2,b 10 0,b 10 2,B 9 1,b 10 1");
  assert.equal(await walk("sort=-author.score,-name:natural"), "b 10 1,B 9 1,b 10 2,b 10 0,B 9 2,B 9 0");
  assert.equal(await walk("author.score=9.500&author.name:eqi=AUTHOR%201&sort=name:natural"), "B 9 2,b 10 2");
  const embedded = (await read(
    "authors?sort=score,name:natural&embed=books(sort:name:natural,price:gte=0.0,limit:1)",
  )) as { name: string; books: Record<string, unknown>[] }[];
  assert.deepEqual(
    embedded.map(({ name, books }) => [name, ...namesOf(books)]),
    [
      ["author 1", "B 9 2"],
      ["author 10", "B 9 0"],
      ["Author 9", "B 9 1"],
    ],
  );
  const groups = await read("books?aggregate=count,sum(price)&group=author.score");
  assert.deepEqual(groups.map(({ count, "sum(price)": sum }) => [count, sum]).toSorted(), [
    [2, "2.00"],
    [4, "0.000"],
  ]);
  assert.deepEqual(
    (await read("books?aggregate=count&group=price")).map(({ count }) => count).toSorted(),
    [2, 4],
  );
});

const matching = { name: "ÉVA", price: "5.00", lines: [{ sku: "Ä", price: "1.50" }] };
const others = [
  { ...matching, name: "eve" },
  { ...matching, price: "4.99" },
  {
    ...matching,
    lines: [
      { sku: "Ä", price: "2" },
      { sku: "B", price: "1.5" },
    ],
  },
];
const condition = {
  name: { eqi: "éva" },
  price: { gte: 5 },
  lines: { any: { sku: { eqi: "a" }, price: "1.5" } },
};

test("feeds compare them", async () => {
  const { id } = await service.create("items", matching);
  for (const each of others) await service.create("items", each);
  for (const query of [
    `filter=${encodeURIComponent(JSON.stringify(condition))}`,
    `name:eqi=eva&price:gte=5.0&lines:any=${encodeURIComponent('{"sku":{"eqi":"ä"},"price":1.5}')}`,
  ]) {
    const events = await read(`items/_events?${query}`);
    const of = new Set(
      events.filter(({ type }) => /created/.test(String(type))).map(({ subject }) => subject),
    );
    assert.ok(
      [...of].some((subject) => String(subject).endsWith(id)),
      JSON.stringify(events),
    );
    assert.equal(of.size, 1, JSON.stringify([...of]));
  }
});

test("webhooks compare them", async () => {
  const receiver = await startReceiver();
  after(() => receiver.close());
  const hook = { url: receiver.url, collections: ["items"], filter: condition };
  const answer = await request("POST", "_webhooks", hook);
  assert.equal(answer.status, 201, answer.text);
  for (const each of others) await service.create("items", each);
  const { id } = await service.create("items", matching);
  await until("a delivery comes", () => receiver.received.length > 0);
  assert.deepEqual(
    receiver.received.map(({ event }) => event.data.id),
    [id],
  );
});

test("access rules compare them", async () => {
  const guarded = await startServiceForFile({
    auth,
    collections: {
      deals: {
        schema,
        access: {
          read: { where: condition },
          create: "authenticated",
          update: { where: condition },
          delete: "authenticated",
        },
      },
    },
  });
  const as = (who: Caller, method: string, path: string, content?: unknown, headers = {}) =>
    sendAs(guarded, who, { method, path, ...(content !== undefined && { content }), headers });
  const path = "/api/v1/deals";
  const ids: string[] = [];
  for (const each of [matching, ...others]) {
    const { headers } = await as("ada", "POST", path, each);
    ids.push(String(headers.location));
  }
  const listed = (await as("ada", "GET", path)).json as { id: string }[];
  assert.deepEqual(
    listed.map(({ id }) => `${path}/${id}`),
    ids.slice(0, 1),
  );
  const statuses = [];
  for (const each of ids) statuses.push((await as("ada", "GET", each)).status);
  assert.deepEqual(statuses, [200, 404, 404, 404]);
  const change = (price: string) =>
    as("ada", "PATCH", ids[0] ?? "", { price: { $increment: price } }, update);
  assert.equal(outcome(await change("0.001")), "200");
  assert.equal(outcome(await change("-0.0011")), "403 INSUFFICIENT_SCOPE");
  assert.equal(outcome(await change("-0.0010")), "200");
});
