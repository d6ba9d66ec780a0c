import assert from "node:assert/strict";
import { test } from "node:test";
import { attributeInfo } from "../../src/collection/attributes.ts";
import { type Collection, openCollection } from "../../src/collection/collection.ts";
import { defineCollection } from "../../src/collection/declaration.ts";
import type { Path } from "../../src/collection/paths.ts";

const declare = (schema: Record<string, unknown>) => defineCollection("posts", { schema });
const facts = (collection: Collection, name: string) =>
  attributeInfo(collection, name.split(".") as unknown as Path);
const typesOf = (collection: Collection, name: string) => {
  const { types } = facts(collection, name);
  return types === undefined ? "any" : [...types].sort().join(" ");
};
const isPossible = (collection: Collection, name: string) =>
  facts(collection, name).alternatives === undefined;

/** Whether a resource with this attribute alone fits: the schema's own word. */
function fits(collection: Collection, name: string, value: unknown): boolean {
  const [first = "", second] = name.split(".");
  const attributes = { [first]: second === undefined ? value : { [second]: value } };
  return !collection.validate(attributes).some(({ code }) => code === "unknownAttribute");
}

test("a collection that nobody declared takes any attribute", () => {
  const topics = openCollection("topics");
  assert.deepEqual(facts(topics, "a.b"), { isDeclared: false, types: undefined, alternatives: undefined });
});

test("the id is a string, or a number in a collection of integers, with nothing in it", async () => {
  assert.equal(typesOf(openCollection("topics"), "id"), "string");
  assert.equal(typesOf(await defineCollection("posts", { id: "integer" }), "id"), "number");
  assert.equal(isPossible(openCollection("topics"), "id.x"), false);
});

test("types are those that the schema leaves", async () => {
  const posts = await declare({
    $defs: { name: { $anchor: "name", type: "string" }, any: true },
    type: "object",
    properties: {
      text: { type: "string" },
      whole: { type: "integer" },
      maybe: { type: ["number", "null"] },
      choice: { enum: ["a", 1] },
      fixed: { const: true },
      referred: { $ref: "#/$defs/name" },
      anchored: { $ref: "#name" },
      both: { allOf: [{ type: ["string", "null"] }, { type: ["string", "number"] }] },
      either: { anyOf: [{ type: "string" }, { type: "number" }] },
      half: { oneOf: [{ type: "string" }, {}] },
      any: true,
      anyToo: { description: "whatever" },
    },
  });
  const expected = {
    text: "string",
    whole: "number",
    maybe: "null number",
    choice: "number string",
    fixed: "boolean",
    referred: "string",
    anchored: "string",
    both: "string",
    either: "number string",
    half: "any",
    any: "any",
    anyToo: "any",
  };
  const names = Object.keys(expected);
  assert.deepEqual(Object.fromEntries(names.map((name) => [name, typesOf(posts, name)])), expected);
});

test("a type that holds in one branch alone is not relied on", async () => {
  const posts = await declare({
    anyOf: [{ properties: { a: { type: "string" } } }, { properties: { a: { type: "number" } } }],
    if: { properties: { kind: { const: "x" } } },
    // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
    then: { properties: { b: { type: "number" } } },
    allOf: [{ properties: { c: { type: "boolean" } } }],
  });
  assert.deepEqual(
    ["a", "b", "c"].map((name) => typesOf(posts, name)),
    ["any", "any", "boolean"],
  );
});

