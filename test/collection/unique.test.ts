import assert from "node:assert/strict";
import { test } from "node:test";
import { defineCollection } from "../../src/collection/declaration.ts";
import { uniqueValue } from "../../src/collection/unique.ts";
import { StartError } from "../../src/errors.ts";

const properties = {
  email: { type: "string", maxLength: 500 },
  nick: { $ref: "#/$defs/nick" },
  long: { type: "string", maxLength: 501 },
  endless: { type: "string" },
  many: { type: "array", items: { type: "string" } },
  either: { type: ["string", "integer"] },
  maybe: { type: ["integer", "null"] },
  author: { type: "object", properties: { name: { type: "string", maxLength: 9 } } },
} as const;
const schema = { properties, $defs: { nick: { allOf: [{ type: "string" }, { maxLength: 20 }] } } };
const define = (unique: unknown, other: object = { schema }) =>
  defineCollection("users", { ...other, unique } as Parameters<typeof defineCollection>[1]);

test("attributes of one short scalar type can be unique, nested ones and null too", async () => {
  const { unique } = await define(["email", "maybe", "author.name", { attribute: "nick", ignoreCase: true }]);
  assert.deepEqual(unique, [
    { path: ["email"], ignoreCase: false },
    { path: ["maybe"], ignoreCase: false },
    { path: ["author", "name"], ignoreCase: false },
    { path: ["nick"], ignoreCase: true },
  ]);
});

test("dates in all forms can be unique, and are compared by their instants", async () => {
  const any = { format: "date-value", type: ["string", "integer", "null"] };
  const { unique } = await define(["at"], { schema: { properties: { at: any } } });
  assert.deepEqual(unique, [{ path: ["at"], ignoreCase: false, as: "date" }]);
  const values = ["2026-11-23", "2026-11-23T00:00:00.000Z", "2026-11-23T01:00+01:00", 1795392000000];
  const texts = values.map((at) => uniqueValue({ at }, { path: ["at"], ignoreCase: false, as: "date" }));
  assert.deepEqual([...new Set(texts)], ['"2026-11-23T00:00:00.000Z"']);
});

const refused: readonly (readonly [unknown, RegExp])[] = [
  ["email", /users\.unique must be a list/],
  [[7], /users\.unique\[0\] must be an attribute such as/],
  [[""], /unique\[0\] must be an attribute/],
  [[{ attribute: "email", ignorecase: true }], /unique\[0\] must be an attribute/],
  [[{ attribute: "email", ignoreCase: "yes" }], /unique\[0\] must be an attribute/],
  [["id"], /ids are always unique/],
  [["email", "email"], /unique\[1\] is in the list twice/],
  [["long"], /unique\[0\]: .*"long" a maxLength of 500 or less/],
  [["email", "endless"], /unique\[1\]: .*"endless" a maxLength/],
  [["many"], /"many" one type/],
  [["either"], /"either" one type/],
  [["author"], /"author" one type/],
  [["unknown"], /"unknown" one type/],
  [[{ attribute: "maybe", ignoreCase: true }], /only strings/],
];

for (const [unique, says] of refused) {
  test(`unique: ${JSON.stringify(unique)} is refused`, async () => {
    await assert.rejects(define(unique), (error) => {
      assert.ok(error instanceof StartError);
      assert.match(error.message, says);
      assert.doesNotMatch(error.message, /\n/);
      return true;
    });
  });
}

test("without a schema nothing can be unique", async () => {
  await assert.rejects(define(["email"], {}), /one type/);
});

test("ignoreCase compares the letters A to Z without case, and no others", () => {
  const compared = (email: string) => uniqueValue({ email }, { path: ["email"], ignoreCase: true });
  assert.equal(compared("Kim@Example.ORG"), compared("kim@example.org"));
  assert.notEqual(compared("Ä"), compared("ä"));
});
