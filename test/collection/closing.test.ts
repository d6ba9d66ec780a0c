import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compileSchema } from "../../src/collection/declaration.ts";

const city = { properties: { city: { type: "string" } } };
const zip = { properties: { zip: { type: "string" } } };
const person = { properties: { name: { type: "string" } } };

/** A schema, values that fit it, and values with the pointers of their undeclared attributes. */
interface Case {
  what: string;
  schema: object;
  fits: object[];
  unknown: [value: object, ...pointers: string[]][];
}

const cases: Case[] = [
  {
    what: "the root",
    schema: { properties: { a: {} } },
    fits: [{}, { a: 1 }],
    unknown: [
      [{ a: 1, b: 1 }, "#/b"],
      [{ toString: 1, constructor: 1 }, "#/constructor", "#/toString"],
    ],
  },
  {
    what: "a root that declares no attribute at all",
    schema: { properties: {} },
    fits: [{}],
    unknown: [[{ a: 1 }, "#/a"]],
  },
  {
    what: "an attribute",
    schema: { properties: { address: city } },
    fits: [{ address: { city: "x" } }],
    unknown: [[{ address: { city: "x", zip: "1" } }, "#/address/zip"]],
  },
  {
    what: "items, also of items",
    schema: { properties: { a: { type: "array", items: { type: "array", items: city } } } },
    fits: [{ a: [[{ city: "x" }]] }],
    unknown: [[{ a: [[{}, { zip: 1 }]] }, "#/a/0/1/zip"]],
  },
  {
    what: "the values of a dictionary",
    schema: { additionalProperties: city },
    fits: [{ home: { city: "x" } }],
    unknown: [[{ home: { zip: 1 } }, "#/home/zip"]],
  },
  {
    what: "what a reference leads to",
    schema: { properties: { author: { $ref: "#/$defs/person" } }, $defs: { person } },
    fits: [{ author: { name: "x" } }],
    unknown: [[{ author: { name: "x", nam: 1 } }, "#/author/nam"]],
  },
  {
    what: "a reference with attributes of its own",
    schema: { properties: { author: { $ref: "#/$defs/person", ...city } }, $defs: { person } },
    fits: [{ author: { name: "x", city: "y" } }],
    unknown: [[{ author: { zip: 1 } }, "#/author/zip"]],
  },
  {
    what: "a tree that refers to itself",
    schema: { properties: { name: {}, children: { type: "array", items: { $ref: "#" } } } },
    fits: [{ name: 1, children: [{ name: 2, children: [{}] }] }],
    unknown: [[{ children: [{ children: [{ nam: 1 }] }] }, "#/children/0/children/0/nam"]],
  },
  {
    what: "a composition as a whole, and not each branch",
    schema: { properties: { a: {} }, allOf: [city, { $ref: "#/$defs/person" }], $defs: { person } },
    fits: [{ a: 1, city: "x", name: "y" }],
    unknown: [[{ a: 1, city: "x", b: 1 }, "#/b"]],
  },
  {
    what: "a composition of branches alone",
    schema: { allOf: [city, zip] },
    fits: [{ city: "x", zip: "1" }],
    unknown: [[{ city: "x", a: 1 }, "#/a"]],
  },
  {
    what: "alternatives, by the one that fits",
    schema: {
      oneOf: [
        { required: ["kind"], properties: { kind: { const: "a" }, x: {} } },
        { required: ["kind"], properties: { kind: { const: "b" }, y: {} } },
      ],
    },
    fits: [
      { kind: "a", x: 1 },
      { kind: "b", y: 1 },
    ],
    unknown: [
      [{ kind: "a", y: 1 }, "#/y"],
      [{ kind: "b", toString: 1 }, "#/toString"],
      [JSON.parse('{"kind":"b","__proto__":1}'), "#/__proto__"],
    ],
  },
  {
    what: "nothing that two schemas describe together",
    schema: { properties: { address: city }, allOf: [{ properties: { address: zip } }] },
    fits: [{ address: { city: "x", zip: "1", other: 1 } }],
    unknown: [[{ address: {}, b: 1 }, "#/b"]],
  },
  {
    what: "nothing inside of what two schemas describe together",
    schema: {
      properties: { a: { properties: { address: city } } },
      allOf: [{ properties: { a: { properties: { address: zip } } } }],
    },
    fits: [{ a: { address: { city: "x", zip: "1" } } }],
    unknown: [],
  },
  {
    what: "nothing that says additionalProperties",
    schema: { properties: { a: {} }, additionalProperties: true },
    fits: [{ b: 1 }],
    unknown: [],
  },
  {
    what: "nothing that says unevaluatedProperties",
    schema: { properties: { a: {} }, unevaluatedProperties: { type: "integer" } },
    fits: [{ b: 1 }],
    unknown: [],
  },
  {
    what: "nothing without properties",
    schema: { type: "object", required: ["a"] },
    fits: [{ a: 1, b: 1 }],
    unknown: [],
  },
  {
    what: "what the author closed, in the same words",
    schema: { properties: { a: {} }, additionalProperties: false },
    fits: [{ a: 1 }],
    unknown: [[{ b: 1 }, "#/b"]],
  },
  {
    what: "no condition, which would turn round",
    schema: {
      properties: { address: { type: "object" }, x: {} },
      if: { required: ["address"], properties: { address: { required: ["city"], ...city } } },
      // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
      then: { required: ["x"] },
    },
    fits: [{ address: { city: "x", zip: 1 }, x: 1 }, { address: {} }],
    unknown: [],
  },
  {
    what: "a condition without then, whose attributes count",
    schema: {
      properties: { a: {} },
      if: { required: ["kind"], properties: { kind: {} } },
      else: { required: ["a"] },
    },
    fits: [{ kind: 1 }, { a: 1 }],
    unknown: [[{ kind: 1, b: 1 }, "#/b"]],
  },
  {
    what: "a condition that decides nothing, whose attributes count",
    schema: { properties: { a: {} }, if: { required: ["kind"], properties: { kind: {} } } },
    fits: [{ kind: 1, a: 1 }],
    unknown: [[{ b: 1 }, "#/b"]],
  },
];

