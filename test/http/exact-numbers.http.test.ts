/** Exact numbers over HTTP: `decimal`, and `int64` in a string, wherever values are compared or computed. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { almostExact, scaledExact } from "../exact-numbers.ts";
import { machineTime } from "../until.ts";
import { check } from "./check.ts";
import { allPages } from "./pages.ts";
import { type Answer, startFor, startServiceForFile } from "./service.ts";

const schema = {
  type: "object",
  properties: {
    sku: { type: "string" },
    price: { type: "string", format: "decimal" },
    bytes: { type: ["string", "null"], format: "int64" },
    size: { type: "string", format: "decimal", enum: ["1.0", "2.50"] },
    shown: { type: "string", format: "date", enum: ["2026-01-01"] },
    parts: { type: "array", items: { type: "string", format: "decimal" } },
    stock: { properties: { worth: { type: "string", format: "decimal" } } },
  },
} as const;

const service = await startServiceForFile({
  collections: {
    products: { schema, indexes: [["price"], ["sku", "-price"]], id: "integer" },
    plain: { schema, id: "integer" },
    priced: { schema, unique: ["price"] },
    counters: { schema },
    sales: {
      schema: { type: "object", properties: { productId: { type: "integer" } } },
      references: { productId: "products" },
      id: "integer",
    },
  },
});

const update = { "Content-Type": "application/vnd.holdfast.update+json" };
const post = (collection: string, content: unknown) =>
  service.send({ method: "POST", path: `/api/v1/${collection}`, content });
const bigger = "9".repeat(38);

/** Prices in an order that is not that of their values, and not that of their texts. */
const prices = [
  "10",
  "9.50",
  "-1",
  "100",
  "9.5",
  "0.00",
  "-0",
  "-10.25",
  bigger,
  `-${bigger}`,
  "9.05",
  "010",
  "0.5",
];
for (const [n, price] of prices.entries())
  for (const collection of ["products", "plain"])
    await service.create(collection, {
      sku: n % 2 === 0 ? "a" : "b",
      price,
      bytes: n === 0 ? null : String(n),
    });
await service.create("products", { sku: "b" });
await service.create("plain", { sku: "b" });

const get = (query: string, collection: string): Promise<Answer> =>
  service.send({ path: `/api/v1/${collection}?${query}` });
const pricesOf = (answer: Answer) => (answer.json as { price?: string }[]).map(({ price }) => price ?? null);
const byValue = (a: string, b: string) =>
  Number(scaledExact(a) > scaledExact(b)) - Number(scaledExact(a) < scaledExact(b));

describe("a value", () => {
  for (const price of [...prices, "+1.50", `0.${"1".repeat(37)}`])
    test(`${price} comes back as it was sent`, async () => {
      const answer = await post("counters", { price });
      assert.equal(answer.status, 201);
      assert.equal((answer.json as { price: string }).price, price);
    });
  for (const price of [...almostExact, 1, null])
    test(`${JSON.stringify(price)} is refused`, async () => {
      const answer = await post("counters", { price });
      check(answer, { status: 400, problem: "VALIDATION_FAILED" });
      const { violations } = answer.json as { violations: { pointer: string }[] };
      assert.ok(violations.every(({ pointer }) => pointer === "#/price"));
    });
  test("more than 38 digits are refused with the limit", async () => {
    const answer = await post("counters", { price: `${bigger}0` });
    const { violations } = answer.json as { violations: { detail: string }[] };
    assert.match(violations[0]?.detail ?? "", /at most 38 digits/);
  });
  test("an int64 has 64 bits, as a string", async () => {
    for (const bytes of ["9223372036854775807", "-9223372036854775808", "0"])
      assert.equal((await post("counters", { bytes })).status, 201);
    for (const bytes of ["9223372036854775808", "1.0", "x", 5])
      check(await post("counters", { bytes }), { status: 400, problem: "VALIDATION_FAILED" });
  });
});