/** Schemas and names: a list must refuse exactly the names that the validator calls unknown. */
const schemas: [schema: Record<string, unknown>, possible: string[], impossible: string[]][] = [
  [{}, ["a", "a.b"], []],
  [{ properties: { a: {} } }, ["a", "a.b"], ["b", "b.c"]],
  [{ properties: { a: {} }, additionalProperties: true }, ["a", "b"], []],
  [{ properties: { a: {} }, additionalProperties: { type: "string" } }, ["a", "b"], []],
  [{ properties: { a: {} }, unevaluatedProperties: false }, ["a"], ["b"]],
  [{ additionalProperties: false }, [], ["a"]],
  [{ properties: { a: {} }, patternProperties: { "^x": {} } }, ["a", "xy"], []],
  [{ allOf: [{ properties: { a: {} } }, { properties: { b: {} } }] }, ["a", "b"], ["c"]],
  [{ anyOf: [{ properties: { a: {} } }, { properties: { b: {} } }] }, ["a", "b"], ["c"]],
  [{ $ref: "#/$defs/x", $defs: { x: { properties: { a: {} } } } }, ["a"], ["b"]],
  [{ properties: { a: { properties: { b: {} } } } }, ["a", "a.b"], ["a.c"]],
  [{ properties: { a: { properties: { b: {} }, additionalProperties: true } } }, ["a.c"], []],
  [
    {
      properties: { kind: {} },
      // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
      then: { properties: { b: {} } },
      if: { properties: { a: {} } },
      else: { properties: { c: {} } },
    },
    ["kind", "a", "b"],
    ["d"],
  ],
  [{ properties: { next: { $ref: "#" }, a: {} } }, ["next.a", "next.next"], ["next.b", "b"]],
];

for (const [schema, possible, impossible] of schemas)
  test(`${JSON.stringify(schema)} is closed to attributes as its validator is`, async () => {
    const posts = await declare(schema);
    for (const name of possible) assert.equal(isPossible(posts, name), true, name);
    for (const name of impossible) {
      assert.equal(isPossible(posts, name), false, name);
      assert.equal(fits(posts, name, "x"), false, name);
    }
  });

test("an attribute is an exact number if all its texts are, and it is no number of JSON", async () => {
  const decimal = { type: "string", format: "decimal" };
  const int64 = { type: "string", format: "int64" };
  const posts = await declare({
    properties: {
      decimal,
      int64,
      maybe: { type: ["string", "null"], format: "decimal" },
      either: { anyOf: [decimal, int64, { type: "boolean" }] },
      referred: { $ref: "#/$defs/price" },
      both: { allOf: [decimal, { maxLength: 5 }] },
      list: { type: "array", items: decimal },
      number: { type: "integer", format: "int64" },
      mixed: { type: ["string", "integer"], format: "int64" },
      open: { format: "int64" },
      text: { type: "string" },
      dated: { anyOf: [decimal, { type: "string", format: "date" }] },
      texts: { anyOf: [decimal, { type: "string" }] },
    },
    $defs: { price: decimal },
  });
  const exact = ["decimal", "int64", "maybe", "either", "referred", "both"];
  for (const name of exact) assert.equal(facts(posts, name).declared?.type.name, "exact", name);
  for (const name of ["list", "number", "mixed", "open", "text", "dated", "texts"])
    assert.equal(facts(posts, name).declared, undefined, name);
  assert.equal(facts(posts, "list").declaredItems?.type.name, "exact");
});

test("an attribute inside of one that is no object cannot be", async () => {
  const posts = await declare({ properties: { a: { type: "string" } } });
  assert.deepEqual(facts(posts, "a.b").alternatives, []);
});

test("what two schemas describe together is not closed by one of them", async () => {
  const posts = await declare({
    allOf: [
      { properties: { a: { type: "object", properties: { b: {} } } } },
      { properties: { a: { properties: { c: {} } } } },
    ],
  });
  for (const name of ["a.b", "a.c", "a.d"]) {
    assert.equal(isPossible(posts, name), true, name);
    assert.equal(fits(posts, name, "x"), true, name);
  }
});

test("a schema that refers to itself is read once, however many of its attributes are named", async () => {
  const both = { type: "object", properties: { a: { $ref: "#" }, b: { $ref: "#" }, n: { type: "number" } } };
  const posts = await declare(both);
  const names = Array.from({ length: 63 }, (_, n) => (n % 3 === 0 ? "a" : "b"));
  assert.equal(facts(posts, `a.${names.join(".")}.n`), facts(posts, `b.${names.join(".")}.n`));
  const { knownDepth, alternatives } = facts(posts, `${names.join(".")}.x.y`);
  assert.deepEqual([knownDepth, alternatives], [63, ["a", "b", "n"]]);
});
