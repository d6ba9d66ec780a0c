import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compileSchema } from "../../src/collection/declaration.ts";
import { StartError } from "../../src/errors.ts";

const one = (schema: unknown) => ({ type: "object", properties: { a: schema } });

/** Schemas nested to this depth. */
function nested(depth: number): object {
  let schema: object = { type: "string" };
  for (let level = 1; level < depth; level++) schema = { type: "object", properties: { a: schema } };
  return schema;
}

const many = (count: number) => ({
  properties: Object.fromEntries(Array.from({ length: count }, (_, n) => [`a${n}`, {}])),
});

const circle: Record<string, unknown> = {};
circle.properties = circle;

describe("a schema is refused in one line that names the place", () => {
  const cases: [what: string, schema: unknown, line: RegExp][] = [
    ["is no object", true, /^here: a schema must be an object/],
    ["is a list", [], /^here: a schema must be an object/],
    ["is a circle of objects", circle, /^here: the schema cannot be written as JSON/],
    ["declares the id", { properties: { id: {} } }, /^here at properties\/id: the service sets the id/],
    ["requires the id", { required: ["id"] }, /^here at required: the service sets the id/],
    [
      "declares the id in a branch",
      { allOf: [{ $ref: "#/$defs/a" }], $defs: { a: { properties: { id: {} } } } },
      /the service sets the id/,
    ],
    ["is not about objects", { type: "array" }, /^here at type: a resource is an object/],
    [
      "has a misspelled keyword",
      one({ minLenght: 1 }),
      /^here at properties\/a: "minLenght" is not .* Did you mean "minLength"\?$/,
    ],
    ["has a keyword of OpenAPI 3.0", one({ nullable: true }), /Write "type": \["string", "null"\]/],
    ["has an $id", { $id: "https://example.org/a" }, /References stay inside/],
    ["has a $dynamicRef", one({ $dynamicRef: "#a" }), /"\$dynamicRef" is not .* Write \$ref/],
    ["has unevaluatedItems", one({ unevaluatedItems: false }), /Write prefixItems/],
    ["is of another dialect", { $schema: "http://json-schema.org/draft-07/schema#" }, /\$schema must be/],
    [
      "has an unknown format",
      one({ format: "emial" }),
      /^here at properties\/a\/format: the format "emial" does not exist\. Did you mean "email"\?$/,
    ],
    [
      "has exact numbers that are not strings",
      one({ type: "number", format: "decimal" }),
      /^here at properties\/a\/format: the format "decimal" is for strings, .* Add "type": "string" beside it\.$/,
    ],
    ["has exact numbers of any type", one({ format: "decimal" }), /"decimal" is for strings/],
    [
      "has exact numbers of two types",
      one({ type: ["string", "integer"], format: "decimal" }),
      /"decimal" is for strings/,
    ],
    ["has a format like nothing", one({ format: "postcode-of-france" }), /Known names: date, /],
    [
      "has a type that does not exist",
      one({ type: "text" }),
      /^here at properties\/a\/type: the value must be one of/,
    ],
    [
      "has a wrong limit",
      one({ minLength: -1 }),
      /^here at properties\/a\/minLength: the value must be at least 0/,
    ],
    [
      "has a limit that is a text",
      one({ minLength: "1" }),
      /^here at properties\/a\/minLength: the value must be an integer/,
    ],
    ["has required that is no list", { required: "a" }, /^here at required: the value must be an array/],
    ["has something else for a schema", one(5), /^here at properties\/a: a schema must be an object/],
    [
      "has a list for items",
      one({ items: [{}] }),
      /^here at properties\/a\/items: a schema must be an object/,
    ],
    [
      "has a broken pattern",
      one({ pattern: "(" }),
      /^here at properties\/a: "\(" is not a regular expression/,
    ],
    ["has a notation of RE2 alone", one({ pattern: "\\Aa" }), /is not a regular expression of ECMA-262/],
    ["looks around", one({ pattern: "(?=a)b" }), /look-around/],
    ["refers back", one({ pattern: "(a)\\1" }), /look-around, back-references/],
    ["has a broken name pattern", { patternProperties: { "(?=a)": {} } }, /look-around/],
    [
      "refers to nothing",
      one({ $ref: "#/$defs/a" }),
      /^here at properties\/a\/\$ref: "#\/\$defs\/a" does not lead/,
    ],
    [
      "refers to what is no schema",
      { properties: { a: { $ref: "#/properties" } } },
      /does not lead to a schema/,
    ],
    ["refers to another place", one({ $ref: "https://example.org/schema" }), /does not lead to a schema/],
    ["refers to a file", one({ $ref: "other.json" }), /does not lead to a schema/],
    ["refers to itself", { $ref: "#" }, /^here: the schema refers to itself endlessly/],
    [
      "refers to itself by way of others",
      {
        ...one({ $ref: "#/$defs/a" }),
        $defs: { a: { anyOf: [{ $ref: "#/$defs/b" }] }, b: { not: { $ref: "#/$defs/a" } } },
      },
      /^here at .*: the schema refers to itself endlessly/,
    ],
    [
      "has an anchor twice",
      { $defs: { a: { $anchor: "x" }, b: { $anchor: "x" } } },
      /the anchor "x" occurs twice/,
    ],
    ["declares __proto__", JSON.parse('{"properties":{"__proto__":{}}}'), /"__proto__" cannot be declared/],
    ["is nested too deeply", nested(40), /nested more than 32 schemas deep/],
    ["holds a value nested too deeply", one({ const: nested(200) }), /nested more than/],
    ["has too many properties", many(1001), /more than 1000 properties/],
    ["is too large", one({ description: "x".repeat(256 * 1024) }), /larger than 256 kB/],
  ];
  for (const [what, schema, line] of cases) {
    test(`when it ${what}`, async () => {
      await assert.rejects(compileSchema(schema, "here"), (error) => {
        assert.ok(error instanceof StartError, String(error));
        assert.match(error.message, line);
        assert.ok(!error.message.includes("\n"));
        return true;
      });
    });
  }
});

describe("a schema is accepted", () => {
  const cases: [what: string, schema: object][] = [
    ["when it is empty", {}],
    [
      "when it names its dialect",
      { $schema: "https://json-schema.org/draft/2020-12/schema", type: "object" },
    ],
    [
      "when branches only require",
      { properties: { a: {}, b: {} }, anyOf: [{ required: ["a"] }, { required: ["b"] }] },
    ],
    ["when an attribute also fits a pattern", { properties: { ab: {} }, patternProperties: { "^a": {} } }],
    [
      "when a part of a value is called id",
      one({ type: "object", properties: { id: {} }, required: ["id"] }),
    ],
    [
      "when it refers to an anchor",
      { ...one({ $ref: "#x" }), $defs: { b: { $anchor: "x", type: "string" } } },
    ],
    ["when it is at the limits", { ...nested(32), ...{ $defs: { b: many(900) } } }],
    [
      "when it has words for people",
      one({ title: "A", description: "a", examples: [1], deprecated: true, $comment: "c" }),
    ],
    [
      "when an attribute is called like a keyword",
      { properties: { $ref: { type: "string" }, if: {}, minLenght: {} } },
    ],
  ];
  for (const [what, schema] of cases) {
    test(what, async () => {
      await compileSchema(schema, "here");
    });
  }
});
