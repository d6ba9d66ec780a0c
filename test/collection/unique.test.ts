import assert from "node:assert/strict";
import { test } from "node:test";
import { defineCollection } from "../../src/collection/declaration.ts";
import { StartError } from "../../src/errors.ts";
import { readUniqueWhere, uniqueValue } from "../../src/query/unique-values.ts";

const properties = {
  email: { type: "string", maxLength: 500 },
  nick: { $ref: "#/$defs/nick" },
  long: { type: "string", maxLength: 501 },
  endless: { type: "string" },
  many: { type: "array", items: { type: "string" } },
  either: { type: ["string", "integer"] },
  maybe: { type: ["integer", "null"] },
  author: { type: "object", properties: { name: { type: "string", maxLength: 9 } } },
  status: { enum: ["open", "done"] },
  dueAt: { type: "string", format: "date-time" },
  pin: { type: "string", maxLength: 9, writeOnly: true },
} as const;
const schema = { properties, $defs: { nick: { allOf: [{ type: "string" }, { maxLength: 20 }] } } };
const define = (unique: unknown, other: object = { schema }) =>
  defineCollection("users", { ...other, unique } as Parameters<typeof defineCollection>[1], readUniqueWhere);

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

test("exact numbers can be unique without a maxLength, and are compared by their values", async () => {
  const price = { type: ["string", "null"], format: "decimal" };
  const { unique } = await define(["price"], { schema: { properties: { price } } });
  assert.deepEqual(unique, [{ path: ["price"], ignoreCase: false, as: "exact" }]);
  const values = ["1", "1.0", "+1.00", "01"];
  const texts = values.map((each) =>
    uniqueValue({ price: each }, { path: ["price"], ignoreCase: false, as: "exact" }),
  );
  assert.equal(new Set(texts).size, 1);
});

test("combinations have up to five attributes, and the comparison of each", async () => {
  const { unique } = await define([
    ["email", "maybe"],
    { attributes: ["nick", "dueAt", "author.name"], ignoreCase: true },
    ["maybe"],
    { attributes: ["nick"] },
  ]);
  assert.deepEqual(unique, [
    { path: ["email"], others: [{ path: ["maybe"] }], ignoreCase: false },
    {
      path: ["nick"],
      others: [{ path: ["dueAt"], as: "date" }, { path: ["author", "name"] }],
      ignoreCase: true,
    },
    { path: ["maybe"], ignoreCase: false },
    { path: ["nick"], ignoreCase: false },
  ]);
});

test("a filter keeps what is declared, the attributes that it names, and a filter that JSON does not change", async () => {
  const where = { or: [{ status: "open" }, { dueAt: { gte: "2026-11-23" }, status: { ne: "done" } }] };
  const { unique } = await define([
    { attribute: "email", where },
    { attribute: "email", where: { status: "open" } },
    "email",
  ]);
  assert.deepEqual(unique[0]?.where?.declared, where);
  assert.deepEqual(unique[0]?.where?.paths, [["status"], ["dueAt"]]);
  assert.deepEqual(JSON.parse(JSON.stringify(unique)), unique);
  assert.deepEqual(unique[1]?.where?.filter, { kind: "in", path: ["status"], values: ["open"] });
});

test("a filter compares ids as the collection has them", async () => {
  const where = { id: { gt: 5 } };
  const { unique } = await define([{ attribute: "email", where }], { schema, id: "integer" });
  const [first] = unique;
  assert.ok(first);
  assert.deepEqual(
    [5, 6].map((id) => uniqueValue({ id, email: "x" }, first)),
    [undefined, '"x"'],
  );
});