describe("closing", () => {
  for (const { what, schema, fits, unknown } of cases) {
    test(`closes ${what}`, async () => {
      const validate = await compileSchema(schema, "here");
      for (const value of fits) assert.deepEqual(validate(value as never), [], JSON.stringify(value));
      for (const [value, ...pointers] of unknown) {
        const violations = validate(value as never);
        assert.deepEqual(violations.map(({ pointer }) => pointer).sort(), pointers, JSON.stringify(value));
        assert.ok(violations.every(({ code }) => code === "unknownAttribute"));
      }
    });
  }

  test("leaves a condition that was not met as it is", async () => {
    const schema = cases.find(({ what }) => what.startsWith("no condition"))?.schema;
    const violations = (await compileSchema(schema, "here"))({ address: { city: "x", zip: 1 } });
    assert.deepEqual(
      violations.map(({ pointer, code }) => [pointer, code]),
      [["#/x", "required"]],
    );
  });

  test("tells what was meant by a misspelled name", async () => {
    const validate = await compileSchema({ properties: { title: {}, ab: {} } }, "here");
    const details = validate({ titel: 1, Title: 1, abc: 1, colour: 1 }).map(({ detail }) => detail);
    assert.deepEqual(details, [
      'is not an attribute of the schema. Did you mean "title"?',
      'is not an attribute of the schema. Did you mean "title"?',
      'is not an attribute of the schema. Did you mean "ab"?',
      "is not an attribute of the schema",
    ]);
  });

  test("does not call a declared attribute unknown because its branch fails for another reason", async () => {
    const schema = {
      oneOf: [{ properties: { kind: { const: "a" }, x: { type: "integer" } }, required: ["kind"] }],
    };
    const violations = (await compileSchema(schema, "here"))({ kind: "a", x: "1" });
    assert.deepEqual(
      violations.map(({ pointer, code }) => [pointer, code]),
      [["#", "oneOf"]],
    );
  });
});