for (const collection of ["products", "plain"])
  describe(`a list of ${collection}`, () => {
    const filters: [query: string, body: object, fits: (price: bigint) => boolean][] = [
      ["price=9.500", { price: 9.5 }, (price) => price === scaledExact("9.5")],
      ["price:ne=0", { price: { ne: "0.000" } }, (price) => price !== 0n],
      [
        "price:in=10.0,-1.00",
        { price: ["10.0", -1] },
        (price) => price === scaledExact("10") || price === scaledExact("-1"),
      ],
      [
        "price:nin=10,9.5",
        { price: { nin: [10, "9.5"] } },
        (price) => price !== scaledExact("10") && price !== scaledExact("9.5"),
      ],
      ["price:gt=9.5", { price: { gt: "9.5" } }, (price) => price > scaledExact("9.5")],
      ["price:gte=9.50", { price: { gte: 9.5 } }, (price) => price >= scaledExact("9.5")],
      ["price:lt=0", { price: { lt: 0 } }, (price) => price < 0n],
      ["price:gt=0.0000001", { price: { gt: 1e-7 } }, (price) => price > scaledExact("0.0000001")],
      ["price:lte=-0.0", { price: { lte: "-0.0" } }, (price) => price <= 0n],
      [
        `price:gt=-${bigger}&price:lt=${bigger}`,
        { price: { gt: `-${bigger}`, lt: bigger } },
        (price) => price > scaledExact(`-${bigger}`) && price < scaledExact(bigger),
      ],
    ];
    for (const [query, filter, fits] of filters)
      test(`finds ${query} by value`, async () => {
        const expected = prices.filter((price) => fits(scaledExact(price))).sort(byValue);
        const found = pricesOf(await get(`${query}&sort=price,id`, collection)).filter(
          (price) => price !== null,
        );
        assert.deepEqual(found, expected);
        const path = `/api/v1/${collection}`;
        const asked = await service.send({
          method: "QUERY",
          path,
          content: { filter, sort: ["price", "id"] },
        });
        assert.deepEqual(
          pricesOf(asked).filter((price) => price !== null),
          expected,
        );
      });

    test("is in the order of the values, page by page", async () => {
      const sorted = [null, ...prices.toSorted(byValue)];
      for (const sign of ["", "-"]) {
        const pages = await allPages(service.send, `/api/v1/${collection}?sort=${sign}price&limit=3`);
        const found = pages.flatMap(pricesOf);
        const values = (all: readonly (string | null)[]) => all.map((each) => each && scaledExact(each));
        assert.deepEqual(values(found), values(sign === "" ? sorted : sorted.toReversed()));
      }
    });

    test("equal numbers are one group", async () => {
      const { json } = await get(
        "aggregate=count&group=price&sort=price&price:gte=9&price:lt=11",
        collection,
      );
      assert.deepEqual(json, [
        { price: "9.05", count: 1 },
        { price: "9.5", count: 2 },
        { price: "010", count: 2 },
      ]);
    });

    test("figures are exact texts", async () => {
      const { json } = await get(
        "aggregate=sum(price),avg(price),min(price),max(price)&price:gte=-1&price:lt=9.6",
        collection,
      );
      // -1, 9.50, 9.5, 0.00, -0, 9.05, 0.5
      assert.deepEqual(json, [
        { "sum(price)": "27.55", "avg(price)": "3.935714285714", "min(price)": "-1", "max(price)": "9.50" },
      ]);
      const large = await get(`aggregate=sum(price),sum(bytes),avg(bytes)&price:gte=100`, collection);
      assert.deepEqual(large.json, [
        { "sum(price)": `1${"0".repeat(36)}99`, "sum(bytes)": "11", "avg(bytes)": "5.5" },
      ]);
      const none = await get("aggregate=sum(price),avg(price),min(price)&price=77", collection);
      assert.deepEqual(none.json, [{ "sum(price)": "0", "avg(price)": null, "min(price)": null }]);
    });

    test("groups are sorted by exact figures", async () => {
      const { json } = await get(
        "aggregate=sum(price)&group=sku&sort=-sum(price)&price:lt=1000&price:gt=-1000",
        collection,
      );
      // a: 10 - 1 ... by the places in `prices`
      const sumOf = (sku: number) =>
        prices
          .filter((price, n) => n % 2 === sku && price.length < 30)
          .reduce((sum, price) => sum + scaledExact(price), 0n);
      const sums = (json as { "sum(price)": string }[]).map((each) => scaledExact(each["sum(price)"]));
      assert.deepEqual(
        sums,
        [sumOf(0), sumOf(1)].toSorted((a, b) => (a < b ? 1 : -1)),
      );
    });
  });