test("a combination counts only if all its values are there, and only where the filter matches", () => {
  const filter = { kind: "in", path: ["status"], values: ["open"] };
  const where = { declared: {}, paths: [], filter };
  const seat = {
    path: ["train"],
    others: [{ path: ["day"] }, { path: ["seat"] }],
    ignoreCase: true,
    where,
  } as const;
  const comparedAs = (attributes: object) => uniqueValue({ id: "a", ...attributes }, seat);
  const whole = { train: "IC5", day: 31, seat: "12A", status: "open" };
  assert.equal(comparedAs(whole), comparedAs({ ...whole, seat: "12a" }));
  assert.notEqual(comparedAs(whole), undefined);
  for (const changed of [{ status: "done" }, { seat: null }, { day: undefined }, { train: ["IC5"] }])
    assert.equal(comparedAs({ ...whole, ...changed }), undefined);
  const twoWays = [
    { train: 'a","b', day: 1, seat: "c" },
    { train: "a", day: 1, seat: 'b","c' },
    { train: "a", day: "1", seat: 'b","c' },
  ].map((each) => comparedAs({ ...each, status: "open" }));
  assert.equal(new Set(twoWays).size, 3);
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
  [[{ attribute: "maybe", ignore: "case" }], /only strings/],
  [[{ attribute: "email", ignore: "marks" }], /unique\[0\].ignore must be "case" or "accents"/],
  [[{ attribute: "email", ignore: "case", ignoreCase: true }], /has "ignore" and "ignoreCase"/],
  [[{ attributes: ["maybe", "maybe"] }], /unique\[0\] names an attribute twice/],
  [[{ attributes: ["maybe"], ignoreCase: true }], /only strings/],
  [[[]], /unique\[0\] must name 1 to 5 attributes, not 0/],
  [[["email", "nick", "maybe", "author.name", "status", "dueAt"]], /must name 1 to 5 attributes, not 6/],
  [[["email", 7]], /unique\[0\] must be an attribute/],
  [[{ attribute: "email", attributes: ["nick"] }], /unique\[0\] must be an attribute/],
  [[{ attributes: "email" }], /unique\[0\] must be an attribute/],
  [[["email", "id"]], /ids are always unique/],
  [[["email", "many"]], /"many" one type/],
  [[["email", "endless"]], /"endless" a maxLength/],
  [["email", ["nick", "email"], ["email", "nick"]], /unique\[2\] is in the list twice/],
  [["email", { attribute: "email", ignoreCase: true }], /unique\[1\] is in the list twice/],
  [[{ attribute: "email", where: null }], /unique\[0\]: "where" must be a JSON object/],
  [[{ attribute: "email", where: {} }], /unique\[0\]: "where" is true for every resource/],
  [[{ attribute: "email", where: { statsu: "open" } }], /unique\[0\]: .*"status"/],
  [[{ attribute: "email", where: { status: "opn" } }], /unique\[0\]: .*"open"/],
  [[{ attribute: "email", where: { dueAt: { gte: "now" } } }], /unique\[0\]: .*the present time/],
  [[{ attribute: "email", where: { nick: "$subject" } }], /unique\[0\]: .*the same for all callers/],
  [[["email", "pin"]], /no caller can see pin/],
  [[{ attribute: "email", where: { pin: "1" } }], /no caller can see pin/],
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

test("ignore compares texts of every script without case, or also without accents and width", async () => {
  const kinds = ["case", "accents"] as const;
  const cases: [a: string, b: string, equal: readonly string[]][] = [
    ["Ada", "ADA", kinds],
    ["École", "ÉCOLE", kinds],
    ["e\u0301t\u00e9", "ÉTÉ", kinds],
    ["Straße", "STRASSE", kinds],
    ["STRAẞE", "straße", kinds],
    ["ΟΔΟΣ", "οδος", kinds],
    ["École", "ecole", ["accents"]],
    ["ＡＢ", "ab", ["accents"]],
    ["Łódź", "Lodz", ["accents"]],
    ["ab", "a b", []],
    ["か", "が", []],
  ];
  for (const ignore of kinds) {
    const [unique] = (await define([{ attributes: ["nick", "maybe"], ignore }])).unique;
    assert.ok(unique);
    for (const [a, b, equal] of cases) {
      const [left, right] = [a, b].map((nick): unknown => uniqueValue({ nick, maybe: 1 }, unique));
      assert.equal(left === right, equal.includes(ignore), `${ignore}: ${a} and ${b}`);
    }
  }
});

test("ignoreCase compares the letters A to Z without case, and no others", () => {
  const compared = (email: string) => uniqueValue({ email }, { path: ["email"], ignoreCase: true });
  assert.equal(compared("Kim@Example.ORG"), compared("kim@example.org"));
  assert.notEqual(compared("Ä"), compared("ä"));
});
