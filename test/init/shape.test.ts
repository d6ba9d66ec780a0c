import assert from "node:assert/strict";
import { test } from "node:test";
import { createContext, Shape, valueOfText } from "../../src/init/shape.ts";

/** The schema of one attribute with these values. */
function schemaOf(values: readonly unknown[], isText = false) {
  const shape = new Shape(createContext({ isText }), 1);
  for (const value of values) shape.add(value);
  return shape.schema();
}

const cases: readonly (readonly [values: readonly unknown[], schema: object])[] = [
  [[1, 2], { type: "integer" }],
  [[1, 2.5], { type: "number" }],
  [[2 ** 60], { type: "number" }],
  [["a", ""], { type: "string" }],
  [[true], { type: "boolean" }],
  [[1, null], { type: ["integer", "null"] }],
  [[null], {}],
  [[1, "a"], {}],
  [[1, [1]], {}],
  [["2024-01-02"], { type: "string", format: "date" }],
  [["2024-01-02", null], { type: ["string", "null"], format: "date" }],
  [["2024-02-30"], { type: "string" }],
  [["2024-01-02T10:00:00.000Z"], { type: "string", format: "date-time" }],
  [["2024-01-02T10:00:00Z"], { type: "string" }],
  [["2024-01-02", "2024-01-02T10:00:00.000Z"], { format: "date-value" }],
  [["2024-01-02", "2024-01-02T10:00:00.000Z", null], { type: ["string", "null"] }],
  [["2024-01-02", "later"], { type: "string" }],
  [[[]], { type: "array" }],
  [[[1, 2], [3.5]], { type: "array", items: { type: "number" } }],
  [[[1, "a"]], { type: "array" }],
  [
    [{ a: 1 }, { b: { c: "x" } }],
    {
      type: "object",
      properties: {
        a: { type: "integer" },
        b: { type: "object", properties: { c: { type: "string" } }, additionalProperties: true },
      },
      additionalProperties: true,
    },
  ],
  [[{}], { type: "object" }],
];

for (const [values, schema] of cases)
  test(`the schema of ${JSON.stringify(values)} is ${JSON.stringify(schema)}`, () => {
    assert.deepEqual(schemaOf(values), schema);
  });

test("an object whose names are data is described without them, and memory is bounded", () => {
  const byDay = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`day${n}`, n]));
  assert.deepEqual(schemaOf([byDay]), { type: "object" });
  const resource = new Shape(createContext({ isText: false }));
  for (let n = 0; n < 2_000; n++) resource.add({ [`name${n}`]: n, always: { inner: 1 } });
  assert.equal(resource.members.size, 499); // `inner` is a name too
  assert.deepEqual(Object.keys(resource.schema().properties ?? {}).slice(0, 2), ["name0", "always"]);
});

test("objects are described up to a depth, and everything below is accepted", () => {
  let value: unknown = 1;
  for (let depth = 0; depth < 40; depth++) value = { a: value };
  const text = JSON.stringify(schemaOf([value]));
  assert.equal(text.match(/"a"/g)?.length, 7);
});

test("a cell is a number, a boolean or an array only if JSON writes it as the same text", () => {
  const same = [
    "00123",
    "+5",
    "1e3",
    "1.0",
    "-0",
    "9007199254740993",
    "TRUE",
    " 1",
    "[1, 2]",
    "[1",
    "{}",
    "NaN",
  ];
  for (const text of same) assert.equal(valueOfText(text), text);
  assert.deepEqual(["5", "-5", "0", "1.5", "true", "false", '["a",1]'].map(valueOfText), [
    5,
    -5,
    0,
    1.5,
    true,
    false,
    ["a", 1],
  ]);
});

test("a column with cells of several kinds contains strings", () => {
  assert.deepEqual(schemaOf([1, "a"], true), { type: "string" });
  assert.deepEqual(schemaOf([1, "2024-01-02"], true), { type: "string" });
  assert.deepEqual(schemaOf([[1], "a"], true), { type: "string" });
  assert.deepEqual(schemaOf([1, 2.5], true), { type: "number" });
  assert.deepEqual(schemaOf([["a", 1]], true), { type: "array" });
});