test("contains compares the items of an array by value", async () => {
  const { json } = await post("counters", { parts: ["1.50", "2"] });
  const answer = await get("parts:contains=1.5&fields=parts", "counters");
  assert.deepEqual(answer.json, [{ id: (json as { id: string }).id, parts: ["1.50", "2"] }]);
  assert.deepEqual((await get("parts:contains=3", "counters")).json, []);
});

describe("a request is refused", () => {
  const cases: [query: string, code: string, detail: RegExp][] = [
    [
      "price=abc",
      "exact",
      /is an exact number and cannot be compared with "abc"\. Write a number such as -12\.50/,
    ],
    ["price:gt=1e3", "exact", /no exponent/],
    ["price=+5", "exact", /write "\+" as %2B/],
    [`price:lt=${bigger}0`, "exact", /at most 38 digits/],
    ["size=3", "value", /must be one of .*, not "3"/],
    ["shown=2026-01-02", "value", /, not "2026-01-02"/],
    ["shown=1767225600001", "value", /, not "1767225600001"/],
    ["size:in=1.00,3", "value", /must be one of .*, not "3"/],
    ["price:gte=null", "exact", /cannot be compared with "null"/],
    ["aggregate=count&group=price:month", "figureType", /needs a date, but the attribute is an exact number/],
    ["aggregate=sum(sku)", "figureType", /needs a number/],
  ];
  for (const [query, code, detail] of cases)
    test(query, async () => {
      const answer = await get(query, "products");
      check(answer, { status: 400, problem: "INVALID_PARAMETER" });
      const [violation] = (answer.json as { violations: { code: string; detail: string }[] }).violations;
      assert.equal(violation?.code, code);
      assert.match(violation.detail, detail);
    });
  test("but a listed number is found in any form", async () => {
    for (const query of ["size=1.00", "size=2.5", "shown=2026-01-01", "shown=1767225600000"])
      assert.deepEqual((await get(query, "products")).json, []);
  });
  test("but null finds what has none", async () => {
    const { json } = await get("bytes=null&fields=bytes", "products");
    assert.deepEqual(json, [{ id: 1, bytes: null }]);
  });
});

test("a unique number is the same in every form", async () => {
  check(await post("priced", { price: "1.0" }), { status: 201 });
  check(await post("priced", { price: "01.00" }), { status: 409, problem: "UNIQUE_VIOLATION" });
  check(await post("priced", { price: "1.01" }), { status: 201 });
  check(await post("priced", {}), { status: 201 });
});

test("a rule compares the numbers by value", async (t) => {
  const ruled = await startFor(t, {
    auth: { keys: true, jwt: undefined },
    collections: {
      rewards: { schema, access: { read: { where: { price: { gte: "10" } } }, create: "public" } },
    },
  });
  const statuses: number[] = [];
  for (const price of ["9.99", "10.00", "100"]) {
    const created = await ruled.send({ method: "POST", path: "/api/v1/rewards", content: { price } });
    const path = created.headers.location as string;
    statuses.push((await ruled.send({ path })).status);
  }
  assert.deepEqual(statuses, [404, 200, 200]);
});

