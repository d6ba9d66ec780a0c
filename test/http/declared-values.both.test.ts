/** Filters and figures of values with a declared type: what they cannot be compared with, and the order of equal ones. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { check } from "./check.ts";
import { startServiceForFile } from "./service.ts";

const schema = {
  type: "object",
  properties: {
    sold: { type: ["string", "null"], format: "date-time" },
    day: { format: "date-value", type: ["string", "integer"] },
    millis: { type: "integer", format: "unix-millis", enum: [1_000, 20_000] },
    price: { type: ["string", "null"], format: "decimal" },
    size: { type: "string", format: "int64", enum: ["1", "2"] },
    moment: { format: "date-value" },
    serial: { type: ["string", "null"], format: "int64" },
    shop: { type: "string" },
  },
} as const;

const service = await startServiceForFile({ collections: { sales: { schema, id: "integer" } } });
const path = "/api/v1/sales";

for (const query of ["sold:gt=null", "sold:lte=null", "sold:gt=true", "price:gt=null", "price:lte=false"]) {
  test(`nothing is greater or less than in ${query}`, async () => {
    const [name = ""] = query.split("=");
    const code = name.startsWith("sold") ? "date" : "exact";
    check(await service.send({ path: `${path}?${query}` }), {
      status: 400,
      problem: "INVALID_PARAMETER",
      violations: [{ in: "query", name, code }],
    });
  });
}

for (const [name, other] of [
  ["price", "moment"],
  ["moment", "price"],
  ["price", "millis"],
] as const) {
  test(`a date is never compared with an exact number, as in ${name} and ${other}`, async () => {
    const filter = encodeURIComponent(JSON.stringify({ [name]: { lt: { attribute: other } } }));
    const answer = await service.send({ path: `${path}?filter=${filter}` });
    check(answer, {
      status: 400,
      problem: "INVALID_PARAMETER",
      violations: [{ in: "query", name: "filter", code: "type" }],
    });
    assert.match(answer.text, /only one of the attributes is a date/);
  });
}

test("null is equal to null", async () => {
  await service.create("sales", { sold: null, price: null, shop: "nulls" });
  for (const name of ["sold", "price"]) {
    const { json, text } = await service.send({ path: `${path}?${name}=null&fields=shop` });
    assert.ok(Array.isArray(json), text);
    assert.deepEqual(
      (json as { shop: string }[]).map(({ shop }) => shop),
      ["nulls"],
    );
  }
});

const unlisted = [
  ["query", "millis=2000", "millis"],
  ["query", "size=3", "size"],
  ["query", `filter=${encodeURIComponent('{"size":3}')}`, "filter"],
  ["query", `filter=${encodeURIComponent('{"millis":2000}')}`, "filter"],
] as const;

for (const [, query, name] of unlisted) {
  test(`a value that the schema does not list is refused in ${decodeURIComponent(query)}`, async () => {
    check(await service.send({ path: `${path}?${query}` }), {
      status: 400,
      problem: "INVALID_PARAMETER",
      violations: [{ in: "query", name, code: "value" }],
    });
  });
}

test("a value that the schema lists is found, however it is written", async () => {
  await service.create("sales", { millis: 20_000, size: "2", shop: "listed" });
  for (const query of [
    "millis=20000",
    "millis=1970-01-01T00:00:20Z",
    "size=2.0",
    `filter=${encodeURIComponent('{"size":2}')}`,
  ]) {
    const { json } = await service.send({ path: `${path}?${query}&fields=shop` });
    assert.deepEqual(
      (json as { shop: string }[]).map(({ shop }) => shop),
      ["listed"],
      query,
    );
  }
});

test("groups with equal instants in different forms are equal, so the next key sorts them", async () => {
  const ofShop = { c: "2026-01-01", a: 1_767_225_600_000, b: "2026-01-01T00:00:00.000Z" };
  for (const [shop, day] of Object.entries(ofShop)) await service.create("sales", { shop, day });
  const query = "day:exists=true&group=shop&aggregate=max(day),min(day)";
  for (const key of ["max(day)", "min(day)"])
    for (const [sort, expected] of [
      [`${key},shop`, "abc"],
      [`-${key},-shop`, "cba"],
    ] as const) {
      const { json } = await service.send({ path: `${path}?${query}&sort=${sort}` });
      assert.equal((json as { shop: string }[]).map(({ shop }) => shop).join(""), expected, sort);
    }
});

test("the document describes a nullable whole number that is a string", async () => {
  const { text } = await service.send({ path: "/openapi.json" });
  assert.match(text, /"serial":\{[^{}]*"description":"Must be a 64-bit whole number\."/);
});