describe("an update", () => {
  const patch = (path: string, content: unknown) =>
    service.send({ method: "PATCH", path, headers: update, content });
  const cases: [given: object, change: object, changed: object][] = [
    [{ price: "0.10" }, { price: { $increment: "0.2" } }, { price: "0.30" }],
    [{ price: "5" }, { price: { $increment: "-0.005" } }, { price: "4.995" }],
    [{ price: "0.1" }, { price: { $increment: 0.2 } }, { price: "0.3" }],
    [{ price: "1" }, { price: { $increment: 1.25e-7 } }, { price: "1.000000125" }],
    [{ price: "1" }, { price: { $increment: -1.5e21 } }, { price: "-1499999999999999999999" }],
    [{}, { price: { $increment: "1.50" } }, { price: "1.50" }],
    [{ price: "-1.50" }, { price: { $increment: "1.5" } }, { price: "0.00" }],
    [{ bytes: "9007199254740993" }, { bytes: { $increment: 2 } }, { bytes: "9007199254740995" }],
    [{ price: "1.0" }, { price: { $max: "1.00" } }, { price: "1.0" }],
    [{ price: "9.5" }, { price: { $max: "10" } }, { price: "10" }],
    [{ price: "9.5" }, { price: { $min: "10" } }, { price: "9.5" }],
    [{ price: "9.5" }, { price: { $min: "-10.0" } }, { price: "-10.0" }],
    [{ stock: { worth: "1" } }, { "stock.worth": { $increment: "0.01" } }, { stock: { worth: "1.01" } }],
  ];
  for (const [given, change, changed] of cases)
    test(`${JSON.stringify(change)} of ${JSON.stringify(given)}`, async () => {
      const { json } = await post("counters", given);
      const { id } = json as { id: string };
      check(await patch(`/api/v1/counters/${id}`, change), {
        status: 200,
        json: { id, ...given, ...changed },
      });
    });

  const refused: [given: object, change: object, code: string, detail: RegExp][] = [
    [
      { price: bigger },
      { price: { $increment: "1" } },
      "range",
      /a number of 39 digits, but an exact number has at most 38/,
    ],
    [{ price: "1" }, { price: { $increment: "abc" } }, "operand", /must be a number, not "abc"/],
    [
      { price: "1" },
      { price: { $increment: 1e-40 } },
      "operand",
      /must be an exact number with at most 38 digits/,
    ],
    [{ sku: "1" }, { sku: { $increment: "1" } }, "operand", /must be a number, not "1"/],
    [{ bytes: null }, { bytes: { $increment: "1" } }, "type", /needs an exact number, but the value is null/],
  ];
  for (const [given, change, code, detail] of refused)
    test(`${JSON.stringify(change)} is refused`, async () => {
      const { json } = await post("counters", given);
      const answer = await patch(`/api/v1/counters/${(json as { id: string }).id}`, change);
      check(answer, { status: 400, problem: "INVALID_PATCH" });
      const [violation] = (answer.json as { violations: { code: string; detail: string }[] }).violations;
      assert.equal(violation?.code, code);
      assert.match(violation.detail, detail);
    });

  test("beyond 64 bits is refused by the schema", async () => {
    const { json } = await post("counters", { bytes: "9223372036854775807" });
    const answer = await patch(`/api/v1/counters/${(json as { id: string }).id}`, {
      bytes: { $increment: "1" },
    });
    check(answer, { status: 400, problem: "VALIDATION_FAILED" });
  });

  test("an operator in a patch of the type application/json is refused", async () => {
    const { json } = await post("counters", { price: "1", stock: { worth: "1" } });
    const path = `/api/v1/counters/${(json as { id: string }).id}`;
    const headers = { "Content-Type": "application/json" };
    for (const [content, pointer] of [
      [{ price: { $increment: "1" } }, "#/price"],
      [{ stock: { worth: { $increment: "1" } } }, "#/stock/worth"],
    ] as const) {
      const answer = await service.send({ method: "PATCH", path, headers, content });
      check(answer, { status: 400, problem: "INVALID_PATCH" });
      assert.equal((answer.json as { violations: { pointer: string }[] }).violations[0]?.pointer, pointer);
    }
  });

  test("of many clients at once loses nothing", async () => {
    const { json } = await post("counters", { price: "0" });
    const path = `/api/v1/counters/${(json as { id: string }).id}`;
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => patch(path, { price: { $increment: "0.01" } })),
    );
    assert.ok(answers.every(({ status }) => status === 200));
    assert.equal(((await service.send({ path })).json as { price: string }).price, "0.50");
  });

  test("in a batch, and of many resources that a filter finds by value", async () => {
    const { json } = await post("counters", { sku: "many", price: "1.10" });
    const { id } = json as { id: string };
    const operations = [
      { method: "PATCH", path: `/counters/${id}`, headers: update, body: { price: { $increment: "0.90" } } },
    ];
    const batch = await service.send({ method: "POST", path: "/api/v1/_batch", content: { operations } });
    check(batch, { status: 200 });
    const bulk = await service.send({
      method: "POST",
      path: "/api/v1/counters/_bulk",
      content: { filter: { sku: "many", price: 2 }, update: { price: { $increment: "0.001" } }, max: 5 },
    });
    check(bulk, { status: 200 });
    assert.equal(
      ((await service.send({ path: `/api/v1/counters/${id}` })).json as { price: string }).price,
      "2.001",
    );
  });
});

describe("related resources", () => {
  test("are filtered, sorted and grouped by their exact numbers", async () => {
    const [nine, ten, hundred] = [2, 1, 4]; // the ids of the prices 9.50, 10 and 100
    for (const productId of [hundred, nine, ten, 5]) await service.create("sales", { productId });
    const of = (answer: Answer) => (answer.json as { productId: number }[]).map(({ productId }) => productId);
    assert.deepEqual(of(await get("sort=product.price,id", "sales")), [nine, 5, ten, hundred]);
    assert.deepEqual(of(await get("product.price:gt=9.5&sort=-product.price", "sales")), [hundred, ten]);
    assert.deepEqual((await get("aggregate=count&group=product.price&product.price=9.50", "sales")).json, [
      { "product.price": "9.5", count: 2 },
    ]);
  });
});

test("a list of the past is in the order of the values", async () => {
  const now = await get("sort=price,id", "products");
  const past = await get(`sort=price,id&at=${machineTime()}`, "products");
  assert.deepEqual(past.json, now.json);
});

test("a feed compares by value", async () => {
  const { json } = await get("price:gte=9.5&limit=1000", "plain/_events");
  const found = (json as { data: { price: string } }[]).map(({ data }) => data.price);
  assert.deepEqual(
    found,
    prices.filter((price) => scaledExact(price) >= scaledExact("9.5")),
  );
});

test("CSV keeps the texts, and a spreadsheet gets numbers", async () => {
  const { json } = await post("counters", { sku: "csv", price: "-12.50" });
  const { id } = json as { id: string };
  const table = await service.send({
    path: "/api/v1/counters?sku=csv&fields=price,sku",
    headers: { Accept: "text/csv" },
  });
  assert.equal(table.text, `id,price,sku\r\n${id},-12.50,csv\r\n`);
  const figures = await service.send({
    path: "/api/v1/counters?sku=csv&aggregate=sum(price)&group=price,sku",
    headers: { Accept: "text/csv" },
  });
  assert.equal(figures.text, "price,sku,sum(price)\r\n-12.50,csv,-12.50\r\n");
  const imported = await service.send({
    method: "POST",
    path: "/api/v1/counters/_import",
    headers: { "Content-Type": "text/csv" },
    body: `price,sku,bytes\r\n-0012.50,imported,9223372036854775807\r\n"+3.10",imported,\r\n`,
  });
  check(imported, { status: 200 });
  const { json: found } = await get("sku=imported&sort=price&fields=price,bytes", "counters");
  assert.deepEqual(
    (found as { price: string; bytes?: string }[]).map(({ price, bytes }) => [price, bytes]),
    [
      ["-0012.50", "9223372036854775807"],
      ["+3.10", undefined],
    ],
  );
  const misfit = await service.send({
    method: "POST",
    path: "/api/v1/counters/_import",
    headers: { "Content-Type": "text/csv" },
    body: `price\r\n1e5\r\n`,
  });
  assert.equal(misfit.status, 400);
});

test("the OpenAPI document describes exact numbers", async () => {
  const { json } = await service.send({ path: "/openapi.json" });
  const { schemas } = (
    json as { components: { schemas: Record<string, { properties?: Record<string, object> }> } }
  ).components;
  const properties = Object.values(schemas).find((each) => each.properties?.price !== undefined)?.properties;
  assert.deepEqual(properties?.price, {
    type: "string",
    format: "decimal",
    description: "Must be a decimal number such as -12.50, with at most 38 digits and no exponent.",
  });
});
